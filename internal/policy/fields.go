package policy

import (
	"strconv"

	"go.yaml.in/yaml/v3"
)

// field is one key of the policy file. The table below is the only place that
// knows the keys: the reader, the writer, the suggestions and the test of the
// schema all walk it, and its order is the documented order.
type field struct {
	key    string
	doc    string  // one line; also the description in the schema
	fields []field // of a section; read and show are nil then
	read   func(*Policy, *yaml.Node) error
	show   func(Policy) shown
}

// shown is a value on its way to YAML: a list of texts, or one scalar that is
// already in YAML form.
type shown struct {
	isList bool
	list   []string
	bare   bool // the entries of the list are in YAML form too
	scalar string
}

// entry writes an entry of the list.
func (v shown) entry(s string) string {
	if v.bare {
		return s
	}
	return yamlQuote(s)
}

// fieldTable returns the keys of a policy, in their documented order.
func fieldTable() []field {
	return []field{
		scalar("version", "The version of this format; always 1.", func(p *Policy) *int { return &p.Version }, readVersion, strconv.Itoa),
		{key: "filesystem", doc: "Where the worker may write and read. A path covers itself and everything below; globs (*, ?, [a-z], {a,b}, **) are allowed.", fields: filesystemFields()},
		{key: "network", doc: "What the worker may reach.", fields: networkFields()},
		list("secrets", "Names of environment variables passed to the worker whatever they hold. Of the others it gets only those known to be harmless.", func(p *Policy) *[]string { return &p.Secrets }, checkVariable),
		{key: "git", doc: "The worker's private repository.", fields: []field{
			text("branch", "The worker's branch; {id} stands for the lease id.", func(p *Policy) *string { return &p.Git.Branch }, checkBranch),
			{key: "identity", doc: "Author and committer of the worker's own commits.", fields: []field{
				text("name", "The name in the worker's commits.", func(p *Policy) *string { return &p.Git.Identity.Name }, checkIdentity),
				text("email", "The address in the worker's commits.", func(p *Policy) *string { return &p.Git.Identity.Email }, checkIdentity),
			}},
			scalar("pin", "Export GIT_DIR and GIT_WORK_TREE to the worker. Test fixtures that run git init will then write into the worker's repository.", func(p *Policy) *bool { return &p.Git.Pin }, readBool, strconv.FormatBool),
		}},
		{key: "limits", doc: "What one run may use.", fields: []field{
			scalar("time", "Wall-clock time of a run: 90s, 30m, 4h, 7d.", func(p *Policy) *Duration { return &p.Limits.Time }, readDuration, Duration.String),
			scalar("memory", "Memory of all processes together: 512MiB, 2GB, auto or none. auto is half of the machine's memory, and on a small machine three quarters of it, at most 3GiB.", func(p *Policy) *Bytes { return &p.Limits.Memory }, readSize, Bytes.String),
			scalar("processes", "Processes alive at once: a number, or none.", func(p *Policy) *int { return &p.Limits.Processes }, readCount("processes"), showCount),
			scalar("files", "Files that one process may have open: a number, or none for the hard limit cordon was started with.", func(p *Policy) *int { return &p.Limits.Files }, readCount("files"), showCount),
			scalar("disk", "Disk written by the run, /tmp included: 512MiB, 2GB, auto or none. auto is half of what is free when the lease is made.", func(p *Policy) *Bytes { return &p.Limits.Disk }, readSize, Bytes.String),
		}},
		scalar("isolation", "strict: a missing layer of the cell is fatal. degraded: run although a layer is missing, each is named. none: unconfined.", func(p *Policy) *Isolation { return &p.Isolation }, readIsolation, Isolation.String),
		{key: "guard", doc: "How the worker's tool calls are judged before they run, where its client asks.", fields: guardFields()},
		{key: "agent", doc: "What an agent client that cordon starts (cordon run claude) gets beside its cell.", fields: agentFields()},
		commands("acceptance", "Commands the gate runs on the merged tree; all must succeed.", func(p *Policy) *[]string { return &p.Acceptance }),
		commands("setup", "Commands run in the tree before the worker starts.", func(p *Policy) *[]string { return &p.Setup }),
		scalar("preserve_on_failure", "Keep the worktree when the run fails.", func(p *Policy) *bool { return &p.PreserveOnFailure }, readBool, strconv.FormatBool),
		scalar("expires", "Life of the lease; a result that comes later is quarantined.", func(p *Policy) *Duration { return &p.Expires }, readDuration, Duration.String),
	}
}

func filesystemFields() []field {
	return []field{
		list("write_roots", "What may land, relative to the worktree; \".\" is the whole tree. A built-in deny is lifted only by a root that names it.", func(p *Policy) *[]string { return &p.Filesystem.WriteRoots }, checkPath(inTree, absolute)),
		list("read_roots", "What may be read beside the worktree; \"/\" is everything. An entry of @default in deny_read is lifted by a root that names exactly it.", func(p *Policy) *[]string { return &p.Filesystem.ReadRoots }, checkPath(inTree, climbing, home, absolute)),
		list("deny_read", "What may not be read, in any form: sub/dir, ../**, ~/.ssh, /etc/shadow. In the worktree it does not land either, unless a write root names it. A list is only what it says; @default in it stands for the built-in one.", func(p *Policy) *[]string { return &p.Filesystem.DenyRead }, checkDenyRead),
		list("deny_write", "What may not be written, whatever write_roots say, also under names that other file systems take for the same. A path that climbs out with .. is about what lies outside the worktree.", func(p *Policy) *[]string { return &p.Filesystem.DenyWrite }, checkPath(inTree, climbing, home, absolute)),
		list("scratch", "Writable, never lands, no complaint: build output, caches.", func(p *Policy) *[]string { return &p.Filesystem.Scratch }, checkPath(inTree, home, absolute)),
		scalar("outside", "A write outside the worktree, scratch and the private home. deny: refused. capture: succeeds in a private layer and is reported as a violation.", func(p *Policy) *Outside { return &p.Filesystem.Outside }, readOutside, Outside.String),
		scalar("names", "Names of added files. portable: those that Windows or macOS cannot have (CON, aux.txt, a:b, a dot or blank at the end) are refused. any: they may land.", func(p *Policy) *Names { return &p.Filesystem.Names }, readNames, Names.String),
	}
}

func guardFields() []field {
	return []field{
		scalar("mode", "enforce: deny and ask are refusals. warn: everything is allowed, told and journalled. strict: ask and opaque code become deny, and so does a cd to any absolute path outside the worktree, scratch included.", func(p *Policy) *GuardMode { return &p.Guard.Mode }, readGuardMode, GuardMode.String),
		scalar("unknown_read", "Reading a path that only running the command would tell: allow, ask or deny. In strict mode allow is read as ask, and so denied.", func(p *Policy) *Answer { return &p.Guard.UnknownRead }, readAnswer, Answer.String),
		scalar("opaque_code", "Inline code of another language that cannot be judged: allow, ask or deny. Without a cell (isolation: none) allow is read as ask; in strict mode each is deny.", func(p *Policy) *Answer { return &p.Guard.OpaqueCode }, readAnswer, Answer.String),
	}
}

func agentFields() []field {
	return []field{
		scalar("login", "The files and variables that the client signs in with. none: it gets none. read: it can read them. copy: it has a copy of its own that it can change.", func(p *Policy) *Login { return &p.Agent.Login }, readLogin, Login.String),
		scalar("refresh", "Take a login that the client has renewed back to the operator's own file. Needs login: copy.", func(p *Policy) *bool { return &p.Agent.Refresh }, readBool, strconv.FormatBool),
		scalar("proof", "An agent whose hooks were not seen alive. required: it is stopped and the run refused. reported: it is said, and the cell has to hold alone.", func(p *Policy) *Proof { return &p.Agent.Proof }, readProof, Proof.String),
		scalar("proof_within", "How long the first word of its hooks may take after the client was started.", func(p *Policy) *Duration { return &p.Agent.Within }, readDuration, showWithin),
	}
}

// scalar is a field with one value, which read takes from a node.
func scalar[T any](key, doc string, of func(*Policy) *T, read func(*yaml.Node) (T, error), show func(T) string) field {
	return field{key: key, doc: doc,
		read: func(p *Policy, n *yaml.Node) error {
			v, err := read(n)
			if err != nil {
				return at(n, err)
			}
			*of(p) = v
			return nil
		},
		show: func(p Policy) shown { return shown{scalar: show(*of(&p))} },
	}
}

// text is a field with one string that a check accepts and normalises.
func text(key, doc string, of func(*Policy) *string, check func(string) (string, error)) field {
	return scalar(key, doc, of, func(n *yaml.Node) (string, error) {
		s, err := readText(n)
		if err != nil {
			return "", err
		}
		return check(s)
	}, yamlQuote)
}

// list is a field with a set of strings, each of which a check accepts and
// normalises. Entries that are the same after that are kept once.
func list(key, doc string, of func(*Policy) *[]string, check func(string) (string, error)) field {
	return sequence(key, doc, of, func(n *yaml.Node) ([]string, error) {
		entries, err := readList(n, check)
		return distinct(entries), err
	})
}

// commands is a field with commands to run in order; one may occur twice.
func commands(key, doc string, of func(*Policy) *[]string) field {
	return sequence(key, doc, of, func(n *yaml.Node) ([]string, error) {
		return readList(n, checkCommand)
	})
}

func sequence(key, doc string, of func(*Policy) *[]string, read func(*yaml.Node) ([]string, error)) field {
	f := scalar(key, doc, of, read, nil)
	f.show = func(p Policy) shown { return shown{isList: true, list: *of(&p)} }
	return f
}

// distinct keeps the first of equal entries.
func distinct(entries []string) []string {
	kept, seen := []string{}, map[string]bool{}
	for _, s := range entries {
		if !seen[s] {
			kept, seen[s] = append(kept, s), true
		}
	}
	return kept
}

func showCount(n int) string {
	if n == 0 {
		return noLimit
	}
	return strconv.Itoa(n)
}
