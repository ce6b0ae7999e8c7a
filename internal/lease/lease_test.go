package lease

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"cordon/internal/git"
	"cordon/internal/policy"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

func sample() Lease {
	p := policy.Default()
	p.Filesystem.WriteRoots = []string{"src", "docs"}
	p.Acceptance = []string{"make test <in >out && true"}
	return Lease{
		Terms: Terms{
			ID: "brisk-otter", Branch: "cordon/brisk-otter", Base: git.OID(strings.Repeat("ab", 20)), Target: "refs/heads/main",
			Created: began, Expires: began.Add(time.Hour), Source: "cordon.yaml at ababababab", Policy: p,
		},
		Place: Place{Worktree: "/state/trees/brisk-otter", Home: "/home/op"},
	}
}

func seal(t *testing.T, l Lease) Sealed {
	t.Helper()
	s, err := Seal(l)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// hashOf is the hash that would be recorded for these bytes: of the place, if they have one.
func hashOf(b []byte) string {
	var whole envelope
	if json.Unmarshal(b, &whole) != nil || whole.Place == nil {
		return sum(b)
	}
	return sum(whole.Place)
}

// forged are the bytes with a place that names their terms, whatever these are: as
// somebody would write them who can compute a hash.
func forged(text string) []byte {
	var whole envelope
	var place struct{ Terms string }
	if json.Unmarshal([]byte(text), &whole) != nil || json.Unmarshal(whole.Place, &place) != nil || place.Terms == "" {
		return []byte(text)
	}
	return []byte(strings.ReplaceAll(text, place.Terms, sum(whole.Terms)))
}

func TestSealAndOpen(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Lease){
		"sample":     func(*Lease) {},
		"adopted":    func(l *Lease) { l.Adopted = true },
		"folds":      func(l *Lease) { l.Fold = true },
		"local time": func(l *Lease) { l.Created = l.Created.In(time.FixedZone("x", 3600)) },
		"odd paths":  func(l *Lease) { l.Worktree = "/a b/<&>/ünï\u2028/x\ny" },
		"no roots":   func(l *Lease) { l.Policy.Filesystem.WriteRoots = []string{} },
		"network": func(l *Lease) {
			l.Policy.Network = policy.Network{AllowedDomains: []string{"a.example", "@pypi"}, HostPorts: []int{5432}, Via: policy.Proxy, Observe: policy.Observed,
				Limits: policy.NetworkLimits{Connections: 1, Queries: 2, Bytes: 3}}
		},
		"sha256": func(l *Lease) { l.Base = git.OID(strings.Repeat("ab", 32)) },
	} {
		l := sample()
		change(&l)
		s := seal(t, l)
		got, err := Open(s.Bytes(), s.Hash())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(got.Lease(), s.Lease()) || got.Hash() != s.Hash() || got.PolicyHash() != s.PolicyHash() || !bytes.Equal(got.Bytes(), s.Bytes()) {
			t.Errorf("%s: opened as\n%+v\nsealed as\n%+v", name, got.Lease(), s.Lease())
		}
		if again := seal(t, s.Lease()); again.Hash() != s.Hash() {
			t.Errorf("%s: sealing it again changes the hash", name)
		}
	}
}

// A lease holds the domains that its presets stood for, and nobody who holds it
// can change them.
func TestSealWritesPresetsOut(t *testing.T) {
	t.Parallel()
	l := sample()
	l.Policy.Network.AllowedDomains = []string{"a.example", "@crates", "a.example:22"}
	l.Policy.Network.HostPorts = []int{5432}
	s := seal(t, l)
	l.Policy.Network.HostPorts[0] = 22
	s.Lease().Policy.Network.HostPorts[0] = 22
	n := s.Lease().Policy.Network
	want := []string{"a.example", "index.crates.io", "static.crates.io", "a.example:22"}
	if !reflect.DeepEqual(n.AllowedDomains, want) || n.HostPorts[0] != 5432 || strings.Contains(string(s.Bytes()), "@crates") {
		t.Errorf("sealed with %q and %v", n.AllowedDomains, n.HostPorts)
	}
	if l.Policy.Network.AllowedDomains[1] != "@crates" {
		t.Error("the policy that it was made from was changed")
	}
}

// No byte of a sealed lease can be changed: not under its own hash, and not under
// a new one unless what comes out is a lease in canonical form.
func TestEveryByteCounts(t *testing.T) {
	t.Parallel()
	s := seal(t, sample())
	whole := s.Bytes()
	for i := range whole {
		for _, flip := range []byte{0x01, 0x20, 0x80} {
			b := bytes.Clone(whole)
			b[i] ^= flip
			if _, err := Open(b, s.Hash()); err == nil {
				t.Fatalf("byte %d (%q) was changed to %q unnoticed", i, whole[i], b[i])
			}
			// With the hash recomputed, as somebody who can write both would.
			if got, err := Open(b, hashOf(b)); err == nil && !bytes.Equal(got.Bytes(), b) {
				t.Fatalf("byte %d: opened as another lease than was given", i)
			}
		}
	}
	for _, hash := range []string{"", strings.ToUpper(s.Hash()), s.Hash()[:63], s.Hash() + "0", hashOf(nil)} {
		if _, err := Open(whole, hash); err == nil {
			t.Errorf("opened with the hash %q", hash)
		}
	}
}

// The place names its terms: neither part can be put beside another.
func TestPartsBelongTogether(t *testing.T) {
	t.Parallel()
	mine := seal(t, sample())
	other := sample()
	other.Policy.Filesystem.WriteRoots = []string{"."}
	wider := seal(t, other)
	var a, b envelope
	for s, into := range map[*Sealed]*envelope{&mine: &a, &wider: &b} {
		if err := json.Unmarshal(s.Bytes(), into); err != nil {
			t.Fatal(err)
		}
	}
	mixed, err := encode(envelope{Schema: Schema, Terms: b.Terms, Place: a.Place})
	if err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func([]byte, string) (Sealed, error){"Open": Open, "Recall": Recall} {
		if _, err := read(mine.Bytes(), mine.Hash()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s, err := read(mixed, mine.Hash()); err == nil || !strings.Contains(err.Error(), "names other terms") {
			t.Errorf("%s: %+v, %v", name, s.Lease(), err)
		}
	}
	elsewhere := sample()
	elsewhere.Worktree = "/elsewhere"
	if moved := seal(t, elsewhere); moved.Lease().Place.Terms != mine.Lease().Place.Terms || moved.Hash() == mine.Hash() {
		t.Error("terms depend on their place, or the hash of a lease does not")
	}
}

func TestOnlyTheCanonicalForm(t *testing.T) {
	t.Parallel()
	text := string(seal(t, sample()).Bytes())
	indented := bytes.Buffer{}
	if err := json.Indent(&indented, []byte(text), "", " "); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]string{
		"empty":            "",
		"not JSON":         "lease",
		"null":             "null",
		"indented":         indented.String(),
		"a space after":    text + " ",
		"a newline after":  text + "\n",
		"another after":    text + text,
		"an unknown field": strings.Replace(text, `{"schema"`, `{"bypass":true,"schema"`, 1),
		"a field twice":    strings.Replace(text, `"target":`, `"target":"refs/heads/evil","target":`, 1),
		"other case":       strings.Replace(text, `"target":`, `"Target":`, 1),
		"escaped":          strings.Replace(text, `brisk`, `br\u0069sk`, 1),
		"another schema":   strings.Replace(text, Schema, "cordon.lease/3", 1),
		"another order":    strings.Replace(strings.Replace(text, `"adopted":false,`, "", 1), `"worktree":`, `"adopted":false,"worktree":`, 1),
		"other terms":      strings.Replace(text, TermsSchema, "cordon.terms/2", 1),
		"another place":    strings.Replace(text, PlaceSchema, "cordon.place/2", 1),
		"terms twice":      strings.Replace(text, `"terms":{`, `"terms":{},"terms":{`, 1),
		"the older schema": strings.Replace(text, Schema, olderSchema, 1),
		"a part more":      strings.Replace(text, `,"place":`, `,"+more":{},"place":`, 1),
		"a local time":     strings.Replace(text, "12:00:00.123456789Z", "13:00:00.123456789+01:00", 1),
		"a field missing":  strings.Replace(text, `"adopted":false,`, "", 1),
		"a space in terms": strings.Replace(text, `"target":`, `"target": `, 1),
		"a space by new":   strings.Replace(text, `"target":`, `"+new":1, "target":`, 1),
		"a space in new":   strings.Replace(text, `"target":`, `"+new":[1, 2],"target":`, 1),
		"space after new":  strings.Replace(text, `"worktree":`, `"+new": 1,"worktree":`, 1),
	} {
		if b == text {
			t.Fatalf("%s: the text was not changed", name)
		}
		if s, err := Open(forged(b), hashOf(forged(b))); err == nil {
			t.Errorf("%s was accepted: %+v", name, s.Lease())
		}
	}
}

func TestSealRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Lease){
		"no name":              func(l *Lease) { l.ID = "" },
		"a path for a name":    func(l *Lease) { l.ID = "../x" },
		"unknown words":        func(l *Lease) { l.ID = "brisk-brisk" },
		"no worktree":          func(l *Lease) { l.Worktree = "" },
		"a relative worktree":  func(l *Lease) { l.Worktree = "x" },
		"an unclean worktree":  func(l *Lease) { l.Worktree = "/a/../b" },
		"no home":              func(l *Lease) { l.Home = "" },
		"a worktree in Latin1": func(l *Lease) { l.Worktree = "/caf\xe9" },
		"a target in Latin1":   func(l *Lease) { l.Target = "refs/heads/caf\xe9" },
		"a branch in Latin1":   func(l *Lease) { l.Branch = "caf\xe9" },
		"a source in Latin1":   func(l *Lease) { l.Source = "caf\xe9" },
		"no base":              func(l *Lease) { l.Base = "" },
		"a name for a base":    func(l *Lease) { l.Base = "HEAD" },
		"no target":            func(l *Lease) { l.Target = "" },
		"a tag for a target":   func(l *Lease) { l.Target = "refs/tags/v1" },
		"no branch":            func(l *Lease) { l.Branch = "" },
		"no expiry":            func(l *Lease) { l.Expires = time.Time{} },
		"expired at birth":     func(l *Lease) { l.Expires = l.Created },
		"no policy":            func(l *Lease) { l.Policy = policy.Policy{} },
		"a root outside":       func(l *Lease) { l.Policy.Filesystem.WriteRoots = []string{"../x"} },
	} {
		l := sample()
		change(&l)
		if s, err := Seal(l); err == nil {
			t.Errorf("%s was sealed: %+v", name, s.Lease())
		}
	}
}

// Nobody who has a lease can change it.
func TestSealedIsImmutable(t *testing.T) {
	t.Parallel()
	given := sample()
	s := seal(t, given)
	given.Policy.Filesystem.WriteRoots[0] = "."
	got := s.Lease()
	got.Policy.Filesystem.WriteRoots[0] = "."
	got.Policy.Acceptance[0] = "true"
	got.Target = "refs/heads/evil"
	s.Bytes()[0] = 'x'
	if _, err := Open(s.Bytes(), s.Hash()); err != nil {
		t.Error(err)
	}
	if now := s.Lease(); now.Policy.Filesystem.WriteRoots[0] != "src" || now.Target != "refs/heads/main" || now.Policy.Acceptance[0] == "true" {
		t.Errorf("it was changed: %+v", now)
	}
	if s.Rules().Judge("etc/passwd").Class == policy.Landing || s.Rules().Judge("src/a").Class != policy.Landing {
		t.Error("its rules changed")
	}
}

func TestExpired(t *testing.T) {
	t.Parallel()
	s := seal(t, sample())
	end := s.Lease().Expires
	for when, want := range map[time.Time]bool{
		began: false, end.Add(-1): false, end: true, end.Add(time.Hour): true,
		end.In(time.FixedZone("x", -7200)): true,
	} {
		if s.Expired(when) != want {
			t.Errorf("at %v: expired = %v", when, !want)
		}
	}
	if !(Sealed{}).Expired(began) {
		t.Error("the zero lease is valid")
	}
}

// A policy that was found valid vouches for no other: not even for one with what an encoding may
// write as the same character.
func TestValidPolicyIsNoOther(t *testing.T) {
	l := sample()
	l.Policy.Setup = []string{"echo \ufffd"}
	if _, err := Seal(l); err != nil {
		t.Fatal(err)
	}
	l.Policy.Setup = []string{"echo \xff"}
	if _, err := Seal(l); err == nil {
		t.Error("a command that is not UTF-8 was sealed")
	}
}
