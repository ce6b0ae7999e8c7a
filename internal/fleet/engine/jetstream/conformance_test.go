package jetstream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"cordon/internal/fleet/engine"
)

// conformance holds on every engine.
var conformance = map[string]func(*testing.T, world){
	"one node gets an offer":             oneNodeGetsAnOffer,
	"a class has its own offers":         classesAreApart,
	"an offer that waits is not doubled": offersAreNotDoubled,
	"the home answers":                   homeAnswers,
	"words and sizes are bounded":        wordsAreBounded,
	"everything stored is lost":          everythingIsLost,
	"closed":                             closed,
}

func TestConformance(t *testing.T) {
	for engine, build := range worlds {
		for name, test := range conformance {
			t.Run(engine+"/"+name, func(t *testing.T) {
				t.Parallel()
				test(t, build(t))
			})
		}
	}
}

// within bounds a test that would otherwise wait for ever.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// offer offers as a home does: again, until the engine takes it.
func offer(t *testing.T, ctx context.Context, h engine.Home, class, name string) {
	t.Helper()
	for {
		err := h.Offer(ctx, class, name, []byte(name))
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("offer %s: %v", name, err)
		}
	}
}

func next(t *testing.T, ctx context.Context, n engine.Node, class string) string {
	t.Helper()
	got, err := n.Next(ctx, class)
	if err != nil {
		t.Fatalf("next of %s: %v", class, err)
	}
	return string(got)
}

// nothing waits for an offer of a class that gets one only after an offer that is known to come.
func nothing(t *testing.T, ctx context.Context, w world, n engine.Node, class string) {
	t.Helper()
	offer(t, ctx, w.home, class, "last")
	if got := next(t, ctx, n, class); got != "last" {
		t.Errorf("%s was delivered", got)
	}
}

func oneNodeGetsAnOffer(t *testing.T, w world) {
	ctx := within(t)
	const many = 40
	got := make(chan string, many)
	stopped, stop := context.WithCancel(ctx)
	var nodes sync.WaitGroup
	for i := range 4 {
		n, _ := w.node(t, fmt.Sprint("n", i))
		nodes.Go(func() {
			for {
				o, err := n.Next(stopped, "any")
				if err != nil {
					return
				}
				got <- string(o)
			}
		})
	}
	for i := range many {
		offer(t, ctx, w.home, "any", fmt.Sprint("o", i))
	}
	seen := map[string]bool{}
	for len(seen) < many {
		select {
		case o := <-got:
			if seen[o] {
				t.Errorf("%s was delivered twice, and nothing was disturbed", o)
			}
			seen[o] = true
		case <-ctx.Done():
			t.Fatalf("%d of %d offers arrived", len(seen), many)
		}
	}
	stop()
	nodes.Wait()
	awaitEmpty(t, ctx, w.home)
}

// awaitEmpty waits until no offer waits: acknowledgements are on their way.
func awaitEmpty(t *testing.T, ctx context.Context, h engine.Home) {
	t.Helper()
	for waiting := -1; waiting != 0; {
		var err error
		if waiting, err = h.Waiting(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

func classesAreApart(t *testing.T, w world) {
	ctx := within(t)
	n, name := w.node(t, "n")
	offer(t, ctx, w.home, "any", "for-any")
	offer(t, ctx, w.home, name, "for-one")
	if got := next(t, ctx, n, name); got != "for-one" {
		t.Errorf("the node's own class has %s", got)
	}
	if got := next(t, ctx, n, "any"); got != "for-any" {
		t.Errorf("the class of all has %s", got)
	}
}

func offersAreNotDoubled(t *testing.T, w world) {
	ctx := within(t)
	n, _ := w.node(t, "n")
	for range 3 {
		offer(t, ctx, w.home, "any", "same")
	}
	if got := next(t, ctx, n, "any"); got != "same" {
		t.Errorf("got %s", got)
	}
	nothing(t, ctx, w, n, "any")
	awaitEmpty(t, ctx, w.home)
	offer(t, ctx, w.home, "any", "same") // it was taken, and is offered again
	if got := next(t, ctx, n, "any"); got != "same" {
		t.Errorf("got %s", got)
	}
}

// ask asks as a node does: again, until there is an answer.
func ask(t *testing.T, ctx context.Context, n engine.Node, question string) string {
	t.Helper()
	for {
		got, err := n.Ask(ctx, []byte(question))
		if err == nil {
			return string(got)
		}
		if !errors.Is(err, engine.ErrNoAnswer) {
			t.Fatalf("ask: %v", err)
		}
	}
}

func homeAnswers(t *testing.T, w world) {
	ctx := within(t)
	a, _ := w.node(t, "a")
	b, _ := w.node(t, "b")
	if _, err := a.Ask(ctx, []byte("early")); !errors.Is(err, engine.ErrNoAnswer) {
		t.Errorf("nobody answers, and the node hears %v", err)
	}
	var mu sync.Mutex
	names := map[string]string{}
	if err := w.home.Answer(func(node string, q []byte) []byte {
		mu.Lock()
		defer mu.Unlock()
		names[string(q)] = node
		return append([]byte("re "), q...)
	}); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			if got := ask(t, ctx, a, fmt.Sprint("a", i)); got != fmt.Sprint("re a", i) {
				t.Errorf("a%d was answered with %q", i, got)
			}
		})
	}
	all.Wait()
	if got := ask(t, ctx, b, "b"); got != "re b" {
		t.Errorf("b was answered with %q", got)
	}
	big := strings.Repeat("x", engine.MaxMessage-len("re "))
	if got := ask(t, ctx, b, big); got != "re "+big {
		t.Errorf("a big question was answered with %d bytes", len(got))
	}
	mu.Lock()
	defer mu.Unlock()
	if names["a0"] == "" || names["a0"] == names["b"] || names["a0"] != names["a99"] {
		t.Errorf("the home heard %q, %q and %q", names["a0"], names["a99"], names["b"])
	}
}

func wordsAreBounded(t *testing.T, w world) {
	ctx := within(t)
	for _, bad := range []string{"", "a.b", "a>", "*", "a b", "a\r\nPUB x", strings.Repeat("a", 81)} {
		if w.home.Offer(ctx, bad, "ok", nil) == nil || w.home.Offer(ctx, "ok", bad, nil) == nil {
			t.Errorf("%q is taken for a word", bad)
		}
	}
	n, _ := w.node(t, "n")
	big := bytes.Repeat([]byte("x"), engine.MaxMessage+1)
	if w.home.Offer(ctx, "any", "big", big) == nil {
		t.Error("an offer without bound is taken")
	}
	if _, err := n.Ask(ctx, big); err == nil || errors.Is(err, engine.ErrNoAnswer) {
		t.Errorf("a question without bound: %v", err)
	}
	offer(t, ctx, w.home, "any", "ok") // the control
	if got := next(t, ctx, n, "any"); got != "ok" {
		t.Errorf("got %s", got)
	}
}

// everythingIsLost plays a home that keeps a journal and offers again whatever is not done,
// while the engine loses its store. Every task is granted once and done once.
func everythingIsLost(t *testing.T, w world) {
	ctx := within(t)
	const many = 60
	book := &book{granted: map[string]string{}, done: map[string]int{}}
	if err := w.home.Answer(book.answer); err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(ctx)
	var nodes sync.WaitGroup
	for i := range 3 {
		n, _ := w.node(t, fmt.Sprint("n", i))
		nodes.Go(func() { work(stopped, n) })
	}
	lost := false
	for book.left(many) > 0 && ctx.Err() == nil {
		for i := range many {
			if name := fmt.Sprint("t", i); !book.isGranted(name) {
				_ = w.home.Offer(ctx, "any", name, []byte(name)) // what fails is offered again
			}
		}
		if !lost && book.left(many) < many/2 || !lost && book.left(many) == many {
			w.lose(t)
			lost = true
		}
	}
	stop()
	nodes.Wait()
	if !lost {
		t.Error("the engine lost nothing")
	}
	for i := range many {
		if n := book.done[fmt.Sprint("t", i)]; n != 1 {
			t.Errorf("t%d was done %d times", i, n)
		}
	}
}

// book is the journal of such a home.
type book struct {
	mu      sync.Mutex
	granted map[string]string // the node that has it
	done    map[string]int
}

func (b *book) answer(node string, q []byte) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	verb, name, _ := strings.Cut(string(q), " ")
	switch {
	case verb == "grant" && b.granted[name] == "":
		b.granted[name] = node
		return []byte("yes")
	case verb == "grant" && b.granted[name] == node:
		return []byte("yes") // the first answer was lost
	case verb == "done" && b.granted[name] == node && b.done[name] == 0:
		b.done[name]++
	}
	return []byte("no")
}

func (b *book) isGranted(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.granted[name] != ""
}

func (b *book) left(many int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return many - len(b.done)
}

// work is a node: it asks again until it is answered.
func work(ctx context.Context, n engine.Node) {
	for ctx.Err() == nil {
		name, err := n.Next(ctx, "any")
		if err != nil {
			continue
		}
		if string(insist(ctx, n, "grant "+string(name))) == "yes" {
			insist(ctx, n, "done "+string(name))
		}
	}
}

func insist(ctx context.Context, n engine.Node, q string) []byte {
	for ctx.Err() == nil {
		if a, err := n.Ask(ctx, []byte(q)); err == nil {
			return a
		}
	}
	return nil
}

func closed(t *testing.T, w world) {
	ctx := within(t)
	n, _ := w.node(t, "n")
	limited, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { _, err := n.Next(limited, "any"); ended <- err }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a node that waits no longer: %v", err)
	}
	if err := w.home.Close(); err != nil {
		t.Error(err)
	}
	if err := w.home.Offer(ctx, "any", "late", nil); err == nil {
		t.Error("a closed engine takes an offer")
	}
}
