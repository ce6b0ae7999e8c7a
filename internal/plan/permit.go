package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/policy"
	"cordon/internal/strictyaml"
)

// Surroundings are what a plan is checked against.
type Surroundings struct {
	Policy policy.Policy // of the repository, at the base commit
	// Has reports whether the base commit has a file or a directory.
	Has func(path string) bool
	// Link reports whether it has a link there; nil: it has none.
	Link func(path string) bool
	// Reports says what a client reports of its use; known is false for a name that is no client.
	Reports func(client string) (tokens, cost, known bool)
	// Command: stages that name neither a client nor a command get one.
	Command bool
	// Agent is the client for stages that name none; "": there is none.
	Agent string
	// Known are permits from before; nil: none are kept.
	Known *Known
	// Sealed are the files of tasks that were read when the plan was opened.
	Sealed map[string]string

	made []string // write roots of the stages that were permitted so far
}

// Permit is a stage with the policy that its worker gets.
type Permit struct {
	Stage  Stage
	Policy policy.Policy
}

// Roots are what the worker of the stage may change.
func (p Permit) Roots() []string { return p.Policy.Filesystem.WriteRoots }

// Permits are the stages in an order in which they could run, each with its policy. A plan
// that asks for more than the policy allows is refused, and so is a stage that nobody can
// satisfy. The name stands in front of every error.
func (p Plan) Permits(name string, in Surroundings) ([]Permit, error) {
	list, refused, err := p.PermitEach(name, in)
	for _, s := range p.Order() {
		if err == nil {
			err = refused[s.ID]
		}
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

// PermitEach is Permits for a plan under way: what is wrong with one stage, by its ID, does not
// keep the others from going on.
func (p Plan) PermitEach(name string, in Surroundings) (list []Permit, refused map[string]error, err error) {
	narrowed, err := p.narrow(in.Policy)
	if err != nil {
		return nil, nil, named(name, err)
	}
	in.Known.under(narrowed)
	refused = map[string]error{}
	for _, s := range p.Order() {
		permit, err := in.Known.permit(s, narrowed)
		permit.Stage = s
		if s.Kind == Deliver {
			permit = delivery(permit, list)
		}
		in.made = append(in.made, permit.Roots()...)
		if err == nil {
			err = satisfiable(permit, in)
		}
		if err != nil {
			refused[s.ID] = named(name, err)
		}
		list = append(list, permit)
	}
	return list, refused, nil
}

// delivery is the permit of the stage that lands what the others did: it brings in what they
// changed, and passes everything that they had to pass.
func delivery(last Permit, all []Permit) Permit {
	last.Policy.Filesystem.WriteRoots = []string{}
	for _, p := range all {
		last.Policy.Filesystem.WriteRoots = union(last.Policy.Filesystem.WriteRoots, p.Roots())
		last.Policy.Acceptance = union(last.Policy.Acceptance, p.Policy.Acceptance)
		last.Stage.Artifacts = append(last.Stage.Artifacts, p.Stage.Artifacts...)
	}
	return last
}

// narrow takes from a policy what the plan takes.
func (p Plan) narrow(from policy.Policy) (policy.Policy, error) {
	f := &from.Filesystem
	f.DenyRead = union(f.DenyRead, p.Narrow.DenyRead)
	f.DenyWrite = union(f.DenyWrite, p.Narrow.DenyWrite)
	if p.Narrow.Domains == nil {
		return from, nil
	}
	bound := policy.AllRights()
	bound.Network.AllowedDomains = from.Network.AllowedDomains
	from.Network.AllowedDomains = p.Narrow.Domains
	if _, lost := from.Within(bound); len(lost) > 0 {
		missing := strings.TrimPrefix(strings.Join(lost, "; "), "network.allowed_domains: without ")
		return from, p.Narrow.domains.fault("the policy of the repository does not allow "+missing,
			"add to network in cordon.yaml: allowed_domains: ["+missing+"]")
	}
	return from, nil
}

func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// Known remembers the permits of one plan while the policy stays the same: to validate a policy
// takes a millisecond, and a plan may have hundreds of stages. The zero value is empty.
type Known struct {
	policy  string            // its text
	permits map[string]Permit // by stage; only those that are valid
}

// under forgets what was known under another policy.
func (k *Known) under(p policy.Policy) {
	if k == nil {
		return
	}
	if text := string(p.YAML()); k.permits == nil || k.policy != text {
		k.policy, k.permits = text, map[string]Permit{}
	}
}

// permit gives a stage its policy, or the one that it got before.
func (k *Known) permit(s Stage, from policy.Policy) (Permit, error) {
	if k == nil {
		return s.permit(from)
	}
	p, ok := k.permits[s.ID]
	if ok {
		return p, nil
	}
	p, err := s.permit(from)
	if err == nil {
		k.permits[s.ID] = p
	}
	return p, err
}

// permit gives a stage its policy.
func (s Stage) permit(from policy.Policy) (Permit, error) {
	p := from
	switch {
	case s.Kind == Verify:
		p.Filesystem.WriteRoots = []string{}
	case s.Write != nil:
		for _, root := range s.Write {
			if !policy.RootWithin(root, from.Filesystem.WriteRoots) {
				return Permit{}, s.at.fault(s.ID+": the policy of the repository does not let a worker change "+root,
					"add to filesystem in cordon.yaml: write_roots: ["+strconv.Quote(root)+"]")
			}
		}
		p.Filesystem.WriteRoots = slices.Clone(s.Write)
	}
	p.Acceptance = slices.Clone(from.Acceptance)
	for _, c := range s.Acceptance {
		p = p.Accepts(s.inDir(c.Run), c.Paths)
	}
	for _, t := range s.Truths {
		if t.Run != "" {
			p = p.Accepts(s.inDir(t.command()), nil)
		}
	}
	if t := s.Budget.Time; t > 0 && t < p.Limits.Time {
		p.Limits.Time = t
	}
	if err := p.Validate(); err != nil {
		return Permit{}, s.at.fault(s.ID+": "+strictyaml.Unplaced("", err).Problem, "")
	}
	return Permit{Stage: s, Policy: p}, nil
}

// inDir is a command that runs in the stage's directory.
func (s Stage) inDir(command string) string {
	if s.Dir == "." {
		return command
	}
	return "cd " + quoted(s.Dir) + " || exit\n" + command
}

// command is a truth as an acceptance command: it succeeds if the truth's own command ends
// and prints as claimed.
func (t Truth) command() string {
	text := "# truth: " + strings.ReplaceAll(t.Claim, "\n", " ") + "\n" +
		"printed=$(\n" + t.Run + "\n)\nended=$?\nprintf '%s\\n' \"$printed\"\n" +
		"[ $ended -eq " + strconv.Itoa(t.Exit) + " ] || { echo \"it ended with $ended\" >&2; exit 1; }\n"
	if t.Stdout != "" {
		text += "case $printed in *" + quoted(t.Stdout) + "*) ;; *) echo 'it did not print what the truth claims' >&2; exit 1 ;; esac\n"
	}
	return text
}

// quoted is a text for a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// satisfiable refuses a stage that nobody can bring to its end.
func satisfiable(p Permit, in Surroundings) error {
	for _, one := range []func(Permit, Surroundings) (problem, hint string){judged, promised, tasked, located, performed, budgeted, reviewable} {
		if problem, hint := one(p, in); problem != "" {
			return p.Stage.at.fault(p.Stage.ID+": "+problem, hint)
		}
	}
	return nil
}

// judged: without a check nothing says when a stage is done.
func judged(p Permit, _ Surroundings) (string, string) {
	if p.Stage.Kind == Deliver {
		return "", ""
	}
	if len(p.Policy.Acceptance)+len(p.Stage.Artifacts)+len(p.Stage.Truths) == 0 {
		return "nothing says when it is done", "add acceptance, artifacts or truths, or acceptance in cordon.yaml"
	}
	return "", ""
}

// promised: an artifact that is not there yet must lie where the stage may write.
func promised(p Permit, in Surroundings) (string, string) {
	for _, a := range p.Stage.Artifacts {
		if !policy.RootWithin(a.Path, p.Roots()) && !in.Has(a.Path) {
			return fmt.Sprintf("it cannot make its artifact %s, which lies outside of what it may change", a.Path), "add it to write"
		}
	}
	return "", ""
}

// tasked: the file of the task is in the base commit.
func tasked(p Permit, in Surroundings) (string, string) {
	if f := p.Stage.TaskFile; f != "" && !in.Has(f) && in.Sealed[f] == "" {
		return "the base commit has no file " + f, "commit it, or write the task into the plan"
	}
	return "", ""
}

// performed: somebody does it.
func performed(p Permit, in Surroundings) (string, string) {
	s := p.Stage
	for _, name := range []string{s.Agent, reviewer(s)} {
		if name == "" {
			continue
		}
		if _, _, known := in.Reports(name); !known {
			return "there is no client " + strconv.Quote(name), "cordon doctor lists the clients"
		}
	}
	return "", ""
}
