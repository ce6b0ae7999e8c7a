package lease

import (
	"bytes"
	"strings"
	"testing"

	"cordon/internal/policy"
)

// A lease from before there were filesystem.outside, limits.files, guard and the
// later keys of network is opened as it was sealed, denies and enforces.
func TestOlderLease(t *testing.T) {
	t.Parallel()
	b, err := encode(seal(t, sample()).Lease().older())
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, added := range []string{`,"outside":"deny"`, `,"guard":{"mode":"enforce","unknown_read":"allow","opaque_code":"allow"}`,
		`,"instructions":["user"],"skills":["project","user"],"agents":["project","user"],"commands":["project","user"],"mcp":["user"]`,
		`,"agent":{"login":"copy","proof":"required","proof_within":"90s"}`, `,"via":"transparent","observe":true,"limits":{"connections":1024,"queries":100}`} {
		if !strings.Contains(text, added) {
			t.Fatalf("no %s in %s", added, text)
		}
		text = strings.Replace(text, added, "", 1)
		openOlder(t, []byte(text))
	}
}

// sealedBefore was sealed before there was any of these keys, by another cordon
// than this one: encoding it must still give these bytes.
const sealedBefore = `{"schema":"cordon.lease/1","id":"brisk-otter","worktree":"/state/trees/brisk-otter","adopted":false,"branch":"cordon/brisk-otter","base":"abababababababababababababababababababab","target":"refs/heads/main","created":"2026-03-01T12:00:00.123456789Z","expires":"2026-03-01T13:00:00.123456789Z","home":"/home/op","fold":false,"executed":null,"policy_source":"cordon.yaml at ababababab","policy":{"version":1,"filesystem":{"write_roots":["src","docs"],"read_roots":["/"],"deny_read":["~/.ssh"],"deny_write":[],"scratch":[]},"network":{"allowed_domains":[]},"secrets":[],"git":{"branch":"cordon/{id}","identity":{"name":"cordon worker","email":"worker@cordon.invalid"},"pin":false},"limits":{"time":"4h","memory":"none","processes":0,"disk":"none"},"isolation":"strict","acceptance":["make test <in >out && true"],"setup":[],"preserve_on_failure":true,"expires":"7d"}}`

func TestOldestLease(t *testing.T) {
	t.Parallel()
	openOlder(t, []byte(sealedBefore))
}

// A lease from before there was a way to them may name hosts that cannot be written
// any more, and presets that nobody wrote out. It is opened as it is: one that is
// not would make the whole journal unreadable.
func TestOlderHosts(t *testing.T) {
	t.Parallel()
	for _, hosts := range []string{`"localhost"`, `"@npm"`, `"@never","*.com","127.0.0.1"`} {
		older := []byte(strings.Replace(sealedBefore, `"allowed_domains":[]`, `"allowed_domains":[`+hosts+`]`, 1))
		s, err := Open(older, hashOf(older))
		if err != nil || !bytes.Equal(s.Bytes(), older) {
			t.Errorf("%s: opened as %s, %v", hosts, s.Bytes(), err)
		}
	}
}

func openOlder(t *testing.T, older []byte) {
	t.Helper()
	for name, read := range map[string]func([]byte, string) (Sealed, error){"Open": Open, "Recall": Recall} {
		got, err := read(older, hashOf(older))
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, older)
		}
		l := got.Lease()
		if l.Policy.Filesystem.Outside.Captures() || l.Policy.Guard.Mode.String() != "enforce" || l.Policy.Guard.Reading() != policy.AnswerAllow ||
			l.Policy.Guard.Opaque(true) != policy.AnswerAllow || l.Policy.Guard.Opaque(false) != policy.AnswerAsk {
			t.Errorf("%s: reads as %+v", name, l.Policy)
		}
		if again, err := fix(l); err != nil || !bytes.Equal(again.Bytes(), older) || !bytes.Equal(got.Bytes(), older) {
			t.Errorf("%s: encoded again as %s, %v", name, again.Bytes(), err)
		}
		// Whatever is sealed from it has two parts.
		again := seal(t, l)
		opened, err := Open(again.Bytes(), again.Hash())
		if err != nil || opened.PolicyHash() != got.PolicyHash() || opened.Lease().Terms.Schema != TermsSchema || opened.Lease().Place.Terms == "" {
			t.Errorf("%s: sealed again as %s, %v", name, again.Bytes(), err)
		}
	}
}

// Both parts may have more as well.
func TestLaterParts(t *testing.T) {
	t.Parallel()
	text := string(seal(t, sample()).Bytes())
	for key, additive := range map[string]bool{"+colour": true, "colour": false} {
		for _, place := range []string{`"policy":{`, `"limits":{`, `"terms":{`, `"place":{`} {
			later := forged(strings.Replace(text, place, place+`"`+key+`":{"deep":[1,"x"]},`, 1))
			for name, read := range map[string]func([]byte, string) (Sealed, error){"Open": Open, "Recall": Recall} {
				s, err := read(later, hashOf(later))
				if !additive {
					if err == nil || !strings.Contains(err.Error(), key) {
						t.Errorf("%s: %s in %s: %v", name, key, place, err)
					}
					continue
				}
				if err != nil || !bytes.Equal(s.Bytes(), later) || s.Hash() != hashOf(later) || s.Lease().ID != "brisk-otter" {
					t.Errorf("%s: %s in %s: opened as %s, %v", name, key, place, s.Bytes(), err)
				}
			}
		}
	}
}

// A lease of a later version is opened if all that is new in it is additive: the bytes
// and the hash stay as they are.
func TestLaterLease(t *testing.T) {
	t.Parallel()
	for key, additive := range map[string]bool{"+colour": true, "colour": false} {
		for _, place := range []string{`"policy":{`, `"limits":{`, `{"schema":`} {
			field := `"` + key + `":{"deep":[1,"x"]},`
			later := []byte(strings.Replace(sealedBefore, place, place+field, 1))
			if place == `{"schema":` {
				later = []byte(strings.Replace(sealedBefore, place, "{"+field+`"schema":`, 1))
			}
			for name, read := range map[string]func([]byte, string) (Sealed, error){"Open": Open, "Recall": Recall} {
				s, err := read(later, hashOf(later))
				if !additive {
					if err == nil || !strings.Contains(err.Error(), key) {
						t.Errorf("%s: %s in %s: %v", name, key, place, err)
					}
					continue
				}
				if err != nil || !bytes.Equal(s.Bytes(), later) || s.Hash() != hashOf(later) || s.Lease().ID != "brisk-otter" {
					t.Errorf("%s: %s in %s: opened as %s, %v", name, key, place, s.Bytes(), err)
				}
			}
		}
	}
}
