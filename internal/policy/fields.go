package policy

import (
	"strconv"

	"go.yaml.in/yaml/v3"

	"cordon/internal/strictyaml"
)

// field is one key of the policy file. The table below is the only place that
// knows the keys.
type field = strictyaml.Field[Policy]

// fieldTable returns the keys of a policy, in their documented order.
func fieldTable() []field {
	return []field{
		scalar("version", "The version of this format; always 1.", func(p *Policy) *int { return &p.Version }, readVersion, strconv.Itoa),
		section("filesystem", "Where the worker may write and read. A path covers itself and everything below it. Globs (*, ?, [a-z], {a,b}, **) are allowed.", filesystemFields()),
		section("network", "What the worker may reach.", networkFields()),
		list("secrets",
			"Names of environment variables that the worker gets whatever they contain, if your configuration shares them "+
				"with the repository (cordon config share secret:NAME). Of the others it gets only those known to be harmless.",
			func(p *Policy) *[]string { return &p.Secrets }, checkVariable),
		section("git", "The worker's private repository.", []field{
			text("branch", "The worker's branch; {id} stands for the worker's name.", func(p *Policy) *string { return &p.Git.Branch }, checkBranch),
			section("identity", "Author of the worker's commits and of the result. The committer is always ID@cordon.invalid.", []field{
				text("name", "The name in the worker's commits.", func(p *Policy) *string { return &p.Git.Identity.Name }, checkIdentity),
				text("email", "The address in the worker's commits.", func(p *Policy) *string { return &p.Git.Identity.Email }, checkIdentity),
			}),
			scalar("pin", "Export GIT_DIR and GIT_WORK_TREE to the worker. Test suites that run git init then write into the worker's repository.", func(p *Policy) *bool { return &p.Git.Pin }, strictyaml.ReadBool, strconv.FormatBool),
		}),
		section("limits", "Limits of one run.", []field{
			scalar("time", "Wall-clock time of the command, and of each setup and acceptance command: 90s, 30m, 4h, 7d.", func(p *Policy) *Duration { return &p.Limits.Time }, readDuration, Duration.String),
			scalar("memory", "Memory of all processes together: 512MiB, 2GB, auto or none. auto is half of the machine's memory, or on a small machine three quarters of it and at most 3GiB.", func(p *Policy) *Bytes { return &p.Limits.Memory }, readSize, Bytes.String),
			scalar("processes", "Processes and threads alive at once: a number, or none.", func(p *Policy) *int { return &p.Limits.Processes }, readCount("processes"), showCount),
			scalar("files", "Files that one process may have open: a number, or none for cordon's own hard limit.", func(p *Policy) *int { return &p.Limits.Files }, readCount("files"), showCount),
			scalar("disk", "Disk space that the run may write, /tmp included: 512MiB, 2GB, auto or none. auto is half of the free space when the lease is made.", func(p *Policy) *Bytes { return &p.Limits.Disk }, readSize, Bytes.String),
		}),
		scalar("isolation", "strict: refuse to start when a layer of the cell is missing. degraded: start with the layers that exist and name the missing ones. none: run unconfined.", func(p *Policy) *Isolation { return &p.Isolation }, readIsolation, Isolation.String),
		section("cell", "What processes in the cell may do to each other.", []field{
			scalar("trace",
				"Let processes of the cell trace each other, for debuggers, strace, delve and LeakSanitizer. The cell's first "+
					"process stays out of their reach.",
				func(p *Policy) *bool { return &p.Cell.Trace }, strictyaml.ReadBool, strconv.FormatBool),
		}),
		section("guard", "How the guard judges tool calls before they run, if the client asks.", guardFields()),
		section("agent", "Settings for an agent client that cordon starts (cordon run CLIENT).", append(agentFields(), agentParts()...)),
		acceptanceField(),
		commands("setup", "Commands that run in the tree before the worker, and before the acceptance commands, to which they leave scratch and caches only.", func(p *Policy) *[]string { return &p.Setup }),
		section("gate", "What happens to a result that ended its run.", gateFields()),
		scalar("preserve_on_failure", "Keep the worktree when the run fails. Otherwise it goes to the trash.", func(p *Policy) *bool { return &p.PreserveOnFailure }, strictyaml.ReadBool, strconv.FormatBool),
		scalar("expires", "Lifetime of the lease; a later result is quarantined.", func(p *Policy) *Duration { return &p.Expires }, readDuration, Duration.String),
	}
}

func filesystemFields() []field {
	return []field{
		list("write_roots", "Paths that may land, relative to the worktree; \".\" is the whole tree. Only a root that names a built-in protected path opens it.", func(p *Policy) *[]string { return &p.Filesystem.WriteRoots }, checkPath(inTree, absolute)),
		list("read_roots", "Paths that the worker may read besides the worktree; \"/\" is everything but homes, of which the worker sees tools and caches; "+
			"\"~\" is yours. A root that names an entry of @default in deny_read exactly opens that entry.", func(p *Policy) *[]string { return &p.Filesystem.ReadRoots }, checkPath(inTree, climbing, home, absolute)),
		list("deny_read", "Paths that the worker may not read: sub/dir, ../**, ~/.ssh, /etc/shadow. Changes to such paths in the worktree do not land unless a write root names them. A list replaces the default; @default in it stands for the built-in list.", func(p *Policy) *[]string { return &p.Filesystem.DenyRead }, checkDenyRead),
		list("deny_write", "Paths that the worker may not write, whatever write_roots say, under any name that some file system treats as the same. A path that starts with .. refers to files outside the worktree.", func(p *Policy) *[]string { return &p.Filesystem.DenyWrite }, checkPath(inTree, climbing, home, absolute)),
		list("scratch", "Paths that the worker may write and that never land, such as build output and caches.", func(p *Policy) *[]string { return &p.Filesystem.Scratch }, checkPath(inTree, home, absolute)),
		scalar("outside", "Writes outside the worktree, scratch and the private home. deny: they fail. capture: they succeed in a private layer and are reported as violations.", func(p *Policy) *Outside { return &p.Filesystem.Outside }, readOutside, Outside.String),
		scalar("names", "Names of added files. portable: names that Windows or macOS cannot store (CON, aux.txt, a:b, a trailing dot or blank) do not land. any: they may land.", func(p *Policy) *Names { return &p.Filesystem.Names }, readNames, Names.String),
		scalar("cache",
			"Caches in the home (~/.cache, module and package caches) and scratch in the worktree. landed: a worker finds "+
				"what the last landed run of the same repository, policy and client left there. none: it finds only the host's.",
			func(p *Policy) *Caching { return &p.Filesystem.Cache }, readCaching, Caching.String),
	}
}

func guardFields() []field {
	return []field{
		scalar("mode", "enforce: deny and ask both refuse the call. warn: allow everything, record the finding, and show it to the agent where the client supports that. strict: ask, opaque code and a cd to any absolute path outside the worktree (scratch included) become deny.", func(p *Policy) *GuardMode { return &p.Guard.Mode }, readGuardMode, GuardMode.String),
		scalar("unknown_read", "Reads of a path that is known only when the command runs: allow, ask or deny. In strict mode allow means ask, and so deny.", func(p *Policy) *Answer { return &p.Guard.UnknownRead }, readAnswer, Answer.String),
		scalar("opaque_code", "Inline code of another language that the guard cannot follow: allow, ask or deny. Without a cell (isolation: none) allow means ask; in strict mode every value means deny.", func(p *Policy) *Answer { return &p.Guard.OpaqueCode }, readAnswer, Answer.String),
	}
}

func agentFields() []field {
	return []field{
		scalar("login", "The files and variables that the client signs in with. none: it gets none. read: it can read the files. copy: it gets its own copies, which it can change.", func(p *Policy) *Login { return &p.Agent.Login }, readLogin, Login.String),
		scalar("refresh", "Copy a login that the client renewed back to your own file. Requires login: copy.", func(p *Policy) *bool { return &p.Agent.Refresh }, strictyaml.ReadBool, strconv.FormatBool),
		scalar("proof", "What happens when the client's hooks do not report. required: stop the client and refuse the run. reported: warn, and rely on the cell.", func(p *Policy) *Proof { return &p.Agent.Proof }, readProof, Proof.String),
		scalar("proof_within",
			"How long the client's hooks may take to report after its start; after the first prompt, if a person sits at "+
				"its terminal.",
			func(p *Policy) *Duration { return &p.Agent.Within }, readDuration, showWithin),
		scalar("web",
			"Let the client search and fetch web pages from its maker's servers, which the network section does not bound: whatever "+
				"it asks for leaves the cell. What the client fetches itself follows allowed_domains.",
			func(p *Policy) *bool { return &p.Agent.Web }, strictyaml.ReadBool, strconv.FormatBool),
	}
}

func gateFields() []field {
	return []field{
		scalar("land",
			"auto: a result that passes the audit and the acceptance commands lands. careful: the same, but one that changes tests, CI, build "+
				"files or the script of an acceptance or setup command ends as with review. review: the run ends with the status review, and "+
				"cordon merge lands the result. Without this key: careful if there are acceptance commands, otherwise review.", func(p *Policy) *Land { return &p.Gate.Land }, readLand, Land.String),
		scalar("as", "How the commits of a result land. squash: one commit. history: the worker's own commits and a merge. "+
			"rebase: the worker's own commits, replayed in a line. --land-as and the operator's configuration (land.as) come first.",
			func(p *Policy) *Form { return &p.Gate.As }, readForm, Form.String),
		scalar("retries", "How often failed acceptance commands run again before the result is quarantined. A result that passed only on a retry is marked.", func(p *Policy) *int { return &p.Gate.Retries }, readUpTo(maxRetries), strconv.Itoa),
		scalar("attempts", "How often cordon resume may start a worker again after its result was judged; 0: never.", func(p *Policy) *int { return &p.Gate.Attempts }, readUpTo(maxAttempts), strconv.Itoa),
		scalar("wait", "How long a run waits if your uncommitted changes are in the way of its result, which then lands when they are gone: "+
			"30m, 8h, or none. Afterwards it ends with the status waiting.",
			func(p *Policy) *Duration { return &p.Gate.Wait }, readWait, showWait),
		scalar("cache",
			"Caches of setup and acceptance commands on the merged tree. none: they begin with the host's caches. landed: "+
				"they find what acceptance of the last landed result with this policy left in its own caches and scratch, "+
				"without test results; never a worker's.",
			func(p *Policy) *Caching { return &p.Gate.Cache }, readCaching, Caching.String),
	}
}

// section is a key with keys of its own.
func section(key, doc string, fields []field) field { return strictyaml.Section(key, doc, fields) }

// scalar is a field with one value, which read takes from a node.
func scalar[T any](key, doc string, of func(*Policy) *T, read func(*yaml.Node) (T, error), show func(T) string) field {
	return strictyaml.Scalar(key, doc, of, read, show)
}

// text is a field with one string that a check accepts and normalises.
func text(key, doc string, of func(*Policy) *string, check func(string) (string, error)) field {
	return strictyaml.Text(key, doc, of, check)
}

// list is a field with a set of strings, each of which a check accepts and
// normalises. Entries that are the same after that are kept once.
func list(key, doc string, of func(*Policy) *[]string, check func(string) (string, error)) field {
	return strictyaml.Sequence(key, doc, of, func(n *yaml.Node) ([]string, error) {
		entries, err := strictyaml.ReadList(n, check)
		return distinct(entries), err
	})
}

// commands is a field with commands to run in order; one may occur twice.
func commands(key, doc string, of func(*Policy) *[]string) field {
	return strictyaml.Sequence(key, doc, of, func(n *yaml.Node) ([]string, error) {
		return strictyaml.ReadList(n, checkCommand)
	})
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
