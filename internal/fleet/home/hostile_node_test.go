package home_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"cordon/internal/audit"
	"cordon/internal/fleet/engine"
	"cordon/internal/fleet/home"
	"cordon/internal/fleet/pack"
	"cordon/internal/fleet/protocol"
	"cordon/internal/git"
	"cordon/internal/journal"
	"cordon/internal/testwait"
)

// hostileWorld is a home with a repository, and two nodes that say what they like. Alice has the stage.
type hostileWorld struct {
	*filesFleet
	log        *journal.Journal
	homeKey    string
	alice, bob *liar
	holder     *liar // who may return a result in the end
	fence      uint64
	checkout   string // of the nodes
	store      pack.Store
	admitted   int
}

// liar is a node that says what it likes.
type liar struct {
	*hostileWorld
	key    nkeys.KeyPair
	public string
	engine engine.Node
	count  int
}

func (n *liar) header(kind protocol.Kind) protocol.Header {
	n.count++
	return protocol.Header{Version: protocol.Version, Program: "test", Fleet: fleet, Kind: kind, Number: n.public + fmt.Sprint(n.count)}
}

func (n *liar) sign(message any) []byte {
	n.t.Helper()
	raw, err := protocol.Sign(message, n.key)
	if err != nil {
		n.t.Fatal(err)
	}
	return raw
}

// tell sends a message as it is.
func (n *liar) tell(raw []byte) protocol.Answer {
	n.t.Helper()
	said, err := n.engine.Ask(n.ctx, raw)
	if err != nil {
		n.t.Fatal(err)
	}
	a, err := protocol.Node{Fleet: fleet, Home: n.homeKey, Key: n.public}.Heed(said, raw)
	if err != nil {
		n.t.Fatal(err)
	}
	return a
}

func (n *liar) say(message any) protocol.Verdict {
	n.t.Helper()
	return n.tell(n.sign(message)).Verdict
}

func (n *liar) ask() protocol.Answer {
	n.t.Helper()
	return n.tell(n.sign(protocol.Ask{Header: n.header(protocol.AskKind), Lease: "s0", Hash: protocol.Digest([]byte(theTerms))}))
}

// send brings a pack to the home, piece by piece, and returns the last verdict.
func (n *liar) send(fence uint64, p protocol.Pack, content []byte) protocol.Verdict {
	n.t.Helper()
	for next := int64(0); next < int64(len(content)); {
		piece := content[next:min(next+pack.Piece, int64(len(content)))]
		a := n.tell(n.sign(protocol.Put{Header: n.header(protocol.PutKind), Lease: "s0", Fence: fence, Pack: p, Offset: next, Piece: piece}))
		if a.Verdict != protocol.Go {
			return a.Verdict
		}
		next = a.Next
	}
	return protocol.Go
}

func (n *liar) result(fence uint64, commit string, p protocol.Pack) protocol.Result {
	return protocol.Result{
		Header: n.header(protocol.ResultKind), Lease: "s0", Fence: fence, Hash: protocol.Digest([]byte(theTerms)), Base: string(n.base),
		Commit: commit, Pack: p, Ending: "done", Chain: "none",
	}
}

// packed is a commit of the checkout and the pack of it, which is not sent yet.
type packed struct {
	commit  string
	pack    protocol.Pack
	content []byte
}

// make commits what change does to the checkout, on top of the base, and packs it.
func (w *hostileWorld) make(change func()) packed {
	w.t.Helper()
	w.plainGit(w.checkout, "reset", "-q", "--hard", string(w.base))
	change()
	w.plainGit(w.checkout, "commit", "-qm", "work")
	repo, err := git.Discover(w.ctx, w.bin, w.checkout)
	if err != nil {
		w.t.Fatal(err)
	}
	commit := git.OID(w.plainGit(w.checkout, "rev-parse", "HEAD"))
	p, err := w.store.Make(w.ctx, repo.Repo, commit, []git.OID{w.base}, false, 1<<20)
	if err != nil {
		w.t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(w.store.Dir, p.Sum+".pack"))
	if err != nil {
		w.t.Fatal(err)
	}
	return packed{string(commit), p, content}
}

// file adds a file to the checkout.
func (w *hostileWorld) file(name, text string) func() {
	return func() {
		w.t.Helper()
		at := filepath.Join(w.checkout, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			w.t.Fatal(err)
		}
		w.plainGit(w.checkout, "add", "-A")
	}
}

// returns sends a result with its pack.
func (n *liar) returns(fence uint64, p packed) protocol.Verdict {
	n.t.Helper()
	if v := n.send(fence, p.pack, p.content); v != protocol.Go {
		return v
	}
	return n.say(n.result(fence, p.commit, p.pack))
}

func newHostileWorld(t *testing.T) *hostileWorld { return newHostileWorldWith(t, 1<<30) }

// newHostileWorldWith has a home with room for so many bytes of packs.
func newHostileWorldWith(t *testing.T, room int64) *hostileWorld {
	w := &hostileWorld{filesFleet: newFilesFleet(t)}
	w.packs.Room = room
	e := engine.NewLocal()
	t.Cleanup(func() { e.Close() })
	seed, public := newKey(t)
	key, err := nkeys.FromSeed([]byte(seed))
	if err != nil {
		t.Fatal(err)
	}
	w.homeKey = public
	if w.log, err = journal.Open(w.dir); err != nil {
		t.Fatal(err)
	}
	tickets := map[string]protocol.Ticket{}
	for _, name := range []string{"alice", "bob"} {
		tickets[name] = protocol.Ticket{Secret: []byte("the secret of the node " + name), Expires: time.Now().Add(time.Hour)}
	}
	h := &home.Home{
		Engine: e, Key: key, Fleet: fleet, Program: "test", Lost: 300 * time.Millisecond, Again: 50 * time.Millisecond, MaxPack: 1 << 20, Packs: w.packs,
		Source: source{stages{1, tickets}, string(w.base), w.dir},
	}
	if err := h.Open(w.log); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(w.ctx)
	var all sync.WaitGroup
	all.Go(func() {
		if err := h.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { stop(); all.Wait() })
	w.checkout = filepath.Join(t.TempDir(), "checkout")
	w.plainGit(w.top, "clone", "-q", w.top, w.checkout)
	w.store = pack.Store{Dir: filepath.Join(t.TempDir(), "packs")}
	for name, to := range map[string]**liar{"alice": &w.alice, "bob": &w.bob} {
		seed, public := newKey(t)
		k, err := nkeys.FromSeed([]byte(seed))
		if err != nil {
			t.Fatal(err)
		}
		*to = &liar{hostileWorld: w, key: k, public: public, engine: e.Node(public)}
		token := protocol.Token{Address: "x", Home: w.homeKey, Fleet: fleet, Ticket: name, Secret: tickets[name].Secret}
		awaitAnswer(t, *to, token, name)
	}
	a := w.alice.ask()
	if a.Verdict != protocol.Granted {
		t.Fatalf("alice is not granted the stage: %+v", a)
	}
	w.holder, w.fence = w.alice, a.Fence
	return w
}

// awaitAnswer joins as soon as the home answers.
func awaitAnswer(t *testing.T, n *liar, token protocol.Token, name string) {
	t.Helper()
	raw := n.sign(token.Join(n.header(""), n.public, name))
	testwait.Until(t, "the home answers "+name, func() bool {
		said, err := n.engine.Ask(n.ctx, raw)
		return err == nil && said != nil || n.ctx.Err() != nil
	})
	if a := n.tell(raw); a.Verdict != protocol.Joined {
		t.Fatalf("%s: %+v", name, a)
	}
}

// returnedNow counts the results in the journal.
func (w *hostileWorld) returnedNow() int {
	w.t.Helper()
	return (&world{t: w.t, dir: w.dir}).read().returned["s0"]
}

// judged admits and audits the result that the home has taken.
func (w *hostileWorld) judged() (violations []string, err error) {
	w.t.Helper()
	r := w.results(w.log)["s0"]
	w.admitted++
	got, err := pack.Admission{
		Bin: w.bin, Host: w.host, Dir: filepath.Join(w.dir, fmt.Sprint("quarantine-", w.admitted)), Store: w.packs.Gotten, Pack: r.Pack,
		Base: w.base, Commit: git.OID(r.Commit), Rules: srcRules(w.t), Most: 1 << 20, Many: 100,
	}.Admit(w.ctx)
	for _, f := range got.Findings {
		if f.Class == audit.Violation {
			violations = append(violations, string(f.Path))
		}
	}
	return violations, err
}

// TestHostileNodeAtHome plays a node against a home with a journal, packs and a repository. What the home refuses changes
// nothing, and the honest result that follows is taken and clean: the control. What the home takes although it is
// bad is refused or found by the audit. The repository's refs never move.
func TestHostileNodeAtHome(t *testing.T) {
	for name, row := range map[string]struct {
		want    protocol.Verdict
		refused string   // by the admission of a result that was taken
		outside []string // what its audit finds
		try     func(w *hostileWorld) protocol.Verdict
	}{
		"an honest result": {want: protocol.Taken, try: func(w *hostileWorld) protocol.Verdict {
			return w.alice.returns(w.fence, w.make(w.file("src/a", "1")))
		}},
		"a foreign result": {want: protocol.OldFence, try: func(w *hostileWorld) protocol.Verdict {
			return w.bob.returns(w.fence, w.make(w.file("src/a", "1")))
		}},
		"a foreign result with the holder's pack": {want: protocol.OldFence, try: func(w *hostileWorld) protocol.Verdict {
			p := w.make(w.file("src/a", "1"))
			w.alice.send(w.fence, p.pack, p.content)
			return w.bob.say(w.bob.result(w.fence, p.commit, p.pack))
		}},
		"an old fence": {want: protocol.OldFence, try: func(w *hostileWorld) protocol.Verdict {
			old, p := w.fence, w.make(w.file("src/a", "1"))
			w.alice.send(old, p.pack, p.content)
			var a protocol.Answer
			testwait.Until(w.t, "another node may have the stage", func() bool {
				a = w.bob.ask()
				return a.Verdict != protocol.Held || w.ctx.Err() != nil
			})
			w.holder, w.fence = w.bob, a.Fence
			return w.alice.say(w.alice.result(old, p.commit, p.pack))
		}},
		"a pack that differs from its manifest": {want: protocol.NoPack, try: func(w *hostileWorld) protocol.Verdict {
			p, other := w.make(w.file("src/a", "1")), w.make(w.file("src/a", "2"))
			size := min(len(p.content), len(other.content))
			p.pack.Size = int64(size)
			if v := w.alice.send(w.fence, p.pack, other.content[:size]); v != protocol.NoPack {
				w.t.Errorf("the home keeps it: %s", v)
			}
			return w.alice.say(w.alice.result(w.fence, p.commit, p.pack))
		}},
		"a pack that never came": {want: protocol.NoPack, try: func(w *hostileWorld) protocol.Verdict {
			p := w.make(w.file("src/a", "1"))
			return w.alice.say(w.alice.result(w.fence, p.commit, p.pack))
		}},
		"extra refs": {want: protocol.Malformed, try: func(w *hostileWorld) protocol.Verdict {
			p := w.make(w.file("src/a", "1"))
			w.alice.send(w.fence, p.pack, p.content)
			return w.alice.say(struct {
				protocol.Result
				Refs map[string]string `json:"refs"`
			}{w.alice.result(w.fence, p.commit, p.pack), map[string]string{"refs/heads/main": p.commit}})
		}},
		"extra objects": {want: protocol.Taken, refused: "does not need", try: func(w *hostileWorld) protocol.Verdict {
			return w.alice.returns(w.fence, w.withExtra(w.make(w.file("src/a", "1"))))
		}},
		"a tree outside the lease": {want: protocol.Taken, outside: []string{"elsewhere"}, try: func(w *hostileWorld) protocol.Verdict {
			return w.alice.returns(w.fence, w.make(w.file("elsewhere", "1")))
		}},
		"a gitlink": {want: protocol.Taken, outside: []string{"src/sub"}, try: func(w *hostileWorld) protocol.Verdict {
			return w.alice.returns(w.fence, w.make(func() {
				w.plainGit(w.checkout, "update-index", "--add", "--cacheinfo", "160000,"+string(w.base)+",src/sub")
			}))
		}},
		"a replay of its own result": {want: protocol.Taken, try: func(w *hostileWorld) protocol.Verdict {
			p := w.make(w.file("src/a", "1"))
			w.alice.send(w.fence, p.pack, p.content)
			raw := w.alice.sign(w.alice.result(w.fence, p.commit, p.pack))
			for range 3 {
				w.alice.tell(raw)
			}
			if v := w.alice.returns(w.fence, w.make(w.file("src/a", "2"))); v != protocol.Over {
				w.t.Errorf("a second result: %s", v)
			}
			return w.alice.tell(raw).Verdict
		}},
		"a replay of another's result": {want: protocol.OtherSender, try: func(w *hostileWorld) protocol.Verdict {
			p := w.make(w.file("src/a", "1"))
			w.alice.send(w.fence, p.pack, p.content)
			return w.bob.tell(w.alice.sign(w.alice.result(w.fence, p.commit, p.pack))).Verdict
		}},
		"an endless pack": {want: protocol.TooBig, try: func(w *hostileWorld) protocol.Verdict {
			return w.alice.send(w.fence, protocol.Pack{Sum: strings.Repeat("a", 64), Size: 1 << 40}, make([]byte, 1<<21))
		}},
		"a pack that goes on after its end": {want: protocol.Malformed, try: func(w *hostileWorld) protocol.Verdict {
			return w.alice.send(w.fence, protocol.Pack{Sum: strings.Repeat("a", 64), Size: pack.Piece + 1}, make([]byte, 4*pack.Piece))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHostileWorld(t)
			before := w.plainGit(w.top, "for-each-ref")
			if got := row.try(w); got != row.want {
				t.Errorf("the home says %s, not %s", got, row.want)
			}
			if row.want != protocol.Taken {
				if n := w.returnedNow(); n != 0 {
					t.Errorf("the journal has %d results", n)
				}
				if v := w.holder.returns(w.fence, w.make(w.file("src/honest", "1"))); v != protocol.Taken {
					t.Errorf("the control is not taken: %s", v)
				}
			}
			violations, err := w.judged()
			var refused *pack.RefusedError
			switch {
			case row.refused != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), row.refused)):
				t.Errorf("it is not refused because of %q: %v", row.refused, err)
			case row.refused == "" && (err != nil || !slices.Equal(violations, row.outside)):
				t.Errorf("the audit finds %v, not %v; %v", violations, row.outside, err)
			}
			if n := w.returnedNow(); n != 1 {
				t.Errorf("the journal has %d results", n)
			}
			if after := w.plainGit(w.top, "for-each-ref"); after != before {
				t.Errorf("refs were\n%s\nand are\n%s", before, after)
			}
		})
	}
}

// withExtra adds an object to a pack that its commit does not need.
func (w *hostileWorld) withExtra(p packed) packed {
	w.t.Helper()
	w.file("other", "what nobody asked for")()
	extra := w.plainGit(w.checkout, "rev-parse", ":other")
	at := filepath.Join(w.t.TempDir(), "list")
	list := extra + "\n" + strings.Join(strings.Fields(w.plainGit(w.checkout, "rev-list", "--objects", "--no-object-names", p.commit, "^"+string(w.base))), "\n") + "\n"
	if err := os.WriteFile(at, []byte(list), 0o644); err != nil {
		w.t.Fatal(err)
	}
	out := filepath.Join(w.t.TempDir(), "pack")
	w.plainGit(w.checkout, "-c", "alias.p=!git pack-objects -q --stdout < "+at+" > "+out, "p")
	content, err := os.ReadFile(out)
	if err != nil {
		w.t.Fatal(err)
	}
	return packed{p.commit, protocol.Pack{Sum: protocol.Digest(content), Size: int64(len(content))}, content}
}
