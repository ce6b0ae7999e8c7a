package home_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/fleet/protocol"
	"cordon/internal/ledger"
	"cordon/internal/testwait"
)

// wants asks for the base without some commits, until the home answers.
func (n *liar) wants(have ...string) protocol.Answer {
	n.t.Helper()
	raw := n.sign(protocol.Want{Header: n.header(protocol.WantKind), Lease: "s0", Fence: n.fence, Have: have})
	for n.ctx.Err() == nil {
		if said, err := n.engine.Ask(n.ctx, raw); err == nil && said != nil {
			break
		}
	}
	return n.tell(raw)
}

// files are those of a directory.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// awaitFiles waits until directories hold so many files in all.
func (w *hostileWorld) awaitFiles(count int, dirs ...string) {
	w.t.Helper()
	var found []string
	testwait.Until(w.t, fmt.Sprintf("there are %d files", count), func() bool {
		found = nil
		for _, dir := range dirs {
			found = append(found, files(w.t, dir)...)
		}
		return len(found) == count
	}, func() string { return fmt.Sprint(found) })
}

// unknown is a commit that the home does not have.
func unknown(digit string) string { return strings.Repeat(digit, 40) }

// A node that wants the same again gets the same pack, and another node's grant does not let it read that. A node that wants ever
// more is refused.
func TestWantsAreBounded(t *testing.T) {
	w := newHostileWorld(t)
	whole := w.alice.wants()
	if whole.Verdict != protocol.Go || whole.Pack.Size < 1<<20 {
		t.Fatalf("the base: %+v", whole)
	}
	for range 10 {
		if again := w.alice.wants(); again.Verdict != protocol.Go || again.Pack != whole.Pack {
			t.Errorf("the same again: %+v", again)
		}
	}
	for _, digit := range []string{"1", "2", "3"} {
		if a := w.alice.wants(unknown(digit)); a.Verdict != protocol.Go {
			t.Errorf("without %s: %+v", digit, a)
		}
	}
	if a := w.alice.wants(unknown("4")); a.Verdict != protocol.NoRoom {
		t.Errorf("a fifth base: %+v", a)
	}
	if a := w.alice.wants(); a.Verdict != protocol.Go || a.Pack != whole.Pack {
		t.Errorf("the first one after that: %+v", a)
	}
	fetch := func(n *liar) protocol.Answer {
		return n.tell(n.sign(protocol.Fetch{Header: n.header(protocol.FetchKind), Lease: "s0", Fence: w.fence, Pack: whole.Pack}))
	}
	if a := fetch(w.alice); a.Verdict != protocol.Go || len(a.Piece) == 0 {
		t.Errorf("a piece: %s", a.Verdict)
	}
	if a := fetch(w.bob); a.Verdict == protocol.Go {
		t.Error("another node gets a piece")
	}
}

// What nodes make a home store has a bound, and is refused in words beyond it.
func TestRoomIsBounded(t *testing.T) {
	for name, try := range map[string]func(w *hostileWorld) protocol.Answer{
		"a base": func(w *hostileWorld) protocol.Answer { return w.alice.wants() },
		"a result": func(w *hostileWorld) protocol.Answer {
			content := make([]byte, 200_000)
			return w.alice.tell(w.alice.sign(protocol.Put{
				Header: w.alice.header(protocol.PutKind), Lease: "s0", Fence: w.fence, Pack: protocol.Pack{Sum: protocol.Digest(content), Size: int64(len(content))}, Piece: content,
			}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if a := try(newHostileWorld(t)); a.Verdict != protocol.Go {
				t.Errorf("the control: %+v", a)
			}
			w := newHostileWorldWith(t, 100_000)
			if a := try(w); a.Verdict != protocol.NoRoom || a.Say == "" {
				t.Errorf("with little room: %+v", a)
			}
			w.awaitFiles(0, w.packs.Bases.Dir, w.packs.Gotten.Dir)
		})
	}
}

// The home removes what an operator has withdrawn, and what no result names; the pack of a result stays.
func TestPacksGo(t *testing.T) {
	t.Run("a result", func(t *testing.T) {
		t.Parallel()
		w := newHostileWorld(t)
		p := w.make(w.file("src/a", "1"))
		other := w.make(w.file("src/a", "2"))
		w.alice.wants()
		w.alice.send(w.fence, other.pack, other.content)
		if v := w.alice.returns(w.fence, p); v != protocol.Taken {
			t.Fatal(v)
		}
		w.awaitFiles(0, w.packs.Bases.Dir)
		w.awaitFiles(1, w.packs.Gotten.Dir)
		if left := files(t, w.packs.Gotten.Dir); left[0] != p.pack.Sum+".pack" {
			t.Errorf("%v stays, not %s", left, p.pack.Sum)
		}
	})
	t.Run("a stage that is withdrawn", func(t *testing.T) {
		t.Parallel()
		w := newHostileWorld(t)
		p := w.make(w.file("src/a", "1"))
		w.alice.wants()
		w.alice.send(w.fence, p.pack, p.content)
		w.awaitFiles(2, w.packs.Bases.Dir, w.packs.Gotten.Dir)
		if _, err := w.log.Append("s0", ledger.Withdrawn, ledger.Withdrawal{Why: "a test"}); err != nil {
			t.Fatal(err)
		}
		w.awaitFiles(0, w.packs.Bases.Dir, w.packs.Gotten.Dir)
	})
	t.Run("what an earlier home left", func(t *testing.T) {
		t.Parallel()
		w := newHostileWorld(t)
		if err := os.MkdirAll(w.packs.Gotten.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{strings.Repeat("a", 64) + ".pack", strings.Repeat("b", 64) + ".part", "new-1"} {
			if err := os.WriteFile(filepath.Join(w.packs.Gotten.Dir, name), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		w.awaitFiles(0, w.packs.Gotten.Dir)
	})
}
