package plan

import (
	"bytes"
	"path"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"cordon/internal/policy"
	"cordon/internal/strictyaml"
)

// Defaults of a plan.
const (
	defaultParallel = 4
	maxParallel     = 256
	maxStages       = 1000
	maxRetries      = 10
	maxRounds       = 10
)

// Parse reads a plan in either form and checks it by itself. The name stands in front of
// every error.
func Parse(name string, text []byte) (Plan, error) {
	p := Plan{Land: Each, Parallel: defaultParallel}
	if block, ok, err := metadata(text); err != nil {
		return Plan{}, named(name, err)
	} else if ok {
		return parseLoom(name, block)
	}
	if looksLikeMarkdown(name, text) {
		return Plan{}, named(name, strictyaml.Fault("there is no plan in this document",
			"put it in a YAML block between <!-- loom METADATA --> and <!-- END loom METADATA -->"))
	}
	kind := strictyaml.Kind[Plan]{Noun: "plan", Fields: fields(), Empty: "cordon plan new writes a plan to begin with"}
	given, err := kind.Parse(name, text, &p)
	if err != nil {
		return Plan{}, err
	}
	for _, key := range []string{"version", "plan", "stages"} {
		if _, ok := given[key]; !ok {
			return Plan{}, named(name, strictyaml.Fault("the key "+strconv.Quote(key)+" is missing", "every plan has it"))
		}
	}
	if err := p.deliver(); err != nil {
		return Plan{}, named(name, err)
	}
	return p, named(name, check(&p))
}

func looksLikeMarkdown(name string, text []byte) bool {
	return path.Ext(name) == ".md" || bytes.HasPrefix(bytes.TrimSpace(text), []byte("# Plan"))
}

// named puts the name of the text into an error.
func named(name string, err error) error {
	if err == nil {
		return nil
	}
	e := strictyaml.Unplaced("", err)
	e.Name = name
	return e
}

// fields are the keys of a plan in its own form, in their documented order.
func fields() []strictyaml.Field[Plan] {
	return []strictyaml.Field[Plan]{
		strictyaml.Scalar("version", "The version of this format; always 1.", func(p *Plan) *int { return &p.Version }, readVersion, strconv.Itoa),
		strictyaml.Text("plan", "The plan's name.", func(p *Plan) *string { return &p.ID }, checkID),
		strictyaml.Text("target", "The branch that the results are for. Without this key: the branch that you are on.",
			func(p *Plan) *string { return &p.Target }, checkPresent),
		strictyaml.Scalar("land", "each: a result lands when its stage is done. together: results collect on a branch of the plan, "+
			"which lands when the last stage is done.",
			func(p *Plan) *Landing { return &p.Land }, readLanding, func(l Landing) string { return string(l) }),
		strictyaml.Scalar("parallel", "The most stages that run at once.",
			func(p *Plan) *int { return &p.Parallel }, readBetween(1, maxParallel), strconv.Itoa),
		strictyaml.Section("narrow", "What the plan takes from the policy of the repository.", []strictyaml.Field[Plan]{
			list("deny_read", "Paths that no stage may read, beside those of the policy.",
				func(p *Plan) *[]string { return &p.Narrow.DenyRead }, policy.CheckDenyRead),
			list("deny_write", "Paths that no stage may write, beside those of the policy.",
				func(p *Plan) *[]string { return &p.Narrow.DenyWrite }, policy.CheckDenyWrite),
			domains("allowed_domains", "Servers that the stages may reach: some of those that the policy allows."),
		}),
		{Key: "stages", Doc: "The stages, in any order.", Read: readStages(stageFields, finishStage)},
	}
}

// stageFields are the keys of one stage.
func stageFields() []strictyaml.Field[Stage] {
	return []strictyaml.Field[Stage]{
		strictyaml.Text("id", "The stage's name in the plan: lower case letters, digits and dashes.",
			func(s *Stage) *string { return &s.ID }, checkID),
		strictyaml.Text("name", "A title for people.", func(s *Stage) *string { return &s.Name }, checkPresent),
		strictyaml.Scalar("kind", "worktree: changes files. survey: reads everything and writes what it learned. verify: changes nothing, checks and reports.",
			func(s *Stage) *Kind { return &s.Kind }, readKind, func(k Kind) string { return string(k) }),
		{Key: "after", Doc: "Stages whose results must have landed before this one starts.", Read: readLinks(func(s *Stage) *[]Link { return &s.After })},
		{Key: "task", Doc: "What the agent is to do: a text, or {file: PATH} in the base commit.", Read: readTask},
		strictyaml.Text("agent", "The agent client that does it. Without this key: the one that plan run names.",
			func(s *Stage) *string { return &s.Agent }, checkID),
		strictyaml.Text("model", "The model that the client is to use.", func(s *Stage) *string { return &s.Model }, checkPresent),
		list("command", "A command and its arguments, instead of an agent.", func(s *Stage) *[]string { return &s.Command }, anyText),
		list("write", "Paths that the stage may change: write_roots of its lease.", func(s *Stage) *[]string { return &s.Write }, policy.CheckRoot),
		{Key: "reads", Doc: "Earlier stages whose summary and artifacts go into the briefing.", Read: readLinks(func(s *Stage) *[]Link { return &s.Reads })},
		strictyaml.Text("dir", "The directory in which acceptance commands and truths run.", func(s *Stage) *string { return &s.Dir }, checkDir),
		{Key: "acceptance", Doc: "Commands that must succeed on the merged tree: a text, or {run, paths}.", Read: readAcceptance},
		{Key: "artifacts", Doc: "Files that the stage promises: a path, or {path, contains, not}.", Read: readArtifacts},
		{Key: "truths", Doc: "Claims about the result: {claim, run, exit, stdout}, or a sentence that a verifier or a person must confirm.", Read: readTruths},
		strictyaml.Section("retries", "How often the stage starts again by itself.", []strictyaml.Field[Stage]{
			strictyaml.Scalar("failed", "After the agent ended with an error.",
				func(s *Stage) *int { return &s.Retries.Failed }, readBetween(0, maxRetries), strconv.Itoa),
			strictyaml.Scalar("rejected", "After acceptance, an artifact or a truth failed; the agent is told what failed.",
				func(s *Stage) *int { return &s.Retries.Rejected }, readBetween(0, maxRetries), strconv.Itoa),
			strictyaml.Scalar("lost", "After cordon or the machine died while it ran; 3 without this key.",
				func(s *Stage) *int { return &s.Retries.Lost }, readBetween(0, maxRetries), strconv.Itoa),
		}),
		strictyaml.Section("budget", "The most that the stage may use.", []strictyaml.Field[Stage]{
			strictyaml.Scalar("time", "Wall-clock time: 30m, 2h.",
				func(s *Stage) *policy.Duration { return &s.Budget.Time }, readTime, policy.Duration.String),
			strictyaml.Scalar("tokens", "Tokens of the model: 500k, 2M.",
				func(s *Stage) *int64 { return &s.Budget.Tokens }, readTokens, func(n int64) string { return strconv.FormatInt(n, 10) }),
			strictyaml.Scalar("cost", "US dollars.",
				func(s *Stage) *float64 { return &s.Budget.Cost }, readCost, func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }),
		}),
		{Key: "review", Doc: "A look at the result before it lands, by another agent: {agent, rounds, must}; or person.", Read: readReview},
	}
}

// finishStage completes a stage of the plan's own form: its paths are written from the top of the tree.
func finishStage(s *Stage) error {
	if s.Kind == "" {
		s.Kind = Worktree
	}
	return nil
}

// readStages reads the list of stages against a table.
func readStages(table func() []strictyaml.Field[Stage], finish func(*Stage) error) func(*Plan, *yaml.Node) error {
	return func(p *Plan, n *yaml.Node) error {
		if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
			return strictyaml.At(n, strictyaml.Fault("expected a list of stages, not "+describe(n), "write one stage per entry, each after a dash"))
		}
		if len(n.Content) > maxStages {
			return strictyaml.At(n, strictyaml.Fault("a plan has at most "+strconv.Itoa(maxStages)+" stages", "split it"))
		}
		for _, item := range n.Content {
			s := Stage{Dir: ".", Retries: Retries{Lost: DefaultLost}, at: place(item)}
			if _, err := strictyaml.ReadMapping(item, "a stage", &s, table()); err != nil {
				return err
			}
			if s.ID == "" {
				return strictyaml.At(item, strictyaml.Fault(`the key "id" is missing`, "every stage has one"))
			}
			if err := finish(&s); err != nil {
				return strictyaml.At(item, err)
			}
			p.Stages = append(p.Stages, s)
		}
		return nil
	}
}

func describe(n *yaml.Node) string {
	if n.Kind == yaml.SequenceNode {
		return "an empty list"
	}
	return strictyaml.Describe(n)
}

func place(n *yaml.Node) Position { return Position{n.Line, n.Column} }

// at places a problem.
func (at Position) fault(problem, hint string) error {
	return &strictyaml.Error{Line: at.Line, Column: at.Column, Problem: problem, Hint: hint}
}

// readLinks reads the names of other stages.
func readLinks(of func(*Stage) *[]Link) func(*Stage, *yaml.Node) error {
	return func(s *Stage, n *yaml.Node) error {
		names, err := strictyaml.ReadList(n, checkID)
		if err != nil {
			return strictyaml.At(n, err)
		}
		for i, name := range names {
			*of(s) = append(*of(s), Link{ID: name, at: place(n.Content[i])})
		}
		return nil
	}
}

// readTask reads a text, or the name of a file.
func readTask(s *Stage, n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		text, err := strictyaml.ReadText(n)
		if err == nil {
			s.Task, err = checkPresent(text)
		}
		return strictyaml.At(n, err)
	}
	_, err := strictyaml.ReadMapping(n, "a task", s, []strictyaml.Field[Stage]{
		strictyaml.Text("file", "A file in the base commit.", func(s *Stage) *string { return &s.TaskFile }, checkFile),
	})
	return err
}

// readAcceptance reads commands, each a text or {run, paths}.
func readAcceptance(s *Stage, n *yaml.Node) error {
	return each(n, func(item *yaml.Node) error {
		var c Check
		err := either(item, "an acceptance command", &c.Run, policy.CheckCommand, &c, []strictyaml.Field[Check]{
			strictyaml.Text("run", "The command.", func(c *Check) *string { return &c.Run }, policy.CheckCommand),
			list("paths", "What the command looks at. It sees nothing else, and its result is kept while these do not change.",
				func(c *Check) *[]string { return &c.Paths }, policy.CheckRoot),
		})
		if err == nil && c.Run == "" {
			err = strictyaml.At(item, strictyaml.Fault(`the key "run" is missing`, ""))
		}
		s.Acceptance = append(s.Acceptance, c)
		return err
	})
}

// readArtifacts reads promised files, each a path or {path, contains, not}.
func readArtifacts(s *Stage, n *yaml.Node) error {
	return each(n, func(item *yaml.Node) error {
		a := Artifact{at: place(item)}
		err := either(item, "an artifact", &a.Path, checkFile, &a, []strictyaml.Field[Artifact]{
			strictyaml.Text("path", "The file.", func(a *Artifact) *string { return &a.Path }, checkFile),
			texts("contains", "Texts that the file must contain.", func(a *Artifact) *[]string { return &a.Contains }),
			texts("not", "Texts that the file must not contain.", func(a *Artifact) *[]string { return &a.Not }),
		})
		if err == nil && a.Path == "" {
			err = strictyaml.At(item, strictyaml.Fault(`the key "path" is missing`, ""))
		}
		s.Artifacts = append(s.Artifacts, a)
		return err
	})
}

// readTruths reads claims, each a sentence or {claim, run, exit, stdout}.
func readTruths(s *Stage, n *yaml.Node) error {
	return each(n, func(item *yaml.Node) error {
		var t Truth
		var given strictyaml.Given
		var err error
		if item.Kind == yaml.MappingNode {
			given, err = strictyaml.ReadMapping(item, "a truth", &t, []strictyaml.Field[Truth]{
				strictyaml.Text("claim", "What is claimed, as a sentence.", func(t *Truth) *string { return &t.Claim }, checkPresent),
				strictyaml.Text("run", "The command that shows it.", func(t *Truth) *string { return &t.Run }, policy.CheckCommand),
				strictyaml.Scalar("exit", "The exit code that the command must have.",
					func(t *Truth) *int { return &t.Exit }, readBetween(0, 255), strconv.Itoa),
				strictyaml.Text("stdout", "A part of what the command must print.", func(t *Truth) *string { return &t.Stdout }, checkPresent),
			})
		} else if t.Claim, err = strictyaml.ReadText(item); err == nil {
			t.Claim, err = checkPresent(t.Claim)
		}
		_, exits := given["exit"]
		switch {
		case err != nil:
		case t.Claim == "":
			err = strictyaml.Fault(`the key "claim" is missing`, "")
		case t.Run == "" && (exits || t.Stdout != ""):
			err = strictyaml.Fault("there is no command whose end this could be", "add run, or write the claim as a sentence")
		}
		s.Truths = append(s.Truths, t)
		return strictyaml.At(item, err)
	})
}

// each reads the entries of a list.
func each(n *yaml.Node, read func(*yaml.Node) error) error {
	if n.Kind != yaml.SequenceNode {
		return strictyaml.At(n, strictyaml.Fault("expected a list, not "+strictyaml.Describe(n), strictyaml.ListHint(n)))
	}
	for _, item := range n.Content {
		if err := read(item); err != nil {
			return strictyaml.At(item, err)
		}
	}
	return nil
}

// either reads a text, or a mapping.
func either[T any](n *yaml.Node, what string, text *string, check func(string) (string, error), t *T, fields []strictyaml.Field[T]) error {
	if n.Kind == yaml.MappingNode {
		_, err := strictyaml.ReadMapping(n, what, t, fields)
		return err
	}
	s, err := strictyaml.ReadText(n)
	if err == nil {
		*text, err = check(s)
	}
	return strictyaml.At(n, err)
}

// list is a field with a list of texts that a check accepts.
func list[T any](key, doc string, of func(*T) *[]string, check func(string) (string, error)) strictyaml.Field[T] {
	return strictyaml.Sequence(key, doc, of, func(n *yaml.Node) ([]string, error) { return strictyaml.ReadList(n, check) })
}

// texts is a field with one text or a list of them.
func texts[T any](key, doc string, of func(*T) *[]string) strictyaml.Field[T] {
	return strictyaml.Sequence(key, doc, of, func(n *yaml.Node) ([]string, error) {
		if n.Kind != yaml.ScalarNode {
			return strictyaml.ReadList(n, checkPresent)
		}
		s, err := strictyaml.ReadText(n)
		if err == nil {
			s, err = checkPresent(s)
		}
		return []string{s}, err
	})
}

// domains is the field that narrows the network. It remembers where it stands.
func domains(key, doc string) strictyaml.Field[Plan] {
	return strictyaml.Field[Plan]{Key: key, Doc: doc, Read: func(p *Plan, n *yaml.Node) (err error) {
		p.Narrow.domains = place(n)
		p.Narrow.Domains, err = strictyaml.ReadList(n, policy.CheckDomain)
		return strictyaml.At(n, err)
	}}
}

func readVersion(n *yaml.Node) (int, error) {
	if n.Kind == yaml.ScalarNode && strictyaml.Plain(n) && n.Value == strconv.Itoa(Version) {
		return Version, nil
	}
	return 0, strictyaml.Fault("expected version 1, not "+strictyaml.Describe(n), "this cordon reads plans of version 1")
}

func readLanding(n *yaml.Node) (Landing, error) {
	switch l := Landing(n.Value); {
	case n.Kind == yaml.ScalarNode && (l == Each || l == Together):
		return l, nil
	}
	return "", strictyaml.Fault("expected each or together, not "+strictyaml.Describe(n), "")
}

// kinds are the names of kinds, in both forms of a plan.
var kinds = map[string]Kind{
	"worktree": Worktree, "standard": Worktree,
	"survey": Survey, "knowledge": Survey,
	"verify": Verify, "integration-verify": Verify,
}

func readKind(n *yaml.Node) (Kind, error) {
	if n.Kind == yaml.ScalarNode {
		if k, ok := kinds[n.Value]; ok {
			return k, nil
		}
		if n.Value == string(Resolve) {
			return "", strictyaml.Fault("a stage of this kind cannot be written", "cordon makes one when a landing conflicts")
		}
	}
	return "", strictyaml.Fault("expected worktree, survey or verify, not "+strictyaml.Describe(n), "")
}

func readBetween(least, most int) func(*yaml.Node) (int, error) {
	return func(n *yaml.Node) (int, error) {
		if n.Kind == yaml.ScalarNode && strictyaml.Plain(n) {
			if v, err := strconv.Atoi(n.Value); err == nil && strconv.Itoa(v) == n.Value && v >= least && v <= most {
				return v, nil
			}
		}
		return 0, strictyaml.Fault("expected a number, not "+strictyaml.Describe(n), "write a whole number from "+strconv.Itoa(least)+" to "+strconv.Itoa(most))
	}
}

func readTime(n *yaml.Node) (policy.Duration, error) {
	s, err := strictyaml.ReadText(n)
	if err != nil {
		return 0, err
	}
	return policy.ParseDuration(s)
}

// readTokens reads a number, which may end in k or M.
func readTokens(n *yaml.Node) (int64, error) {
	digits, factor := n.Value, int64(1)
	for unit, size := range map[string]int64{"k": 1e3, "M": 1e6} {
		if cut, ok := strings.CutSuffix(n.Value, unit); ok {
			digits, factor = cut, size
		}
	}
	v, err := strconv.ParseInt(digits, 10, 40)
	if n.Kind != yaml.ScalarNode || err != nil || v <= 0 || strconv.FormatInt(v, 10) != digits {
		return 0, strictyaml.Fault("expected a number of tokens, not "+strictyaml.Describe(n), "write 500k or 2M")
	}
	return v * factor, nil
}

func readCost(n *yaml.Node) (float64, error) {
	v, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yaml.ScalarNode || !strictyaml.Plain(n) || err != nil || !(v > 0 && v < 1e6) {
		return 0, strictyaml.Fault("expected an amount in US dollars, not "+strictyaml.Describe(n), "write 5 or 0.50")
	}
	return v, nil
}

// maxID keeps the name of a stage short enough for a branch, a directory and a table.
const maxID = 60

// checkID accepts names that are safe in a path, a branch and a command line.
func checkID(s string) (string, error) {
	bad := func(r rune) bool { return !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-') }
	if s == "" || len(s) > maxID || strings.ContainsFunc(s, bad) || strings.HasPrefix(s, "-") || strings.HasSuffix(s, "-") {
		return "", strictyaml.Fault(strconv.Quote(s)+" is not a name that a stage or a plan can have",
			"use at most 60 lower case letters, digits and dashes, with a letter or a digit at both ends")
	}
	return s, nil
}

func checkPresent(s string) (string, error) {
	if strings.TrimSpace(s) == "" {
		return "", strictyaml.Fault("the text is empty", "write it, or leave the key out")
	}
	return s, nil
}

func anyText(s string) (string, error) { return s, nil }

// checkFile accepts one path below the top of the tree.
func checkFile(s string) (string, error) {
	clean, err := policy.CheckRoot(s)
	if err == nil && (clean == "." || policy.HasWildcard(clean)) {
		err = strictyaml.Fault(strconv.Quote(s)+" is not the path of one file", "write it without wildcards")
	}
	return clean, err
}

// checkDir accepts one directory of the tree.
func checkDir(s string) (string, error) {
	clean, err := policy.CheckRoot(s)
	if err == nil && policy.HasWildcard(clean) {
		err = strictyaml.Fault(strconv.Quote(s)+" is not one directory", "write it without wildcards")
	}
	return clean, err
}
