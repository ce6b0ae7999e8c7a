package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"cordon/internal/journal"
	"cordon/internal/testground"
	"cordon/internal/testkernel"
)

// The scripts in testdata/script drive the real program with the real git, one
// file a topic. The test binary is the program: started as "cordon" it calls run.
func TestMain(m *testing.M) {
	// Most tests wait for other processes and for the disk. -parallel overrules this.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(testground.Tests{M: m, Folder: "cmd/cordon"}, programs)
}

// programs are what the test binary is, by the name that it is started with.
var programs = map[string]func(){
	"cordon": func() {
		os.Exit(run(os.Args[1:], killer(os.Getenv("CORDON_TEST_KILL"))))
	},
	"loopback": loopback,
	"kernel":   func() { os.Exit(testkernel.Main(os.Args[1:])) },
}

// killer ends this process with SIGKILL at one append to the journal: "before:3"
// when the third event of this process is complete but not written, "after:3"
// when it is durable, and "after:gate.done" at the first event of that type. It exists in the
// test binary only.
func killer(spec string) func(journal.Moment, journal.Event) {
	when, which, ok := strings.Cut(spec, ":")
	if !ok {
		return nil
	}
	n, err := strconv.Atoi(which)
	named := err != nil
	seen := 0
	return func(m journal.Moment, e journal.Event) {
		if m.String() != when {
			return
		}
		if seen++; !named && seen == n || named && string(e.Type) == which {
			if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
				panic(err)
			}
			select {}
		}
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	tree := os.Getenv("CORDON_TREE") // the kind of a worker's tree; "" is the default
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		RequireUniqueNames: true,
		Setup:              func(env *testscript.Env) error { env.Setenv("CORDON_TREE", tree); return setup(env) },
		Condition: func(name string) (bool, error) {
			if name == "overlay" {
				return tree != "copy", nil
			}
			return scriptCondition(name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   scriptExits,
			"git":     scriptGit,
			"home":    scriptHome,
			"id":      scriptID,
			"json":    scriptJSON,
			"outside": scriptOutside,
			"sh":      scriptShell,
			"trashed": scriptTrashed,
			"tree":    scriptTree,
		},
	})
}

// onTrees are the tests of this package whose outcome may depend on the kind of a worker's
// tree. The other scripts are about commands, questions, policies and cells without one.
const onTrees = "^TestScripts$/^(acceptance_ends|agents|acceptance|discard|full_disk|gate_conflict|history_forged|layered|overlap|pipeline|purge|quarantine|" +
	"run_emptied|shell|state|worktree)$|^Test(KilledAt|Resume|DiskOf|ShellLeft)"

// TestPlainTrees runs them again, on trees that are plain directories.
func TestPlainTrees(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", onTrees, "-test.timeout", "20m")
	cmd.Env = append(os.Environ(), "CORDON_TREE=copy")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("with CORDON_TREE=copy: %v\n%s", err, out)
	}
}

// setup gives a script a home, a state directory and a git identity of its own.
func setup(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	config := "[user]\n\tname = Operator\n\temail = operator@example.com\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o644); err != nil {
		return err
	}
	plans, err := filepath.Abs("../../internal/plan/testdata")
	if err != nil {
		return err
	}
	env.Setenv("PLANS", plans) // real documents
	env.Setenv("HOME", home)
	env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	return nil
}

// git runs the real git.
func scriptGit(ts *testscript.TestScript, neg bool, args []string) {
	expect(ts, neg, ts.Exec("git", args...))
}

// sh runs a shell line.
func scriptShell(ts *testscript.TestScript, neg bool, args []string) {
	expect(ts, neg, ts.Exec("sh", append([]string{"-c"}, args...)...))
}

func expect(ts *testscript.TestScript, neg bool, err error) {
	if neg && err == nil {
		ts.Fatalf("unexpected success")
	}
	if !neg && err != nil {
		ts.Fatalf("%v", err)
	}
}

var workerName = regexp.MustCompile(`(?m)^\s*(?:"worker": ")?([a-z]+-[a-z]+)\b`)

// id sets a variable (ID unless named) to the worker that the last command
// named on stderr, or failing that on stdout, where a worker of run may print any name.
func scriptID(ts *testscript.TestScript, neg bool, args []string) {
	name := "ID"
	if len(args) == 1 {
		name = args[0]
	}
	for _, stream := range []string{"stderr", "stdout"} {
		if m := workerName.FindStringSubmatch(ts.ReadFile(stream)); m != nil {
			ts.Setenv(name, m[1])
			return
		}
	}
	ts.Fatalf("no worker is named in the last output")
}
