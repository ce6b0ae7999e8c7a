package lease

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"cordon/internal/policy"
)

// What Open opens, Recall recalls, and as the same lease with the same rules.
func TestRecall(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Lease){
		"sample":   func(*Lease) {},
		"default":  func(l *Lease) { l.Policy = policy.Default() },
		"executed": func(l *Lease) { l.Executed = []string{"src/hooks"} },
		"folds":    func(l *Lease) { l.Fold = true },
		"layered":  func(l *Lease) { l.Tree = Layered },
		"guard":    func(l *Lease) { l.Policy.Guard = policy.Guard{Mode: policy.GuardStrict} },
	} {
		l := sample()
		change(&l)
		s := seal(t, l)
		opened, err := Open(s.Bytes(), s.Hash())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := Recall(s.Bytes(), s.Hash())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(got, opened) {
			t.Errorf("%s: recalled as\n%+v\nopened as\n%+v", name, got, opened)
		}
	}
}

func TestRecalledIsImmutable(t *testing.T) {
	t.Parallel()
	s := seal(t, sample())
	given := s.Bytes()
	got, err := Recall(given, s.Hash())
	if err != nil {
		t.Fatal(err)
	}
	clear(given)
	got.Lease().Policy.Filesystem.WriteRoots[0] = "."
	if !bytes.Equal(got.Bytes(), s.Bytes()) || got.Lease().Policy.Filesystem.WriteRoots[0] != "src" {
		t.Error("it was changed")
	}
	if got.Rules().Judge("etc/passwd").Class == policy.Landing || got.Rules().Judge("src/a").Class != policy.Landing {
		t.Error("its rules are others")
	}
}

func TestRecallNeedsTheHash(t *testing.T) {
	t.Parallel()
	s := seal(t, sample())
	whole := s.Bytes()
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 0x01
		if _, err := Recall(b, s.Hash()); err == nil {
			t.Fatalf("byte %d (%q) was changed to %q unnoticed", i, whole[i], b[i])
		}
	}
	for _, hash := range []string{"", strings.ToUpper(s.Hash()), s.Hash()[:63], s.Hash() + "0", hashOf(nil)} {
		if _, err := Recall(whole, hash); err == nil {
			t.Errorf("recalled with the hash %q", hash)
		}
	}
}

// The hash is right in each of these: it is the bytes that are no lease.
func TestRecallRefuses(t *testing.T) {
	t.Parallel()
	text := string(seal(t, sample()).Bytes())
	put := func(old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("no %s in %s", old, text)
		}
		return strings.Replace(text, old, new, 1)
	}
	for name, b := range map[string]string{
		"empty":                   "",
		"not JSON":                "lease",
		"null":                    "null",
		"nothing in it":           "{}",
		"cut off":                 text[:len(text)-1],
		"a space after":           text + " ",
		"a newline after":         text + "\n",
		"another after":           text + text,
		"a bracket after":         text + "}",
		"an unknown field":        put(`{"schema"`, `{"bypass":true,"schema"`),
		"an unknown policy field": put(`"isolation":`, `"bypass":true,"isolation":`),
		"an unknown guard field":  put(`{"mode":`, `{"off":true,"mode":`),
		"no schema":               put(`"schema":"`+Schema+`",`, ""),
		"another schema":          put(Schema, "cordon.lease/3"),
		"no policy":               text[:strings.Index(text, `,"policy":`)] + text[strings.Index(text, `},"place":`):],
		"an empty policy":         text[:strings.Index(text, `,"policy":`)] + `,"policy":{}` + text[strings.Index(text, `},"place":`):],
		"another policy version":  put(`"version":1`, `"version":2`),
		"no name":                 put(`"id":"brisk-otter"`, `"id":""`),
		"a path for a name":       put(`"id":"brisk-otter"`, `"id":"../x"`),
		"no worktree":             put(`"worktree":"/state/trees/brisk-otter"`, `"worktree":""`),
		"the root for a worktree": put(`"worktree":"/state/trees/brisk-otter"`, `"worktree":"/"`),
		"no home":                 put(`"home":"/home/op"`, `"home":""`),
		"no base":                 put(strings.Repeat("ab", 20), ""),
		"no target":               put(`"target":"refs/heads/main"`, `"target":""`),
		"no branch":               put(`"branch":"cordon/brisk-otter"`, `"branch":""`),
		"no expiry":               put(`"expires":"2026-03-01T13:00:00.123456789Z",`, ""),
		"expired at birth":        put(`"expires":"2026-03-01T13`, `"expires":"2026-03-01T12`),
		"an unknown tree":         put(`"tree":""`, `"tree":"other"`),
		"a root outside":          put(`["src","docs"]`, `["../x"]`),
		"a deny that is no glob":  put(`"deny_write":[]`, `"deny_write":["[a"]`),
		"an unknown isolation":    put(`"isolation":"strict"`, `"isolation":"off"`),
		"an unknown guard mode":   put(`"mode":"enforce"`, `"mode":"off"`),
		"an unknown answer":       put(`"opaque_code":"allow"`, `"opaque_code":""`),
	} {
		s, err := Recall(forged(b), hashOf(forged(b)))
		if err == nil {
			t.Errorf("%s was accepted: %+v", name, s.Lease())
		}
		if !reflect.DeepEqual(s, Sealed{}) || !s.Expired(began) {
			t.Errorf("%s: a lease came with the error", name)
		}
	}
}

// Recall has no clock: a lease that has run out says so when it is asked.
func TestRecallExpired(t *testing.T) {
	t.Parallel()
	s := seal(t, sample())
	got, err := Recall(s.Bytes(), s.Hash())
	if err != nil {
		t.Fatal(err)
	}
	if got.Expired(began) || !got.Expired(began.Add(2*time.Hour)) {
		t.Error("it does not know when it ends")
	}
}
