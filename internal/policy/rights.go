package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"cordon/internal/reach"
	"cordon/internal/strictyaml"
)

// Rights are the most that a worker may have, whatever a policy says. They stand in the
// operator's configuration, under the keys of a policy. The zero value opens no network and
// no secret; AllRights bound nothing.
type Rights struct {
	Filesystem struct {
		DenyRead  []string `json:"deny_read"`
		DenyWrite []string `json:"deny_write"`
	} `json:"filesystem"`
	Network struct {
		AllowedDomains []string `json:"allowed_domains"` // or any
		HostPorts      []string `json:"host_ports"`      // or any
		Publish        []string `json:"publish"`         // or any
	} `json:"network"`
	Secrets []string `json:"secrets"` // or any
	Limits  struct {
		Time      Duration `json:"time"` // zero: no bound, as for the others
		Memory    Bytes    `json:"memory"`
		Processes int      `json:"processes"`
		Disk      Bytes    `json:"disk"`
	} `json:"limits"`
	Isolation Isolation `json:"isolation"` // the weakest
	Cell      struct {
		Trace bool `json:"trace"`
	} `json:"cell"`
	Agent struct {
		Web bool `json:"web"`
	} `json:"agent"`
	Gate struct {
		Land     Land `json:"land"`
		Attempts int  `json:"attempts"`
	} `json:"gate"`
}

// Anything is the entry of a list that bounds nothing.
const Anything = "any"

// AllRights bound nothing.
func AllRights() Rights {
	var r Rights
	r.Filesystem.DenyRead, r.Filesystem.DenyWrite = []string{}, []string{}
	r.Network.AllowedDomains, r.Network.HostPorts, r.Network.Publish = []string{Anything}, []string{Anything}, []string{Anything}
	r.Secrets, r.Cell.Trace, r.Agent.Web = []string{Anything}, true, true
	r.Isolation, r.Gate.Land, r.Gate.Attempts = None, LandAuto, maxAttempts
	return r
}

// RightsFields are the keys of Rights, as a section of a T.
func RightsFields[T any](of func(*T) *Rights) []strictyaml.Field[T] {
	seq := func(key, doc string, list func(*Rights) *[]string, check func(string) (string, error)) strictyaml.Field[T] {
		return strictyaml.Sequence(key, doc, func(t *T) *[]string { return list(of(t)) }, func(n *yaml.Node) ([]string, error) {
			entries, err := strictyaml.ReadList(n, check)
			return distinct(entries), err
		})
	}
	return []strictyaml.Field[T]{
		strictyaml.Section("filesystem", "Paths, as in a policy.", []strictyaml.Field[T]{
			seq("deny_read", "Paths that no worker may read, beside those of its policy.",
				func(r *Rights) *[]string { return &r.Filesystem.DenyRead }, checkDenyRead),
			seq("deny_write", "Paths that no worker may write, beside those of its policy.",
				func(r *Rights) *[]string { return &r.Filesystem.DenyWrite }, checkPath(inTree, climbing, home, absolute)),
		}),
		strictyaml.Section("network", "What workers may reach.", []strictyaml.Field[T]{
			seq("allowed_domains", "Servers that a worker may reach if its policy names them too, with the entries of a policy, or any. "+
				"Name the presets of your clients here as well.",
				func(r *Rights) *[]string { return &r.Network.AllowedDomains }, orAny(checkDomain)),
			boundPorts("host_ports", "Ports of this machine that a worker may connect to if its policy names them too, or any.",
				func(t *T) *[]string { return &of(t).Network.HostPorts }),
			boundPorts("publish", "Ports of a worker that may be published on this machine's loopback if its policy names them too, or any.",
				func(t *T) *[]string { return &of(t).Network.Publish }),
		}),
		seq("secrets", "Environment variables that a worker may get if its policy names them, or any.",
			func(r *Rights) *[]string { return &r.Secrets }, orAny(checkVariable)),
		strictyaml.Section("limits", "The largest limits.", rightsLimits(of)),
		strictyaml.Scalar("isolation", "The weakest isolation: strict, degraded or none. Without this key, a repository's policy with a weaker one than strict is "+
			"refused until you agree to it for that repository (cordon config share isolation:none); the policy that --policy names is not bounded.",
			func(t *T) *Isolation { return &of(t).Isolation }, readIsolation, Isolation.String),
		strictyaml.Section("cell", "What processes in a cell may do to each other.", []strictyaml.Field[T]{
			strictyaml.Scalar("trace", "false: no processes of a cell trace each other, whatever a policy says. true: the policy decides.",
				func(t *T) *bool { return &of(t).Cell.Trace }, strictyaml.ReadBool, strconv.FormatBool),
		}),
		strictyaml.Section("agent", "What agent clients may do.", []strictyaml.Field[T]{
			strictyaml.Scalar("web", "false: no client searches or fetches from its maker's servers, whatever a policy says. true: the policy decides.",
				func(t *T) *bool { return &of(t).Agent.Web }, strictyaml.ReadBool, strconv.FormatBool),
		}),
		strictyaml.Section("gate", "What happens to results.", []strictyaml.Field[T]{
			strictyaml.Scalar("land", "review: no result lands by itself, whatever a policy says. careful: none that changes tests, CI or build files. "+
				"cordon run --merge is your own word and lands it. auto: the policy decides.",
				func(t *T) *Land { return &of(t).Gate.Land }, readLand, Land.String),
			strictyaml.Scalar("attempts", "The most attempts that a policy may allow.",
				func(t *T) *int { return &of(t).Gate.Attempts }, readUpTo(maxAttempts), strconv.Itoa),
		}),
	}
}

func rightsLimits[T any](of func(*T) *Rights) []strictyaml.Field[T] {
	return []strictyaml.Field[T]{
		strictyaml.Scalar("time", "The longest run: 4h, or none for no bound.",
			func(t *T) *Duration { return &of(t).Limits.Time }, readBoundTime, func(d Duration) string {
				if d == 0 {
					return noLimit
				}
				return d.String()
			}),
		strictyaml.Scalar("memory", "The most memory: 8GiB, or none for no bound.",
			func(t *T) *Bytes { return &of(t).Limits.Memory }, readBytes, Bytes.String),
		strictyaml.Scalar("processes", "The most processes: a number, or none for no bound.",
			func(t *T) *int { return &of(t).Limits.Processes }, readCount("processes"), showCount),
		strictyaml.Scalar("disk", "The most disk space: 50GiB, or none for no bound.",
			func(t *T) *Bytes { return &of(t).Limits.Disk }, readBytes, Bytes.String),
	}
}

// orAny accepts the word any too.
func orAny(check func(string) (string, error)) func(string) (string, error) {
	return func(s string) (string, error) {
		if s == Anything {
			return s, nil
		}
		return check(s)
	}
}

func boundPorts[T any](key, doc string, of func(*T) *[]string) strictyaml.Field[T] {
	f := strictyaml.Sequence(key, doc, of, readBoundPorts)
	f.Show = func(t T) strictyaml.Shown { return strictyaml.Shown{IsList: true, Bare: true, List: *of(&t)} }
	return f
}

// readBoundPorts reads ports, or the word any in their place.
func readBoundPorts(n *yaml.Node) ([]string, error) {
	if n.Kind == yaml.SequenceNode && len(n.Content) == 1 && n.Content[0].Kind == yaml.ScalarNode && n.Content[0].Value == Anything {
		return []string{Anything}, nil
	}
	list, err := readPorts(n)
	texts := []string{}
	for _, port := range list {
		texts = append(texts, strconv.Itoa(port))
	}
	return texts, err
}

func readBoundTime(n *yaml.Node) (Duration, error) {
	if n.Kind == yaml.ScalarNode && n.Value == noLimit {
		return 0, nil
	}
	return readDuration(n)
}

// Within is a policy with no more than the rights allow, and what it lost, for a person.
// A policy that asks for no more stays as it is.
func (p Policy) Within(r Rights) (Policy, []string) {
	n := narrowing{p: p, r: r}
	for _, one := range []func(*narrowing){
		(*narrowing).filesystem, (*narrowing).network, (*narrowing).secrets, (*narrowing).limits, (*narrowing).isolation, (*narrowing).cell,
		(*narrowing).agent, (*narrowing).gate,
	} {
		one(&n)
	}
	return n.p, n.lost
}

// Meet are the rights that both r and o give.
func (r Rights) Meet(o Rights) Rights {
	r.Filesystem.DenyRead = union(r.Filesystem.DenyRead, o.Filesystem.DenyRead)
	r.Filesystem.DenyWrite = union(r.Filesystem.DenyWrite, o.Filesystem.DenyWrite)
	r.Network.AllowedDomains = meetLists(r.Network.AllowedDomains, o.Network.AllowedDomains, func(a, b []string) []string {
		kept, _ := meetAll(a, Network{AllowedDomains: b}.Expanded().AllowedDomains)
		return kept
	})
	r.Network.HostPorts = meetLists(r.Network.HostPorts, o.Network.HostPorts, common)
	r.Network.Publish = meetLists(r.Network.Publish, o.Network.Publish, common)
	r.Secrets = meetLists(r.Secrets, o.Secrets, common)
	r.Limits.Time = lower(r.Limits.Time, o.Limits.Time)
	r.Limits.Memory, r.Limits.Disk = lower(r.Limits.Memory, o.Limits.Memory), lower(r.Limits.Disk, o.Limits.Disk)
	r.Limits.Processes = lower(r.Limits.Processes, o.Limits.Processes)
	r.Isolation = stricter(Isolations(), r.Isolation, o.Isolation)
	r.Cell.Trace, r.Agent.Web = r.Cell.Trace && o.Cell.Trace, r.Agent.Web && o.Agent.Web
	r.Gate.Land = stricter(Lands(), r.Gate.Land, o.Gate.Land)
	r.Gate.Attempts = min(r.Gate.Attempts, o.Gate.Attempts)
	return r
}

// meetLists is what two lists of rights allow, of which either may bound nothing.
func meetLists(a, b []string, meet func(a, b []string) []string) []string {
	switch {
	case slices.Contains(b, Anything):
		return a
	case slices.Contains(a, Anything):
		return b
	}
	return meet(a, b)
}

// narrowing is a policy on its way to what the rights allow.
type narrowing struct {
	p    Policy
	r    Rights
	lost []string
}

func (n *narrowing) loses(format string, args ...any) {
	n.lost = append(n.lost, fmt.Sprintf(format, args...))
}

// filesystem adds the paths that are denied to everybody.
func (n *narrowing) filesystem() {
	add := func(key string, have, more []string) []string {
		missing := slices.DeleteFunc(slices.Clone(more), func(s string) bool { return slices.Contains(have, s) })
		if len(missing) == 0 {
			return have
		}
		n.loses("%s: %s", key, strings.Join(missing, ", "))
		return append(slices.Clone(have), missing...)
	}
	f := &n.p.Filesystem
	f.DenyRead = add("filesystem.deny_read", f.DenyRead, n.r.Filesystem.DenyRead)
	f.DenyWrite = add("filesystem.deny_write", f.DenyWrite, n.r.Filesystem.DenyWrite)
}

func (n *narrowing) network() {
	if bound := n.r.Network.AllowedDomains; !slices.Contains(bound, Anything) {
		kept, dropped := meetAll(n.p.Network.AllowedDomains, Network{AllowedDomains: bound}.Expanded().AllowedDomains)
		if len(dropped) > 0 {
			n.loses("network.allowed_domains: without %s", strings.Join(dropped, ", "))
			n.p.Network.AllowedDomains = kept
		}
	}
	n.p.Network.HostPorts = n.ports("host_ports", n.p.Network.HostPorts, n.r.Network.HostPorts)
	n.p.Network.Publish = n.ports("publish", n.p.Network.Publish, n.r.Network.Publish)
}

// ports are those that the bound names too.
func (n *narrowing) ports(key string, asked []int, bound []string) (kept []int) {
	if slices.Contains(bound, Anything) {
		return asked
	}
	for _, port := range asked {
		if slices.Contains(bound, strconv.Itoa(port)) {
			kept = append(kept, port)
			continue
		}
		n.loses("network.%s: without %d", key, port)
	}
	return kept
}

func (n *narrowing) agent() {
	if n.p.Agent.Web && !n.r.Agent.Web {
		n.loses("agent.web: false instead of true")
		n.p.Agent.Web = false
	}
}

func (n *narrowing) cell() {
	if n.p.Cell.Trace && !n.r.Cell.Trace {
		n.loses("cell.trace: false instead of true")
		n.p.Cell.Trace = false
	}
}

func (n *narrowing) secrets() {
	if slices.Contains(n.r.Secrets, Anything) {
		return
	}
	kept := []string{}
	for _, name := range n.p.Secrets {
		if slices.Contains(n.r.Secrets, name) {
			kept = append(kept, name)
			continue
		}
		n.loses("secrets: without %s", name)
	}
	n.p.Secrets = kept
}

// limits lowers limits to the bounds. No limit is more than any number. A limit that depends on
// the machine is left alone: it is a number before a lease is made.
func (n *narrowing) limits() {
	have, most := &n.p.Limits, n.r.Limits
	if most.Time > 0 && have.Time > most.Time {
		n.loses("limits.time: %s instead of %s", most.Time, have.Time)
		have.Time = most.Time
	}
	for _, one := range []struct {
		key        string
		have, most *Bytes
	}{{"memory", &have.Memory, &most.Memory}, {"disk", &have.Disk, &most.Disk}} {
		if *one.most > 0 && (*one.have == 0 || *one.have > *one.most) {
			n.loses("limits.%s: %s instead of %s", one.key, *one.most, *one.have)
			*one.have = *one.most
		}
	}
	if most.Processes > 0 && (have.Processes == 0 || have.Processes > most.Processes) {
		n.loses("limits.processes: %d instead of %s", most.Processes, showCount(have.Processes))
		have.Processes = most.Processes
	}
}

func (n *narrowing) isolation() {
	if isolationRank(n.p.Isolation) > isolationRank(n.r.Isolation) {
		n.loses("isolation: %s instead of %s", n.r.Isolation, n.p.Isolation)
		n.p.Isolation = Isolation(n.r.Isolation.String())
	}
}

// isolationRank orders isolations, the strictest first.
func isolationRank(i Isolation) int { return slices.Index(Isolations(), Isolation(i.String())) }

func (n *narrowing) gate() {
	if most := stricter(Lands(), n.p.Gate.Land, n.r.Gate.Land); most.String() != n.p.Gate.Land.String() {
		n.loses("gate.land: %s instead of %s", most, n.p.Gate.Land)
		n.p.Gate.Land = most
	}
	if n.p.Gate.Attempts > n.r.Gate.Attempts {
		n.loses("gate.attempts: %d instead of %d", n.r.Gate.Attempts, n.p.Gate.Attempts)
		n.p.Gate.Attempts = n.r.Gate.Attempts
	}
}

// meetAll is what both lists of hosts open, and the entries of the first that lost
// something. A preset stays one if nothing of it is lost.
func meetAll(asked, bound []string) (kept, dropped []string) {
	kept = []string{}
	for _, entry := range asked {
		parts := Network{AllowedDomains: []string{entry}}.Expanded().AllowedDomains
		var open []string
		whole := true
		for _, part := range parts {
			met := meetAny(part, bound)
			if !slices.Equal(met, []string{part}) {
				whole = false
				dropped = append(dropped, part)
			}
			open = append(open, met...)
		}
		if whole {
			open = []string{entry}
		}
		kept = append(kept, open...)
	}
	return distinct(kept), dropped
}

// meetAny is the part of an entry that the bound opens too.
func meetAny(entry string, bound []string) []string {
	e, err := reach.ParseDomain(entry)
	if err != nil {
		return nil
	}
	var list []string
	for _, s := range bound {
		b, err := reach.ParseDomain(s)
		if err != nil {
			continue
		}
		if both, ok := e.Meet(b); ok {
			list = append(list, both.String())
		}
	}
	if slices.Contains(list, entry) {
		return []string{entry}
	}
	return distinct(list)
}
