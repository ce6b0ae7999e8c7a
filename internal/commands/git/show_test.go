package git

import (
	"strings"
	"testing"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// gitLine is what a git command line does, written short: variables first, then
// words split at blanks outside of quotes. A line after "<<" is standard input.
func gitLine(line string) commands.Use {
	line, input, fed := strings.Cut(line, " << ")
	words := argtext.SplitWords(unmarked.Replace(line), nil)
	vars := map[string]string{}
	for len(words) > 0 && !strings.HasPrefix(words[0], "git") {
		name, value, _ := strings.Cut(words[0], "=")
		vars[name] = value
		words = words[1:]
	}
	return Use(commands.Call{
		Args:  words,
		Stdin: strings.ReplaceAll(unmarked.Replace(input), ";", "\n"),
		Fed:   fed,
		Env:   func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
	})
}

var unmarked = strings.NewReplacer("ANY", mark.Any, "ATOM", mark.Atom)
var marked = strings.NewReplacer(mark.Any, "ANY", mark.Atom, "ATOM", mark.Inside, "INSIDE", mark.Scratch, "SCRATCH", mark.System, "SYSTEM", mark.Outside, "OUTSIDE")

// shown writes a Use down: what is entered without being named is left out.
func shown(u commands.Use) string {
	var parts []string
	for _, a := range u.Access {
		if a.Role == commands.Enter && a.Path == "." && a.Dir == "" {
			continue
		}
		parts = append(parts, at([...]string{"read ", "write ", "enter ", "exec ", "link "}[a.Role]+a.Path, a.Dir))
	}
	for _, r := range u.Runs {
		parts = append(parts, shownRun(r))
	}
	for _, a := range u.Git {
		parts = append(parts, shownAct(a))
	}
	for _, f := range u.Findings {
		parts = append(parts, [...]string{"ask", "deny"}[f.Weight])
		if f.Reason == "" || f.Instead == "" {
			parts = append(parts, "without words")
		}
	}
	if u.Top != "" {
		parts = append(parts, at("top "+u.Top, u.TopDir))
	}
	if u.Out != mark.Any {
		parts = append(parts, "prints "+u.Out)
	}
	return marked.Replace(strings.Join(parts, ", "))
}

func shownRun(r commands.Run) string {
	s := "run " + strings.TrimPrefix(r.Code, gitAtTop)
	if strings.HasPrefix(r.Code, gitAtTop) {
		s = "top" + s
	}
	if r.Lang != commands.Shell {
		s = string(r.Lang) + " " + s
	}
	if r.Args != nil {
		s = "run [" + strings.Join(r.Args, " ") + "]"
	}
	if r.Fed {
		s += " <" + r.Stdin
	}
	for _, p := range r.Params {
		s += " +" + p
	}
	return at(s, r.Dir)
}

func shownAct(a commands.GitAct) string {
	s := [...]string{"moves", "switches", "grows", "pushes", "fetches", "configures", "shares"}[a.Kind]
	if a.Name != "" {
		s += " " + a.Name
	}
	if a.Value != "" {
		s += "=" + a.Value
	}
	if a.New {
		s += " new"
	}
	if a.Maybe {
		s += " maybe"
	}
	return at(s, a.Dir)
}

func at(s, dir string) string {
	if dir != "" {
		return s + " @" + dir
	}
	return s
}

// gitTest is a command line and what it does.
type gitTest struct{ line, want string }

func checkGit(t *testing.T, tests []gitTest) {
	t.Helper()
	for _, test := range tests {
		if got := shown(gitLine(test.line)); got != test.want {
			t.Errorf("%s\n got  %s\n want %s", test.line, got, test.want)
		}
	}
}

// tested reports whether a test's line holds some words.
func tested(tests []gitTest, words string) bool {
	for _, test := range tests {
		if strings.Contains(test.line+" ", words) {
			return true
		}
	}
	return false
}
