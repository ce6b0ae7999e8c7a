package policy

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestJoined(t *testing.T) {
	a, b := Default(), Default()
	a.Filesystem.WriteRoots, b.Filesystem.WriteRoots = []string{"src"}, []string{"docs", "src"}
	a.Filesystem.DenyRead, b.Filesystem.DenyRead = []string{"~/.ssh"}, []string{"~/.aws"}
	b.Filesystem.ReadRoots = []string{"/usr"}
	a.Network.AllowedDomains, b.Network.AllowedDomains = []string{"a.example", "b.example"}, []string{"b.example", "c.example"}
	a.Network.HostPorts, b.Network.HostPorts = []int{80, 81}, []int{81}
	a.Secrets, b.Secrets = []string{"A", "B"}, []string{"B"}
	a.Acceptance, b.Acceptance = []string{"make a"}, []string{"make a", "make b"}
	b.Limits.Processes, b.Agent.MCP = 7, []string{}
	for name, got := range map[string]Policy{"one way": a.Joined(b), "the other way": b.Joined(a)} {
		for _, c := range []struct {
			what      string
			got, want []string
		}{
			{"write_roots", got.Filesystem.WriteRoots, []string{"src", "docs"}},
			{"deny_read", got.Filesystem.DenyRead, []string{"~/.ssh", "~/.aws"}},
			{"read_roots", got.Filesystem.ReadRoots, []string{"/usr"}},
			{"domains", got.Network.AllowedDomains, []string{"b.example"}},
			{"ports", portTexts(got.Network.HostPorts), []string{"81"}},
			{"secrets", got.Secrets, []string{"B"}},
			{"mcp", got.Agent.MCP, []string{}},
			{"acceptance", got.Acceptance, []string{"make a", "make b"}},
		} {
			slices.Sort(c.got)
			slices.Sort(c.want)
			if !slices.Equal(c.got, c.want) {
				t.Errorf("%s: %s is %v, and not %v", name, c.what, c.got, c.want)
			}
		}
		if got.Limits.Processes != 7 {
			t.Errorf("%s: %d processes", name, got.Limits.Processes)
		}
		if err := got.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// joins say how every key of a policy is joined: a loose and a strict value of which the strict one wins, whoever
// has it; or no values, if the key gives no right, or if TestJoined is about it.
var joins = map[string][2]any{
	"Version": {}, "AcceptancePaths": {}, "Acceptance": {}, "Setup": {}, "PreserveOnFailure": {},
	"Git.Branch": {}, "Git.Identity.Name": {}, "Git.Identity.Email": {}, "Gate.As": {}, "Gate.Wait": {}, "Network.Via": {},
	"Filesystem.WriteRoots": {}, "Filesystem.DenyRead": {}, "Filesystem.DenyWrite": {}, "Network.AllowedDomains": {},
	"Filesystem.ReadRoots": {[]string{"/"}, []string{"/usr"}},
	"Filesystem.Scratch":   {[]string{"build"}, []string{}},
	"Filesystem.Outside":   {Capture, DenyOutside},
	"Filesystem.Names":     {AnyName, PortableNames},
	"Filesystem.Cache":     {LandedCaches, NoCaches},
	"Network.HostPorts":    {[]int{80}, []int(nil)},
	"Network.Publish":      {[]int{80}, []int(nil)},
	"Network.Observe":      {Unobserved, Observed},

	"Network.Limits.Connections": {2000, 5},
	"Network.Limits.Queries":     {2000, 5},
	"Network.Limits.Bytes":       {Bytes(0), Bytes(5)},

	"Secrets":           {[]string{"A"}, []string{}},
	"Git.Pin":           {false, true},
	"Limits.Time":       {Duration(9e9), Duration(3e9)},
	"Limits.Memory":     {Bytes(0), Bytes(1 << 30)},
	"Limits.Processes":  {0, 7},
	"Limits.Files":      {0, 7},
	"Limits.Disk":       {Bytes(0), Bytes(1 << 30)},
	"Isolation":         {None, Strict},
	"Cell.Trace":        {true, false},
	"Guard.Mode":        {GuardWarn, GuardStrict},
	"Guard.UnknownRead": {AnswerAllow, AnswerDeny},
	"Guard.OpaqueCode":  {AnswerAllow, AnswerAsk},
	"Agent.Login":       {CopyLogin, NoLogin},
	"Agent.Refresh":     {true, false},
	"Agent.Proof":       {ProofReported, ProofRequired},
	"Agent.Within":      {Duration(9e9), Duration(3e9)},
	"Agent.Web":         {true, false},

	"Agent.Instructions": {[]string{PartUser}, []string{}},
	"Agent.Skills":       {[]string{PartUser}, []string{}},
	"Agent.Agents":       {[]string{PartUser}, []string{}},
	"Agent.Commands":     {[]string{PartUser}, []string{}},
	"Agent.MCP":          {[]string{PartUser}, []string{}},
	"Agent.Args":         {map[string][]string{"codex": {"--x"}}, map[string][]string{}},

	"Gate.Land":     {LandAuto, LandReview},
	"Gate.Retries":  {3, 0},
	"Gate.Attempts": {9, 2},
	"Gate.Cache":    {LandedCaches, NoCaches},
	"Expires":       {Duration(9e9), Duration(3e9)},
}

// A key that is not in the table is one that nobody thought of: a resolver could have it from one side alone.
func TestJoinedKeys(t *testing.T) {
	for _, key := range keysOf(reflect.TypeFor[Policy](), "") {
		values, ok := joins[key]
		if !ok {
			t.Errorf("nothing says how %s is joined", key)
		}
		if !ok || values[0] == nil {
			continue
		}
		loose, strict := Default(), Default()
		keyOf(&loose, key).Set(reflect.ValueOf(values[0]))
		keyOf(&strict, key).Set(reflect.ValueOf(values[1]))
		for name, got := range map[string]Policy{"loose with strict": loose.Joined(strict), "strict with loose": strict.Joined(loose)} {
			if v := keyOf(&got, key); !reflect.DeepEqual(v.Interface(), values[1]) && (v.Kind() != reflect.Map || v.Len() > 0) {
				t.Errorf("%s, %s: %v, want %v", key, name, v.Interface(), values[1])
			}
		}
	}
}

// keysOf are the paths of the fields that hold a value.
func keysOf(t reflect.Type, prefix string) (keys []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type.Kind() == reflect.Struct {
			keys = append(keys, keysOf(f.Type, prefix+f.Name+".")...)
			continue
		}
		keys = append(keys, prefix+f.Name)
	}
	return keys
}

func keyOf(p *Policy, key string) reflect.Value {
	v := reflect.ValueOf(p).Elem()
	for _, name := range strings.Split(key, ".") {
		v = v.FieldByName(name)
	}
	return v
}
