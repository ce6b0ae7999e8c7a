package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestUpdateRefComparesAndSwaps(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _ := host(t, map[string]string{"a": "1"})
	one := head(t, h.Top)
	two := commit(t, h.Top, "two", map[string]string{"a": "2"})

	if err := h.UpdateRef(ctx, "refs/heads/x", one, "", "make"); err != nil {
		t.Fatalf("a ref that is not there: %v", err)
	}
	for name, err := range map[string]error{
		"create one that exists":   h.UpdateRef(ctx, "refs/heads/x", two, "", "t"),
		"move from another value":  h.UpdateRef(ctx, "refs/heads/x", one, two, "t"),
		"move one that is missing": h.UpdateRef(ctx, "refs/heads/y", two, one, "t"),
	} {
		if !errors.Is(err, ErrMoved) {
			t.Errorf("%s: %v, want ErrMoved", name, err)
		}
	}
	if got := must[OID](t)(h.Ref(ctx, "refs/heads/x")); got != one {
		t.Errorf("a failed swap moved the ref to %s", got)
	}
	if err := h.UpdateRef(ctx, "refs/heads/x", two, one, "t"); err != nil {
		t.Error(err)
	}
	if err := h.SetRefs(ctx, []Ref{{Name: "refs/heads/x"}, {Name: "refs/heads/y"}}, "t"); err != nil {
		t.Error(err)
	}
	if _, err := h.Ref(ctx, "refs/heads/x"); !errors.Is(err, ErrNoRef) {
		t.Errorf("a deleted ref: %v, want ErrNoRef", err)
	}
}

// A failure that is not a lost race must not look like one: it would be tried
// again and again.
func TestUpdateRefOtherFailure(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _ := host(t, map[string]string{"a": "1"})
	missing := SHA1.Blob([]byte("not here"))
	err := h.UpdateRef(ctx, "refs/heads/x", missing, "", "t")
	var e *Error
	if !errors.As(err, &e) || errors.Is(err, ErrMoved) {
		t.Errorf("a commit that is not there: %v, want a git error", err)
	}
	if err := h.UpdateRef(ctx, "refs/heads/a..b", head(t, h.Top), "", "t"); err == nil || errors.Is(err, ErrMoved) {
		t.Errorf("a bad name: %v", err)
	}
}

func TestUpdateRefLosesNoRace(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _ := host(t, map[string]string{"a": "1"})
	base := head(t, h.Top)
	tree := must[OID](t)(h.TreeOf(ctx, base))
	const n = 8
	won := make(chan OID, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			next, err := h.CommitTree(ctx, tree, []OID{base}, "racer "+string(rune('a'+i)), Person{"n", "e@x"})
			if err != nil {
				t.Error(err)
				return
			}
			switch err := h.UpdateRef(ctx, "refs/heads/main", next, base, "race"); {
			case err == nil:
				won <- next
			case !errors.Is(err, ErrMoved):
				t.Errorf("lost with %v, want ErrMoved", err)
			}
		})
	}
	wg.Wait()
	close(won)
	if len(won) != 1 {
		t.Fatalf("%d of %d swaps from the same value succeeded, want 1", len(won), n)
	}
	if got, want := must[OID](t)(h.Ref(ctx, "refs/heads/main")), <-won; got != want {
		t.Errorf("main is at %s, the winner set it to %s", got, want)
	}
}

// rev-parse, which people type, finds a tag when the branch is gone.
func TestRefDoesNotSearch(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _ := host(t, map[string]string{"a": "1"})
	one := head(t, h.Top)
	plain(t, h.Top, "update-ref", "refs/tags/refs/heads/gone", string(one))
	plain(t, h.Top, "update-ref", "refs/heads/gone/below", string(one))
	if got := plain(t, h.Top, "rev-parse", "--verify", "refs/heads/gone"); OID(got) != one {
		t.Fatalf("rev-parse does not search: %s", got)
	}
	if got, err := h.Ref(ctx, "refs/heads/gone"); !errors.Is(err, ErrNoRef) {
		t.Errorf("found %s, %v", got, err)
	}
}

// --no-deref: a ref of cordon's own that somebody made a symbolic ref to main
// must not take main along.
func TestSetRefsDoesNotFollow(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _ := host(t, map[string]string{"a": "1"})
	one := head(t, h.Top)
	two := commit(t, h.Top, "two", map[string]string{"a": "2"})
	plain(t, h.Top, "symbolic-ref", "refs/cordon/results/x", "refs/heads/main")
	if err := h.SetRefs(ctx, []Ref{{Name: "refs/cordon/results/x", OID: one}}, "t"); err != nil {
		t.Fatal(err)
	}
	if got := head(t, h.Top); got != two {
		t.Errorf("main moved to %s", got)
	}
	plain(t, h.Top, "symbolic-ref", "refs/cordon/results/x", "refs/heads/main")
	plain(t, h.Top, "update-ref", "refs/cordon/results/x", string(one))
	if got := head(t, h.Top); got != one {
		t.Errorf("plain update-ref did not follow the symbolic ref: the test proves nothing")
	}
}

// All of it or nothing, and a ref that is gone already may be deleted again.
func TestSetRefs(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _ := host(t, map[string]string{"a": "1"})
	one := head(t, h.Top)
	a, b := Ref{Name: "refs/cordon/a", OID: one}, Ref{Name: "refs/cordon/b", OID: one}
	if err := h.SetRefs(ctx, []Ref{a, b}, "t"); err != nil {
		t.Fatal(err)
	}
	if !h.Holds(a) || h.Holds(Ref{Name: a.Name, OID: SHA1.Blob(nil)}) || h.Holds(Ref{Name: a.Name}) || h.Holds(Ref{Name: "refs/cordon/c"}) {
		t.Error("Holds is wrong")
	}
	missing := Ref{Name: "refs/cordon/c", OID: SHA1.Blob([]byte("not here"))}
	if err := h.SetRefs(ctx, []Ref{{Name: a.Name}, missing}, "t"); err == nil || !h.Holds(a) {
		t.Errorf("a value that is not there: %v", err)
	}
	for range 2 {
		if err := h.SetRefs(ctx, []Ref{{Name: a.Name}, b}, "t"); err != nil {
			t.Fatal(err)
		}
	}
	if got := must[[]Ref](t)(h.Refs(ctx, "refs/cordon")); len(got) != 1 || got[0] != b {
		t.Errorf("left: %v", got)
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _ := host(t, map[string]string{"a": "1"})
	one := head(t, h.Top)
	for _, name := range []string{"refs/cordon/pins/able-fox", "refs/cordon/pins/able-foxes", "refs/cordon/quarantine/able-fox/result"} {
		plain(t, h.Top, "update-ref", name, string(one))
	}
	plain(t, h.Top, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
	got := must[[]Ref](t)(h.Refs(ctx, "refs/cordon/pins/able-fox", "refs/cordon/quarantine/able-fox"))
	if len(got) != 2 || got[0].Name != "refs/cordon/pins/able-fox" || got[1].OID != one {
		t.Errorf("got %v: a prefix ends at a slash", got)
	}
	got = must[[]Ref](t)(h.Refs(ctx, "refs/heads"))
	if len(got) != 2 || got[0] != (Ref{"refs/heads/alias", one, "refs/heads/main"}) {
		t.Errorf("got %v", got)
	}
	if got := must[[]Ref](t)(h.Refs(ctx)); len(got) != 5 {
		t.Errorf("%d refs, want all 5", len(got))
	}
}

func TestCommitters(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _ := host(t, map[string]string{"a": "1"})
	one := head(t, h.Top)
	two := commit(t, h.Top, "two", map[string]string{"a": "2"})
	for _, c := range []struct {
		old  OID
		want int
	}{{one, 1}, {two, 0}, {"", 2}, {SHA1.Zero(), 2}} {
		got := must[[]string](t)(h.Committers(ctx, c.old, two))
		if len(got) != c.want || c.want > 0 && got[0] != "operator@example.com" {
			t.Errorf("since %q: %q, want %d", c.old, got, c.want)
		}
	}
	if _, err := h.Committers(ctx, one, SHA1.Blob([]byte("x"))); err == nil {
		t.Error("no error for a commit that is not there")
	}
}

func TestHeadBranch(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _ := host(t, map[string]string{"a": "1"})
	if got := must[string](t)(h.HeadBranch(ctx)); got != "refs/heads/main" {
		t.Errorf("got %q", got)
	}
	plain(t, h.Top, "checkout", "-q", "--detach")
	if got := must[string](t)(h.HeadBranch(ctx)); got != "" {
		t.Errorf("detached: got %q", got)
	}
	if err := os.Remove(filepath.Join(h.Dir, "HEAD")); err != nil {
		t.Fatal(err)
	}
	if got, err := h.HeadBranch(ctx); err == nil {
		t.Errorf("no HEAD: got %q without an error", got)
	}
}

func TestValidBranch(t *testing.T) {
	t.Parallel()
	h, _ := host(t, map[string]string{"a": "1"})
	plain(t, h.Top, "checkout", "-q", "-b", "other") // so that @{-1} names a branch
	for name, want := range map[string]bool{
		"cordon/able-fox": true, "x": true, "": false, "-x": false, "@{-1}": false, "a..b": false, "a b": false, "a\nb": false, "x.lock": false, "@": false,
	} {
		if got := h.ValidBranch(context.Background(), name); got != want {
			t.Errorf("ValidBranch(%q) = %v", name, got)
		}
	}
}
