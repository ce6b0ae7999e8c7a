package guard

import (
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"cordon/internal/testwait"
)

// The oracle really runs commands of the corpus, and variants of them, each in a
// throw-away world under strace, and compares what they touched with what the
// guard said about them (see world, trace and touch).
//
//   - What the guard allows leaves the worktree nowhere.
//   - What is labelled harmless is allowed, however it is wrapped or quoted.
//
// A refusal of a command that left nothing is no failure: the file may be missing
// here, or the program. It is counted.

// oracleSeed picks the variants that run; CORDON_ORACLE is another, and "all"
// runs everything.
const oracleSeed = "1"

// trial is one command to run.
type trial struct {
	labelled
	variant string // "" is the command of the corpus itself
	plain   string // that command
}

func (t trial) String() string {
	if t.variant == "" {
		return fmt.Sprintf("%s %s: %q", t.ID, t.Category, t.Command)
	}
	return fmt.Sprintf("%s %s, %s: %q", t.ID, t.Category, t.variant, t.Command)
}

// The oracle sees what leaves and nothing else, and what it runs harms nobody.
func TestWorld(t *testing.T) {
	from := copied(t)
	needWorld(t, from)
	for command, want := range map[string]string{
		"cat ../../README.md":                              "cat reads /w/repo/README.md",
		"cat readme-link":                                  "cat reads /w/repo/README.md",
		"cd ../..; touch x":                                "bash enters /w/repo, touch writes /w/repo/x",
		"cd link-out/.. && pwd":                            "",
		"ln -s ../.. up; mkdir up/d":                       "mkdir writes /w/repo/d",
		"(cd ..; cat s2/README.md)":                        "bash enters /w/repo/.worktrees, cat reads /w/repo/.worktrees/s2/README.md",
		"ls -la; git status; git log; pwd; cat /etc/hosts": "",
		"echo x >/tmp/x; cat /tmp/x; rm /tmp/x":            "",
		"mkdir -p /w/repo/.worktrees/s1/a/b":               "",
		"echo x >build/x; git add -A; git commit -qm x":    "",
		"git update-ref refs/heads/main HEAD":              "git writes /w/repo/.git/refs/heads/main.lock",
		"touch /usr/x":                                     "touch writes /usr/x (in vain)",
		"rm -rf /home/agent/.config":                       "rm reads /home/agent/.config, rm writes /home/agent/.config",
		"/w/repo/scripts/run.sh":                           "bash reads /w/repo/scripts/run.sh",
		"cat nothing; nothing":                             "",
		"exec 3<../../list.txt; read x <&3":                "bash reads /w/repo/list.txt",
		"cat 'a \n\t\"b' $'../../\\n'":                     "cat reads /w/repo/\n (in vain)",
		"rm -rf /w /usr/bin /home; true":                   "*",
		"kill -9 -1; cat ../../README.md":                  "*",
	} {
		r, err := run(t.Context(), from, ownTree, command, testwait.Bound) // each of them ends by itself
		if err != nil {
			t.Fatal(err)
		}
		tr := readTrace(r.trace, from, ownTree)
		var got []string
		for _, a := range tr.left() {
			got = append(got, a.String())
		}
		if s := strings.Join(slices.Compact(got), ", "); want != "*" && s != want {
			t.Errorf("%q leaves %q, not %q\n%s", command, s, want, r.output)
		}
		if len(tr.strange) > 0 {
			t.Errorf("%q: %q", command, tr.strange)
		}
	}
	if _, err := os.Stat(from.w + "/other/o.txt"); err != nil {
		t.Error("what ran in a world was kept: ", err)
	}
}

func TestOracle(t *testing.T) {
	from := copied(t)
	needWorld(t, from)
	seed := os.Getenv("CORDON_ORACLE")
	if seed == "" {
		seed = oracleSeed
	}
	o := &oracle{scope: worker(t), from: from, slept: map[string]bool{}, absent: map[string]int{}, excused: map[string]int{}}
	list := trials(t, seed)
	o.all(t, list, func(c trial) bool { return c.variant == "" })
	o.all(t, list, func(c trial) bool { return c.variant != "" && !o.slept[c.ID] }) // a server is waited for once
	t.Logf("seed %s: %s", seed, o)
	if o.caught < 200 || o.clean < 200 {
		t.Errorf("only %d escapes and %d harmless commands were really seen: the oracle has stopped to look", o.caught, o.clean)
	}
}

// all runs some of the trials, as many at once as the machine has processors.
func (o *oracle) all(t *testing.T, list []trial, which func(trial) bool) {
	var group sync.WaitGroup
	queue := make(chan trial)
	for range max(2, runtime.NumCPU()) {
		group.Go(func() {
			for c := range queue {
				o.try(t, c)
			}
		})
	}
	for _, c := range list {
		if which(c) {
			queue <- c
		}
	}
	close(queue)
	group.Wait()
}

// oracleCorpora are the labelled commands, and one of how many runs: of the
// commands and of their variants.
var oracleCorpora = []struct {
	name               string
	commands, variants uint64
}{
	{"testdata/cases.jsonl", 2, 120},
	{"testdata/escapes.jsonl", 24, 1800},
	{"testdata/harmless.jsonl", 24, 1800},
}

// trials are the commands to run: the same for the same seed.
func trials(t testing.TB, seed string) []trial {
	var list []trial
	for _, corpus := range oracleCorpora {
		if _, err := os.Stat(corpus.name); err != nil {
			t.Logf("%s is not there", corpus.name)
			continue
		}
		for _, c := range readCases(t, corpus.name) {
			if c.Tool != "Bash" {
				continue
			}
			if chosen(seed, c.Command, corpus.commands) {
				list = append(list, trial{c, "", c.Command})
			}
			list = append(list, sampled(seed, c, corpus.variants)...)
		}
	}
	return list
}

// sampled are a few variants of a command.
func sampled(seed string, c labelled, n uint64) []trial {
	if c.Cwd != "" && c.Cwd != ownTree {
		return nil // they begin in the worktree
	}
	var list []trial
	for _, v := range append(wrapped(c.Command), quoted(c.Command)...) {
		if chosen(seed, v.name+v.command, n) {
			varied := c
			varied.Command = v.command
			list = append(list, trial{varied, v.name, c.Command})
		}
	}
	return list
}

// chosen picks one of n, by the seed.
func chosen(seed, what string, n uint64) bool {
	h := fnv.New64a()
	h.Write([]byte(seed + "\x00" + what))
	return seed == "all" || h.Sum64()>>20%n == 0
}

// oracle compares, and counts what it saw.
type oracle struct {
	scope                                                    *Scope
	from                                                     moved
	mu                                                       sync.Mutex
	ran, variants, caught, clean, vain, late, missed, alarms int
	slept                                                    map[string]bool // that were ended
	absent, excused                                          map[string]int
}

func (o *oracle) String() string {
	return fmt.Sprintf("%d commands ran, %d of them variants: %d allowed and left nothing, %d refused and would have left, %d refused and left nothing here, %d ended after %v; %d misses, %d false alarms\n  excused: %s\n  not installed: %s",
		o.ran, o.variants, o.clean, o.caught, o.vain, o.late, worldTime, o.missed, o.alarms, counts(o.excused), counts(o.absent))
}

func counts(m map[string]int) string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, fmt.Sprintf("%s %d", k, m[k]))
	}
	return strings.Join(list, ", ")
}

// watch runs a command. One that a busy machine ended before it began runs again.
func (o *oracle) watch(t *testing.T, c trial) (r ran, tr trace, err error) {
	for range 3 {
		if r, err = run(t.Context(), o.from, c.Cwd, c.Command, worldTime); err != nil {
			return r, tr, err
		}
		if tr = readTrace(r.trace, o.from, c.Cwd); len(tr.acts) > 0 {
			break
		}
	}
	return r, tr, nil
}

// try runs a command and compares.
func (o *oracle) try(t *testing.T, c trial) {
	if c.Cwd == "" {
		c.Cwd = ownTree
	}
	d := Decide(o.scope, c.call())
	r, tr, err := o.watch(t, c)
	if err != nil {
		t.Errorf("%v: %v", c, err)
		return
	}
	left := tr.left()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(tr.strange) > 0 || len(tr.acts) == 0 {
		t.Errorf("%v: a trace that is not understood: %d acts, %q", c, len(tr.acts), tr.strange)
	}
	o.count(tr, r, c)
	switch {
	case d.Verdict == Allow && len(left) > 0:
		o.missed++
		t.Errorf("MISSED %v, labelled %s\n  %v", c, c.Expect, left)
	case d.Verdict != Allow && c.Expect == "allow" && c.variant != "" && judged(t, o.scope, c.plain).Verdict != Allow:
		o.vain++ // the command itself is refused, which is reported once
	case d.Verdict != Allow && c.Expect == "allow":
		o.alarms++
		t.Errorf("FALSE ALARM %v\n  %s: %s (left: %v)", c, d.Verdict, d.Reason, left)
	case d.Verdict == Allow:
		o.clean++
	case len(left) > 0:
		o.caught++
	default:
		o.vain++
	}
}

var notFound = regexp.MustCompile(`(?m)(?:^|: )([^\s:]+): (?:command not found|not found)$|failed to run command [‘']([^’']+)[’']: No such file|^(?:env|xargs|find|nohup|setsid|nice|time|stdbuf): [‘']?([^\s:’']+)[’']?: No such file`)

// count adds what is not a verdict.
func (o *oracle) count(tr trace, r ran, c trial) {
	o.ran++
	if c.variant != "" {
		o.variants++
	}
	if r.late {
		o.late++
		o.slept[c.ID] = true
	}
	for _, m := range notFound.FindAllStringSubmatch(r.output, -1) {
		o.absent[m[1]+m[2]+m[3]]++
	}
	why := map[string]bool{}
	for _, a := range tr.acts {
		if _, excuse := outside(a); excuse != "" {
			why[excuse] = true
		}
	}
	for w := range why {
		o.excused[w]++
	}
}
