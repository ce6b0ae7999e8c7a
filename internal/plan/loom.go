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

// The marks around the plan in a Markdown document.
const (
	beginMark = "<!-- loom METADATA -->"
	endMark   = "<!-- END loom METADATA -->"
)

// metadata finds the plan in a Markdown document: the one fenced YAML block between the
// marks. Everything around it becomes empty lines, so that the positions of errors are
// those of the document.
func metadata(text []byte) (block []byte, found bool, err error) {
	lines := bytes.SplitAfter(text, []byte("\n"))
	begin, end, err := marks(lines)
	if err != nil || begin < 0 {
		return nil, false, err
	}
	open, shut, err := fence(lines, begin+1, end)
	if err != nil {
		return nil, false, err
	}
	var b bytes.Buffer
	b.WriteString(strings.Repeat("\n", open+1))
	for _, line := range lines[open+1 : shut] {
		b.Write(bytes.ReplaceAll(line, []byte("\r\n"), []byte("\n")))
	}
	return b.Bytes(), true, nil
}

// marks are the lines of the two marks; begin is -1 where there is none.
func marks(lines [][]byte) (begin, end int, err error) {
	begin, end = -1, -1
	for i, line := range lines {
		at := Position{i + 1, 1}
		switch string(bytes.TrimSpace(line)) {
		case beginMark:
			if begin >= 0 {
				return 0, 0, at.fault("a second plan begins here", "a document holds one plan")
			}
			begin = i
		case endMark:
			if begin < 0 || end >= 0 {
				return 0, 0, at.fault("no plan ends here", "the line before it is "+beginMark)
			}
			end = i
		}
	}
	if begin >= 0 && end < 0 {
		return 0, 0, Position{begin + 1, 1}.fault("the plan that begins here has no end", "write "+endMark+" after it")
	}
	return begin, end, nil
}

// fence finds the one fenced block between two lines.
func fence(lines [][]byte, from, to int) (open, shut int, err error) {
	open, shut = -1, -1
	for i := from; i < to; i++ {
		line := string(bytes.TrimSpace(lines[i]))
		at := Position{i + 1, 1}
		switch {
		case open >= 0 && shut < 0 && line == "```":
			shut = i
		case open >= 0 && shut < 0 || line == "":
		case open < 0 && (line == "```yaml" || line == "```yml"):
			open = i
		default:
			return 0, 0, at.fault("expected one block of YAML between the marks, not "+strconv.Quote(line), "begin it with ```yaml and end it with ```")
		}
	}
	if shut < 0 {
		return 0, 0, Position{from, 1}.fault("there is no complete block of YAML after this mark", "begin it with ```yaml and end it with ```")
	}
	return open, shut, nil
}

// parseLoom reads a plan under the key loom.
func parseLoom(name string, text []byte) (Plan, error) {
	p := Plan{Land: Each, Parallel: defaultParallel}
	kind := strictyaml.Kind[Plan]{Noun: "plan", Fields: []strictyaml.Field[Plan]{
		strictyaml.Section("loom", "A plan.", loomFields()),
	}, Empty: "write loom: and its stages"}
	given, err := kind.Parse(name, text, &p)
	if err != nil {
		return Plan{}, err
	}
	for _, key := range []string{"version", "plan_id", "stages"} {
		if _, ok := given["loom."+key]; !ok {
			return Plan{}, named(name, strictyaml.Fault("the key "+strconv.Quote(key)+" is missing", "every plan has it"))
		}
	}
	return p, named(name, check(&p))
}

func loomFields() []strictyaml.Field[Plan] {
	return []strictyaml.Field[Plan]{
		strictyaml.Scalar("version", "The version of this format; always 1.", func(p *Plan) *int { return &p.Version }, readVersion, strconv.Itoa),
		strictyaml.Text("plan_id", "The plan's name.", func(p *Plan) *string { return &p.ID }, checkID),
		strictyaml.Section("sandbox", "What the plan takes from the policy of the repository.", []strictyaml.Field[Plan]{
			{Key: "enabled", Doc: "true; the cell is never off.", Read: readEnabled},
			strictyaml.Section("filesystem", "Paths.", []strictyaml.Field[Plan]{
				list("deny_read", "Paths that no stage may read.", func(p *Plan) *[]string { return &p.Narrow.DenyRead }, policy.CheckDenyRead),
				list("deny_write", "Paths that no stage may write.", func(p *Plan) *[]string { return &p.Narrow.DenyWrite }, policy.CheckDenyWrite),
			}),
			strictyaml.Section("network", "Servers.", []strictyaml.Field[Plan]{
				domains("allowed_domains", "Servers that the stages may reach: some of those that the policy allows."),
			}),
			{Key: "excluded_commands", Doc: "Has no effect: nothing is exempt from the cell.", Read: readExcluded},
		}),
		{Key: "stages", Doc: "The stages, in any order.", Read: readStages(loomStageFields, finishLoomStage)},
	}
}

func readEnabled(_ *Plan, n *yaml.Node) error {
	on, err := strictyaml.ReadBool(n)
	if err == nil && !on {
		err = strictyaml.Fault("a plan cannot turn the sandbox off", "remove the key")
	}
	return strictyaml.At(n, err)
}

func readExcluded(p *Plan, n *yaml.Node) error {
	names, err := strictyaml.ReadList(n, checkPresent)
	if err != nil {
		return strictyaml.At(n, err)
	}
	if len(names) > 0 {
		p.Notes = append(p.Notes, "excluded_commands ("+strings.Join(names, ", ")+"): nothing is exempt from the cell; the control command inside it is cordon")
	}
	return nil
}

func loomStageFields() []strictyaml.Field[Stage] {
	return []strictyaml.Field[Stage]{
		strictyaml.Text("id", "The stage's name in the plan.", func(s *Stage) *string { return &s.ID }, checkID),
		strictyaml.Text("name", "A title for people.", func(s *Stage) *string { return &s.Name }, checkPresent),
		strictyaml.Scalar("stage_type", "standard, knowledge or integration-verify.",
			func(s *Stage) *Kind { return &s.Kind }, readKind, func(k Kind) string { return string(k) }),
		strictyaml.Text("working_dir", "The directory that the paths and commands of the stage begin at.",
			func(s *Stage) *string { return &s.Dir }, checkDir),
		{Key: "dependencies", Doc: "Stages whose results must have landed before this one starts.", Read: readLinks(func(s *Stage) *[]Link { return &s.After })},
		strictyaml.Text("description", "What the agent is to do.", func(s *Stage) *string { return &s.Task }, checkPresent),
		{Key: "acceptance", Doc: "Commands that must succeed on the merged tree.", Read: readAcceptance},
		{Key: "artifacts", Doc: "Files that the stage promises.", Read: readArtifacts},
		list("files", "Paths that the stage may change.", func(s *Stage) *[]string { return &s.Write }, policy.CheckRoot),
		{Key: "truths", Doc: "Claims about the result.", Read: readTruths},
	}
}

// finishLoomStage writes the paths of a stage from the top of the tree.
func finishLoomStage(s *Stage) error {
	if s.Kind == "" {
		s.Kind = Worktree
	}
	for i, root := range s.Write {
		s.Write[i] = path.Join(s.Dir, root)
	}
	for i := range s.Artifacts {
		s.Artifacts[i].Path = path.Join(s.Dir, s.Artifacts[i].Path)
	}
	for i := range s.Acceptance {
		for j, p := range s.Acceptance[i].Paths {
			s.Acceptance[i].Paths[j] = path.Join(s.Dir, p)
		}
	}
	return nil
}
