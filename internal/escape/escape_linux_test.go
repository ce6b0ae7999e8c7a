package escape_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cordon/internal/escape"
	"cordon/internal/escape/arena"
	"cordon/internal/testground"
	"cordon/internal/testkernel"
)

var (
	attempts = flag.String("attempts", "", "only the attempts whose name matches")
	controls = flag.Bool("controls", false, "only the controls, without cordon")
)

// TestMain lets this program also be the attack that is run inside.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "attempt" {
		os.Exit(escape.Main(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "kernel" {
		os.Exit(testkernel.Main(os.Args[2:]))
	}
	os.Exit(testground.Run("internal/escape", m))
}

// place is a directory for fixtures, with a cordon in it.
func place(t *testing.T) (dir, cordon string) {
	t.Helper()
	dir, err := escape.Place()
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if cordon = os.Getenv("CORDON_ESCAPE_PROGRAM"); cordon != "" || *controls {
		return dir, cordon
	}
	watchSources(t)
	cordon = filepath.Join(dir, "cordon")
	if out, err := exec.Command("go", "build", "-o", cordon, "cordon/cmd/cordon").CombinedOutput(); err != nil {
		t.Fatalf("cordon cannot be built here (CORDON_ESCAPE_PROGRAM can name one): %v: %s", err, out)
	}
	return dir, cordon
}

// watchSources looks at every file that cordon is built of: go test then knows
// that its cached answer is about them, although this test does not import them.
func watchSources(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"../../cmd", "../../internal", "../../go.sum"} {
		err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") {
				return err
			}
			_, err = os.Stat(path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestEscape(t *testing.T) {
	dir, cordon := place(t)
	o := escape.Options{Dir: dir, Confine: escape.Exec(cordon), Pick: quick}
	try(t, o, 130, 90)
}

func quick(a arena.Attempt) bool { return a.Quick }

// Everything, on this kernel; the quick attempts with the system calls of older ones, and all of them in .ci/full.
func TestEscapeAll(t *testing.T) {
	dir, cordon := place(t)
	known := try(t, escape.Options{Dir: shortDirectory(t, dir, "0"), Confine: escape.Exec(cordon)}, 480, 330)
	if *controls {
		return
	}
	socket := filepath.Join(t.TempDir(), "socket")
	stop, err := testkernel.Serve(socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop() })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var pick func(arena.Attempt) bool
	asRoot, asUser := 480, 330
	if testground.Wanted() != testground.Full {
		pick, asRoot, asUser = quick, 130, 90
	}
	for _, kernel := range []string{"5.13", "5.15", "6.1"} {
		t.Run("Linux "+kernel, func(t *testing.T) {
			confine := func(policy string) []string {
				return append([]string{self, "kernel", kernel, socket}, escape.Exec(cordon)(policy)...)
			}
			try(t, escape.Options{Dir: shortDirectory(t, dir, kernel), Confine: confine, Known: known, Pick: pick}, asRoot, asUser)
		})
	}
}

// try runs attempts and fails on every escape, and when fewer were really tested
// than asked for: that would be a suite that has stopped to look.
func try(t *testing.T, o escape.Options, asRoot, asUser int) []escape.Result {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o.Attack = []string{self, "attempt"}
	if *controls {
		o.Confine = nil
	}
	if *attempts != "" {
		pattern := regexp.MustCompile(*attempts)
		o.Pick = func(a arena.Attempt) bool { return pattern.MatchString(a.Name) }
	}
	results, err := escape.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	report(t, results)
	want := asUser
	if os.Getuid() == 0 {
		want = asRoot
	}
	if n := escape.Count(results, escape.Held) + escape.Count(results, escape.Escaped); *attempts == "" && !*controls && n < want {
		t.Errorf("only %d attempts were really tested; %d have to be", n, want)
	}
	return results
}

func report(t *testing.T, results []escape.Result) {
	t.Helper()
	sorted := escape.Sorted(results)
	for _, r := range sorted {
		if testing.Verbose() && (*attempts != "" || *controls || r.Verdict != escape.Held) {
			t.Logf("%-10s  %-40s  %s: %s", r.Verdict, r.Attempt.Name, r.Works(), r.Detail)
		}
		if r.Control == escape.NotTested {
			t.Logf("%s: not tested: %s", r.Attempt.Name, r.Detail)
		}
	}
	for _, r := range sorted { // last, where the end of a long log shows them
		if r.NeedsAttention() {
			t.Errorf("%s: %s: %s (%s)", r.Attempt.Name, r.Verdict, r.Detail, r.Attempt.What)
		}
	}
	t.Log(escape.Summary(results), escape.Untested(results))
}

// Every attempt has a name of its own and says what it is.
func TestAttemptsAreNamed(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range escape.Attempts() {
		if seen[a.Name] || a.What == "" || !strings.HasPrefix(a.Name, a.Group+"-") {
			t.Errorf("%+v", a)
		}
		seen[a.Name] = true
	}
	if len(seen) < 150 {
		t.Errorf("there are only %d", len(seen))
	}
}

// The positive control of the suite itself: a confinement that confines nothing
// is found out, and one that lets nothing begin is not taken for one that holds.
func TestTheSuiteIsNotFooled(t *testing.T) {
	dir, err := escape.Place()
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`^(files-write|secrets-home-ssh-key|processes-kill|ipc-stream|processes-survive-session|git-linked-01-fsmonitor|descriptors-stderr-reopen|git-launch-hook)$`)
	for _, c := range []struct {
		name    string
		confine []string
		want    escape.Verdict
		died    bool
	}{
		{"nothing", []string{"/usr/bin/env", "--"}, escape.Escaped, false},
		{"everything", []string{"/bin/false"}, escape.NotTested, true},
		{"a program that only complains", []string{"/bin/sh", "-c", "echo no such file >&2; exit 127"}, escape.NotTested, true},
	} {
		results, err := escape.Run(t.Context(), escape.Options{
			Dir: subdirectory(t, dir), Attack: []string{self, "attempt"},
			Confine: func(string) []string { return c.confine },
			Pick:    func(a arena.Attempt) bool { return names.MatchString(a.Name) },
		})
		if err != nil || len(results) != 8 {
			t.Fatal(len(results), err)
		}
		for _, r := range results {
			if r.Control != escape.Escaped || r.Verdict != c.want || r.Died != c.died {
				t.Errorf("confined by %s: %s: control %s, verdict %s (%s)", c.name, r.Attempt.Name, r.Control, r.Verdict, r.Detail)
			}
		}
	}
}

// shortDirectory makes a directory with a short name: the paths of sockets in it are
// bounded.
func shortDirectory(t *testing.T, dir, name string) string {
	t.Helper()
	sub := filepath.Join(dir, name)
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	return sub
}

func subdirectory(t *testing.T, dir string) string {
	t.Helper()
	sub, err := os.MkdirTemp(dir, "run-")
	if err != nil {
		t.Fatal(err)
	}
	return sub
}
