package draft

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"cordon/internal/policy"
)

// project is what is known of a repository when its policy is drafted. Nothing
// in this file looks at a disk.
type Project struct {
	top     map[string]bool   // names at the top, tracked or present
	dirs    []string          // directories at the top, tracked where there is a commit
	tracked map[string]bool   // every tracked path, every directory above one, and its bare name after **/
	Ignored map[string]bool   // paths that the repository's own rules ignore
	text    map[string]string // content of the files that tell
	ports   []string          // of services that the project names
}

// track notes one tracked path.
func (p *Project) track(file string) {
	p.tracked[file] = true
	name := file
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		p.tracked[dir], p.tracked["**/"+path.Base(dir)] = true, true
		name = dir
	}
	p.top[name] = true
	if name != file && !slices.Contains(p.dirs, name) {
		p.dirs = append(p.dirs, name)
	}
}

// has reports whether a name at the top matches.
func (p Project) has(glob string) bool {
	if !strings.ContainsAny(glob, "*") {
		return p.top[glob]
	}
	for name := range p.top {
		if ok, _ := path.Match(glob, name); ok {
			return true
		}
	}
	return false
}

// fitting are the ecosystems that the project is of.
func (p Project) fitting() []ecosystem {
	var fit []ecosystem
	for _, e := range ecosystems {
		if slices.ContainsFunc(e.marks, p.has) {
			fit = append(fit, e)
		}
	}
	return fit
}

func (p Project) Names() []string {
	names := []string{}
	for _, e := range p.fitting() {
		names = append(names, e.name)
	}
	return names
}

// candidates are the directories whose being ignored matters.
func (p Project) candidates() []string {
	var dirs []string
	for _, e := range p.fitting() {
		for _, glob := range slices.Concat(e.scratch, e.output) {
			dirs = append(dirs, strings.TrimPrefix(glob, "**/"))
		}
	}
	return distinct(dirs)
}

// models are presets for what an agent cannot work without. Which one it is of, a
// repository does not tell.
var models = []string{"@anthropic", "@openai", "@google"}

// draft proposes a policy.
func Propose(p Project) policy.Draft {
	var setup, tests policy.Entry
	for _, e := range p.fitting() {
		p.propose(&setup, e.setup)
		p.propose(&tests, e.tests)
	}
	return policy.Draft{Head: p.head(), Lists: map[string]policy.Entry{
		"filesystem.write_roots":  {Set: []string{"."}, Offer: p.sources(), Note: `Less than the whole tree:`},
		"filesystem.scratch":      {Set: p.scratch()},
		"network.allowed_domains": p.Hosts(),
		"network.host_ports":      {Offer: p.ports, Note: "Services of this project that may listen on this machine:"},
		"setup":                   noted(setup),
		"acceptance":              noted(p.tested(tests)),
	}, Words: map[string]policy.Entry{"gate.land": {Set: []string{policy.LandReview.String()}, Why: "Every result waits for you: cordon diff shows it, and " +
		"cordon merge lands it. careful: a result that passes the audit and the acceptance commands lands by itself, unless it changes tests, CI or " +
		"build files. auto: those land as well."}}}
}

// hosts are what the tools of the project fetch from. Those of a setup command that
// holds have to hold as well: without them it would only fail, for every worker.
func (p Project) Hosts() policy.Entry {
	h := policy.Entry{
		Why:  "For the setup commands below. Workers and acceptance commands reach it too:",
		Note: "Models of agents that cordon does not start itself:",
	}
	offer := slices.Clone(models)
	for _, e := range p.fitting() {
		var setup policy.Entry
		if p.propose(&setup, e.setup); len(setup.Set) > 0 {
			h.Set = append(h.Set, e.hosts...)
		}
		offer = append(offer, e.hosts...)
	}
	h.Set = distinct(h.Set)
	h.Offer = slices.DeleteFunc(distinct(offer), func(s string) bool { return slices.Contains(h.Set, s) })
	return h
}

// tested adds the tests that usually run those of another ecosystem.
func (p Project) tested(tests policy.Entry) policy.Entry {
	for _, e := range p.fitting() {
		var more policy.Entry
		p.propose(&more, e.instead)
		if len(tests.Set) > 0 {
			more.Set, more.Offer = nil, more.Set
		}
		tests.Set, tests.Offer = append(tests.Set, more.Set...), append(tests.Offer, more.Offer...)
	}
	if len(tests.Set)+len(tests.Offer) == 0 {
		tests.Offer = []string{"./test.sh"}
		tests.Note = "No tests were found. Without a command nothing is tested before it lands. For example:"
	}
	return tests
}

// Programs are the programs that setup and tests begin with, as far as they are not files
// of the project.
func (p Project) Programs() []string {
	d := Propose(p)
	var names []string
	for _, line := range slices.Concat(d.Lists["setup"].Set, d.Lists["acceptance"].Set) {
		if name, _, _ := strings.Cut(line, " "); !strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	return distinct(names)
}

// noted says how the offers of an entry are meant.
func noted(e policy.Entry) policy.Entry {
	switch {
	case e.Note != "":
	case len(e.Set) == 0:
		e.Note = "Perhaps:"
	default:
		e.Note = "Or:"
	}
	return e
}

// propose adds the first step that fits: as a setting, or as a suggestion when
// it is only likely.
func (p Project) propose(to *policy.Entry, steps []step) {
	for _, s := range steps {
		if !s.when(p) {
			continue
		}
		if s.likely {
			to.Offer = append(to.Offer, s.run)
		} else {
			to.Set = append(to.Set, s.run)
		}
		return
	}
}

// scratch are the directories that the project's tools make: those that belong
// to a tool alone when nothing in them is tracked, those with an ordinary name
// only when the repository ignores them too.
func (p Project) scratch() []string {
	var dirs []string
	for _, e := range p.fitting() {
		for _, glob := range e.scratch {
			if !p.tracked[glob] {
				dirs = append(dirs, glob)
			}
		}
		for _, glob := range e.output {
			if !p.tracked[glob] && p.Ignored[strings.TrimPrefix(glob, "**/")] {
				dirs = append(dirs, glob)
			}
		}
	}
	return distinct(dirs)
}

// maxSources bounds how many directories are suggested as write_roots.
const maxSources = 20

// sources are the directories at the top that could be write_roots. A name that
// would have to be escaped is left out.
func (p Project) sources() []string {
	var dirs []string
	for _, dir := range p.dirs {
		if plainName(dir) && !p.Ignored[dir] && !slices.Contains(p.candidates(), dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return dirs[:min(len(dirs), maxSources)]
}

func plainName(s string) bool {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-+", r)
	}
	return s != "" && s[0] != '.' && s[0] != '-' && !strings.ContainsFunc(s, odd)
}

// head is the comment at the top.
func (p Project) head() []string {
	found := "Nothing that cordon knows was detected."
	if names := p.Names(); len(names) > 0 {
		found = "Detected: " + strings.Join(names, ", ") + "."
	}
	return []string{
		"Written by cordon init. " + found + " Settings behind a # do not hold. Keys that are missing have their defaults: " +
			"cordon policy show prints all. A run reads this file from its base commit, so commit it.",
	}
}

func distinct(list []string) []string {
	var kept []string
	for _, s := range list {
		if !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// when is a condition on a project.
type when func(Project) bool

func always(Project) bool { return true }

// has holds when every name is at the top.
func has(globs ...string) when {
	return func(p Project) bool {
		for _, g := range globs {
			if !p.has(g) {
				return false
			}
		}
		return true
	}
}

func not(c when) when { return func(p Project) bool { return !c(p) } }

func both(conditions ...when) when {
	return func(p Project) bool {
		return !slices.ContainsFunc(conditions, func(c when) bool { return !c(p) })
	}
}

func either(conditions ...when) when {
	return func(p Project) bool {
		return slices.ContainsFunc(conditions, func(c when) bool { return c(p) })
	}
}

// says holds when one of the files has a text that matches.
func says(pattern string, files ...string) when {
	return func(p Project) bool {
		re := regexp.MustCompile(pattern)
		return slices.ContainsFunc(files, func(f string) bool { return re.MatchString(p.text[f]) })
	}
}

// script holds when a manifest has a script of this name that does something.
// What npm init leaves there does not.
func script(manifest, name string) when {
	return func(p Project) bool {
		var m struct {
			Scripts map[string]json.RawMessage `json:"scripts"`
		}
		if json.Unmarshal([]byte(p.text[manifest]), &m) != nil {
			return false
		}
		switch string(m.Scripts[name]) {
		case "", "null", `""`:
			return false
		}
		var line string
		isText := json.Unmarshal(m.Scripts[name], &line) == nil
		return !isText || !strings.Contains(line, "no test specified")
	}
}
