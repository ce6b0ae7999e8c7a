package policy

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
)

// Joined is the policy of somebody who brings the results of two workers together: it may change
// what either of them may change, everything else only as far as both may, and its result has to
// pass the acceptance commands of both.
func (p Policy) Joined(q Policy) Policy {
	both, _ := p.Within(rightsOf(q))
	both.joinFilesystem(p.Filesystem, q.Filesystem)
	both.joinAgent(q.Agent)
	both.joinNetwork(q.Network)
	g := &both.Guard
	g.Mode = stricter(GuardModes(), g.Mode, q.Guard.Mode)
	g.UnknownRead, g.OpaqueCode = stricter(Answers(), g.UnknownRead, q.Guard.UnknownRead), stricter(Answers(), g.OpaqueCode, q.Guard.OpaqueCode)
	both.Git.Pin = p.Git.Pin || q.Git.Pin
	both.Limits.Files = lower(p.Limits.Files, q.Limits.Files)
	both.Gate.Retries = min(p.Gate.Retries, q.Gate.Retries)
	both.Gate.Cache = stricter(Cachings(), p.Gate.Cache, q.Gate.Cache)
	both.Expires = min(p.Expires, q.Expires)
	for _, run := range q.Acceptance {
		both = both.Accepts(run, q.AcceptancePaths[run])
	}
	both.Acceptance = distinct(both.Acceptance)
	return both
}

func (p *Policy) joinFilesystem(a, b Filesystem) {
	f := &p.Filesystem
	f.WriteRoots = union(a.WriteRoots, b.WriteRoots)
	f.ReadRoots = commonPlaces(a.ReadRoots, b.ReadRoots)
	f.Scratch = common(a.Scratch, b.Scratch)
	f.Outside = stricter(Outsides(), a.Outside, b.Outside)
	f.Cache = stricter(Cachings(), a.Cache, b.Cache)
	if b.Names.Portable() {
		f.Names = PortableNames
	}
}

// joinNetwork: what either side records is recorded.
func (p *Policy) joinNetwork(b Network) {
	a := &p.Network
	if a.Observe == Unobserved {
		a.Observe = b.Observe
	}
	a.Limits.Connections = min(cmp.Or(a.Limits.Connections, DefaultConnections), cmp.Or(b.Limits.Connections, DefaultConnections))
	a.Limits.Queries = min(cmp.Or(a.Limits.Queries, DefaultQueries), cmp.Or(b.Limits.Queries, DefaultQueries))
	a.Limits.Bytes = lower(a.Limits.Bytes, b.Limits.Bytes)
}

func (p *Policy) joinAgent(b Agent) {
	a := &p.Agent
	a.Login, a.Refresh = stricter(Logins(), a.Login, b.Login), a.Refresh && b.Refresh
	a.Proof, a.Within = stricter(Proofs(), a.Proof, b.Proof), Duration(min(a.Patience(), b.Patience()))
	for _, list := range []struct{ mine, theirs *[]string }{
		{&a.Instructions, &b.Instructions}, {&a.Skills, &b.Skills}, {&a.Agents, &b.Agents}, {&a.Commands, &b.Commands}, {&a.MCP, &b.MCP},
	} {
		*list.mine = common(*list.mine, *list.theirs)
	}
	a.Args = maps.Clone(a.Args)
	maps.DeleteFunc(a.Args, func(client string, args []string) bool { return !slices.Equal(args, b.Args[client]) })
}

// stricter is the one of two words that comes first in a list, strictest first.
func stricter[T interface {
	~string
	String() string
}](words []T, a, b T) T {
	a, b = T(a.String()), T(b.String())
	if slices.Index(words, b) < slices.Index(words, a) {
		return b
	}
	return a
}

// lower is the lower of two limits; 0 is none.
func lower[T int | Bytes | Duration](a, b T) T {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// rightsOf are the rights that a policy gives, without those to write.
func rightsOf(q Policy) Rights {
	r := AllRights()
	r.Filesystem.DenyRead, r.Filesystem.DenyWrite = q.Filesystem.DenyRead, q.Filesystem.DenyWrite
	r.Network.AllowedDomains = q.Network.AllowedDomains
	if q.Network.Older() {
		r.Network.AllowedDomains = []string{}
	}
	r.Network.HostPorts, r.Network.Publish = portTexts(q.Network.HostPorts), portTexts(q.Network.Publish)
	r.Secrets, r.Isolation, r.Cell.Trace, r.Agent.Web = q.Secrets, q.Isolation, q.Cell.Trace, q.Agent.Web
	r.Limits.Time, r.Limits.Processes = q.Limits.Time, q.Limits.Processes
	r.Limits.Memory, r.Limits.Disk = max(q.Limits.Memory, 0), max(q.Limits.Disk, 0) // not what depends on the machine
	r.Gate.Land, r.Gate.Attempts = q.Gate.Land, q.Gate.Attempts
	return r
}

func portTexts(ports []int) []string {
	texts := []string{}
	for _, port := range ports {
		texts = append(texts, strconv.Itoa(port))
	}
	return texts
}

func union(a, b []string) []string { return distinct(slices.Concat(a, b)) }

func common(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
}

// commonPlaces is common for lists in which / stands for everything.
func commonPlaces(a, b []string) []string {
	switch {
	case slices.Contains(b, "/"):
		return slices.Clone(a)
	case slices.Contains(a, "/"):
		return slices.Clone(b)
	}
	return common(a, b)
}
