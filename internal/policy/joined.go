package policy

import (
	"slices"
	"strconv"
)

// Joined is the policy of somebody who brings the results of two workers together: it may change
// what either of them may change, everything else only as far as both may, and its result has to
// pass the acceptance commands of both.
func (p Policy) Joined(q Policy) Policy {
	both, _ := p.Within(rightsOf(q))
	f := &both.Filesystem
	f.WriteRoots = union(p.Filesystem.WriteRoots, q.Filesystem.WriteRoots)
	f.ReadRoots = commonPlaces(p.Filesystem.ReadRoots, q.Filesystem.ReadRoots)
	f.Scratch = common(p.Filesystem.Scratch, q.Filesystem.Scratch)
	if q.Filesystem.Outside != Capture {
		f.Outside = q.Filesystem.Outside
	}
	if q.Filesystem.Names.Portable() {
		f.Names = PortableNames
	}
	if q.Filesystem.Cache != LandedCaches {
		f.Cache = q.Filesystem.Cache
	}
	if both.Guard.Mode.Warns() || q.Guard.Mode.IsStrict() {
		both.Guard = q.Guard
	}
	a := &both.Agent
	for _, list := range []struct{ mine, theirs *[]string }{
		{&a.Instructions, &q.Agent.Instructions}, {&a.Skills, &q.Agent.Skills}, {&a.Agents, &q.Agent.Agents},
		{&a.Commands, &q.Agent.Commands}, {&a.MCP, &q.Agent.MCP},
	} {
		*list.mine = common(*list.mine, *list.theirs)
	}
	for _, run := range q.Acceptance {
		both = both.Accepts(run, q.AcceptancePaths[run])
	}
	both.Acceptance = distinct(both.Acceptance)
	return both
}

// rightsOf are the rights that a policy gives, without those to write.
func rightsOf(q Policy) Rights {
	r := AllRights()
	r.Filesystem.DenyRead, r.Filesystem.DenyWrite = q.Filesystem.DenyRead, q.Filesystem.DenyWrite
	r.Network.AllowedDomains = q.Network.AllowedDomains
	r.Network.HostPorts, r.Network.Publish = portTexts(q.Network.HostPorts), portTexts(q.Network.Publish)
	r.Secrets, r.Isolation, r.Cell.Trace = q.Secrets, q.Isolation, q.Cell.Trace
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
