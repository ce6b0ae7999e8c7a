package known

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/commands"
	"cordon/internal/commands/wrap"
	"cordon/internal/mark"
)

// A wrapCase is one of testdata/wrap.txt: a command, what it is fed, the
// variables it gets, and what must come out.
type wrapCase struct {
	line  string
	stdin string
	fed   bool
	env   map[string]string
	want  string
}

func (c wrapCase) call() commands.Call {
	return commands.Call{Args: wrapWords(c.line), Stdin: c.stdin, Fed: c.fed, Env: func(name string) (string, bool) {
		v, ok := c.env[name]
		return v, ok
	}}
}

// wrapCases reads the file: "$ command", then "< what it is fed" and "+ A=B",
// then "  what comes out".
func wrapCases(t *testing.T) []wrapCase {
	t.Helper()
	text, err := os.ReadFile("testdata/wrap.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []wrapCase
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		kind, rest := line[:min(2, len(line))], line[min(2, len(line)):]
		if kind == "$ " {
			list = append(list, wrapCase{line: rest, env: map[string]string{}})
			continue
		}
		if len(list) == 0 {
			continue
		}
		last := &list[len(list)-1]
		switch kind {
		case "< ":
			last.fed = true
			last.stdin = markNames.Replace(strings.NewReplacer("⏎", "\n", "␀", "\x00").Replace(rest))
		case "+ ":
			name, value, _ := strings.Cut(rest, "=")
			last.env[name] = value
		case "  ":
			last.want = rest
		}
	}
	return list
}

func TestWrapped(t *testing.T) {
	for _, c := range wrapCases(t) {
		u, ok := wrap.Use(c.call())
		if got := showUse(u); !ok || !u.Known || got != c.want {
			t.Errorf("$ %s\n got %s\nwant %s", c.line, got, c.want)
		}
	}
}

// Every row has a case: one that nobody tried is one that nobody read.
func TestWrappedRowsHaveCases(t *testing.T) {
	tried := map[string]bool{}
	for _, c := range wrapCases(t) {
		w := wrapWords(c.line)
		tried[w[0]] = true
		for _, word := range w[1:] {
			tried[w[0]+" "+word] = true
		}
	}
	for _, r := range tableEntries(t) {
		if r.WrapsCommand() && !tried[r.Name] {
			t.Errorf("no case for %s", r.Name)
		}
	}
}

// What is no wrapper, or not with this subcommand, is left to the table.
func TestNotWrapped(t *testing.T) {
	for _, line := range []string{"ls", "npm test", "npm run build", "uv sync", "poetry install", "conda install x", "yarn build", "bundle install", "«any» x", "mise install", "nix build", "pnpm i", "cargo build"} {
		if u, ok := wrap.Use(commands.Call{Args: wrapWords(line)}); ok {
			t.Errorf("%s is taken for a wrapper: %s", line, showUse(u))
		}
	}
	if _, ok := wrap.Use(commands.Call{}); ok {
		t.Error("nothing is taken for a wrapper")
	}
}

// Whatever the words are, reading them ends, and does not grow without bound.
func TestWrappedIsBounded(t *testing.T) {
	long := strings.Repeat("{}", 30000)
	many := slices.Repeat([]string{"x"}, 30000)
	for _, c := range []commands.Call{
		{Args: []string{"xargs", "-I{}", "sh", "-c", long}, Fed: true, Stdin: strings.Repeat("a", 60000) + "\n"},
		{Args: []string{"xargs", "-n1", "rm"}, Fed: true, Stdin: strings.Repeat("a\n", 30000)},
		{Args: append([]string{"find"}, many...)},
		{Args: slices.Concat([]string{"find"}, many, []string{"-exec", "rm", long, ";", "-printf", long})},
		{Args: slices.Concat([]string{"parallel", long, ":::"}, many, []string{":::"}, many, []string{":::"}, many)},
		{Args: []string{"env", strings.Repeat("-S ", 20000)}},
		{Args: append([]string{"env"}, slices.Repeat([]string{"-S", "-S x"}, 20000)...)},
		{Args: []string{"tmux", "if", "x", strings.Repeat("if x ", 10000)}},
		{Args: []string{"hyperfine", "-L", "x", strings.Repeat("a,", 30000), "-L", "y", strings.Repeat("b,", 30000), "{x}{y}"}},
		{Args: append([]string{"make"}, slices.Repeat([]string{"A=../x"}, 20000)...)},
		{Args: []string{"parallel"}, Fed: true, Stdin: strings.Repeat("a\n", 30000)},
		{Args: append([]string{"env"}, append(slices.Repeat([]string{"-i"}, 20000), "-S", "x")...)},
		{Args: append([]string{"sudo"}, slices.Repeat([]string{"A=1", "-n"}, 20000)...)},
		{Args: append([]string{"docker", "run"}, slices.Repeat([]string{"-" + strings.Repeat("t", 50)}, 2000)...)},
		{Args: append([]string{"tmux"}, slices.Repeat([]string{"run", "x", ";"}, 10000)...)},
		{Args: []string{"make", "A=" + strings.Repeat("$(shell ", 8000)}},
		{Args: append([]string{"bash"}, slices.Repeat([]string{"-c"}, 30000)...)},
		{Args: []string{"socat", strings.Repeat("!!EXEC:x", 8000)}},
		{Args: slices.Concat([]string{"find"}, many[:24], slices.Repeat([]string{"-exec", "rm", "{}", ";"}, 10000))},
	} {
		start := time.Now()
		u, _ := wrap.Use(c)
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%.40s takes %v", strings.Join(c.Args, " "), took)
		}
		size := 0
		for _, r := range u.Runs {
			size += len(r.Code) + len(strings.Join(r.Args, " "))
		}
		if len(u.Runs) > 1000 || size > 64<<20 || len(u.Out) > 1<<20 {
			t.Errorf("%.40s: %d runs, %d bytes, prints %d", strings.Join(c.Args, " "), len(u.Runs), size, len(u.Out))
		}
	}
}

// No argument vector makes it panic.
func FuzzWrapped(f *testing.F) {
	for _, r := range tableEntries(f) {
		if r.WrapsCommand() {
			f.Add(r.Name+"\x00-x\x00--\x00a", "b")
		}
	}
	for _, name := range []string{"env", "sudo", "su", "xargs", "parallel", "find", "make", "bash", "fish", "ssh", "tmux", "screen", "docker", "socat", "gdb", "npx", "mise", "nix", "hyperfine", "perf", "crontab"} {
		f.Add(name+"\x00-c\x00"+mark.Any+"\x00{}\x00:::", mark.Inside)
	}
	f.Fuzz(func(t *testing.T, args, stdin string) {
		wrap.Use(commands.Call{Args: strings.Split(args, "\x00"), Stdin: stdin, Fed: stdin != ""})
	})
}
