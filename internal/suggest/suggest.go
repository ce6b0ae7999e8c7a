// Package suggest proposes changes of a policy from what happened in past runs: refused
// connections and reads, paths outside the write roots, and ignored output. It says the reason for
// each line, and which runs it comes from.
//
// It refuses to change a file, and to hide that a run is in quarantine: what a worker
// tried is what the worker chose. It never suggests a name that is protected, an address
// that hands out keys, or anything that a policy would refuse.
package suggest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/egress/record"
	"cordon/internal/egress/target"
	"cordon/internal/policy"
)

// Run is what is known of one past run.
type Run struct {
	ID          string
	Quarantined bool
	Setup       record.Tally // tried before the worker started
	Worker      record.Tally // tried by the worker, and by acceptance commands
	Findings    []audit.Finding
	Reads       map[string]int  // entries of read_roots that would have allowed refused reads → how often
	Tracked     map[string]bool // files of the base commit, and the directories above them
}

// Line is one change of a policy.
type Line struct {
	Key    string   // such as network.allowed_domains
	Value  string   // an entry of the list
	Remove bool     // the entry goes
	Reason string   // in one line
	Runs   []string // that it comes from
}

// The keys that are suggested.
const (
	roots   = "filesystem.write_roots"
	reads   = "filesystem.read_roots"
	scratch = "filesystem.scratch"
	domains = "network.allowed_domains"
	ports   = "network.host_ports"
)

// From proposes changes of a policy.
func From(p policy.Policy, runs []Run) []Line {
	c := collector{policy: p, lines: map[string]*Line{}}
	rules, err := policy.Compile(p, policy.Location{Worktree: "/worktree", Home: "/home"})
	if err != nil {
		return nil
	}
	c.rules = rules
	for _, r := range runs {
		c.run = r
		c.network(r.Setup, "setup of "+r.ID)
		c.network(r.Worker, r.ID)
		c.output()
		c.reading()
	}
	c.widen(runs)
	c.narrow(runs)
	return c.sorted()
}

// collector gathers lines, each once.
type collector struct {
	policy policy.Policy
	rules  policy.Rules
	run    Run
	lines  map[string]*Line
}

func (c *collector) add(l Line) {
	l.Runs = []string{c.run.ID}
	if have := c.lines[l.Key+"\x00"+l.Value]; have != nil {
		if !slices.Contains(have.Runs, c.run.ID) {
			have.Runs = append(have.Runs, c.run.ID)
		}
		return
	}
	if c.run.Quarantined {
		l.Reason += " (in quarantine)"
	}
	c.lines[l.Key+"\x00"+l.Value] = &l
}

// network proposes what was refused, by who tried it.
func (c *collector) network(t record.Tally, who string) {
	times := map[string]int{}
	for _, one := range t.Tried {
		if one.Verdict == record.Refused {
			times[one.Allow] += one.Count
		}
	}
	allowed := c.policy.Network.AllowedDomains
	byPreset := map[string][]string{}
	for _, entry := range t.Suggest() {
		switch preset := target.PresetOf(entry); {
		case slices.Contains(allowed, entry) || preset != "" && slices.Contains(allowed, preset):
		case preset != "":
			byPreset[preset] = append(byPreset[preset], entry)
		default:
			c.add(Line{Key: domains, Value: entry, Reason: fmt.Sprintf("%s was refused it%s", who, often(times[entry]))})
		}
	}
	for preset, entries := range byPreset {
		c.add(Line{Key: domains, Value: preset, Reason: presetReason(who, preset, entries, times)})
	}
	for _, port := range t.SuggestPorts() {
		if !slices.Contains(c.policy.Network.HostPorts, port) {
			value := strconv.Itoa(port)
			c.add(Line{Key: ports, Value: value, Reason: fmt.Sprintf("%s was refused port %s of this machine%s", who, value, often(times[":"+value]))})
		}
	}
}

// reading proposes places outside the worktree that the guard refused to show.
func (c *collector) reading() {
	for _, root := range slices.Sorted(maps.Keys(c.run.Reads)) {
		if !slices.Contains(c.policy.Filesystem.ReadRoots, root) {
			c.add(Line{Key: reads, Value: root, Reason: fmt.Sprintf("%s could not read there%s", c.run.ID, often(c.run.Reads[root]))})
		}
	}
}

// presetReason names every domain that a preset opens: those that were refused, and the others.
func presetReason(who, preset string, refused []string, times map[string]int) string {
	var tried, more []string
	for _, d := range target.PresetDomains(preset) {
		if slices.Contains(refused, d) {
			tried = append(tried, d+often(times[d]))
		} else {
			more = append(more, d)
		}
	}
	reason := who + " was refused " + strings.Join(tried, ", ")
	if len(more) > 0 {
		reason += " (it also opens " + strings.Join(more, ", ") + ")"
	}
	return reason
}

func often(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" %d times", n)
}

func (c *collector) sorted() []Line {
	order := []string{roots, scratch, domains, ports}
	list := make([]Line, 0, len(c.lines))
	for _, l := range c.lines {
		if n := len(l.Runs); n > 1 {
			l.Reason += fmt.Sprintf(", and %d more", n-1)
		}
		list = append(list, *l)
	}
	slices.SortFunc(list, func(a, b Line) int {
		if d := slices.Index(order, a.Key) - slices.Index(order, b.Key); d != 0 {
			return d
		}
		return strings.Compare(a.Value, b.Value)
	})
	return list
}

// Quarantined are the runs in quarantine that lines come from.
func Quarantined(lines []Line, runs []Run) []string {
	bad := map[string]bool{}
	for _, r := range runs {
		if r.Quarantined {
			bad[r.ID] = true
		}
	}
	used := map[string]bool{}
	for _, l := range lines {
		for _, id := range l.Runs {
			if bad[id] {
				used[id] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(used))
}
