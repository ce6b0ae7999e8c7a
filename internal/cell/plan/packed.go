package plan

import (
	"encoding/binary"
	"errors"
)

// A plan travels to the cell as bytes that one list of its fields both writes and reads:
// JSON takes a millisecond to learn the types and to read a plan, at every start of a cell,
// and has no place for names that are not text.

// Pack is a plan as bytes.
func (s Spec) Pack() []byte {
	t := &tape{b: make([]byte, 0, 32<<10)}
	t.spec(&s)
	return t.b
}

// ErrPacked says that bytes are not a plan of this version.
var ErrPacked = errors.New("this is not a plan of this version of cordon")

// Unpack reads a plan, all of it and nothing else.
func Unpack(b []byte) (Spec, error) {
	var s Spec
	t := &tape{b: b, reads: true}
	t.spec(&s)
	if t.failed || len(t.b) > 0 {
		return Spec{}, ErrPacked
	}
	return s, nil
}

// tape writes values one after the other, or reads them in the same order.
type tape struct {
	b      []byte // written so far, or still to be read
	reads  bool
	failed bool
}

func (t *tape) spec(s *Spec) {
	t.texts(&s.Argv)
	t.text(&s.Dir)
	t.texts(&s.Env)
	each(t, &s.Layers, named)
	each(t, &s.View, (*tape).op)
	for _, list := range []*[]string{&s.Write, &s.Read, &s.Hidden, &s.Shown, &s.Sockets} {
		t.texts(list)
	}
	t.text(&s.Keep)
	t.limits(&s.Limits)
	t.is(&s.Trace)
	maybe(t, &s.Trial, (*tape).trial)
	maybe(t, &s.Net, (*tape).net)
	t.is(&s.Inward)
	number(t, &s.Proxy)
	each(t, &s.Dial, number)
	t.proof(&s.Proof)
	for i := range s.Terminal {
		t.is(&s.Terminal[i])
	}
}

func (t *tape) op(o *Op) {
	named(t, &o.Do)
	t.text(&o.At)
	t.text(&o.From)
	t.texts(&o.Below)
	t.is(&o.Write)
	t.text(&o.Layer)
	t.is(&o.Sealed)
	t.text(&o.Kept)
	t.is(&o.Bare)
	for _, list := range []*[]string{&o.Absent, &o.Make, &o.Files} {
		t.texts(list)
	}
	each(t, &o.Links, func(t *tape, l *Link) { t.text(&l.Name); t.text(&l.To) })
	t.is(&o.File)
	number(t, &o.Mode)
	number(t, &o.Size)
}

func (t *tape) limits(l *Limits) {
	number(t, &l.Memory)
	number(t, &l.Disk)
	number(t, &l.Processes)
	number(t, &l.Files)
	t.texts(&l.Watched)
	t.is(&l.Group)
}

func (t *tape) trial(r *Trial) {
	t.texts(&r.Argv)
	t.text(&r.Input)
}

func (t *tape) net(n *Net) {
	each(t, &n.Ports, number)
	each(t, &n.Host, number)
	t.is(&n.Anywhere)
	t.is(&n.Names)
	t.is(&n.Spare)
}

func (t *tape) proof(p *Proof) {
	t.text(&p.Outside)
	t.is(&p.Private)
	t.texts(&p.Hidden)
	t.texts(&p.Closed)
	t.texts(&p.Placed)
	t.texts(&p.Connect)
	number(t, &p.Parent)
	t.texts(&p.Inside)
	t.texts(&p.Sealed)
	t.text(&p.Commit)
	t.text(&p.Objects)
	t.text(&p.Git)
	number(t, &p.Elsewhere)
}

// integer are the kinds of numbers in a plan.
type integer interface {
	~int | ~int64 | ~uint16 | ~uint32
}

func number[N integer](t *tape, n *N) {
	if !t.reads {
		t.b = binary.AppendVarint(t.b, int64(*n))
		return
	}
	v, size := binary.Varint(t.b)
	if size <= 0 || int64(N(v)) != v {
		t.fail()
		return
	}
	*n, t.b = N(v), t.b[size:]
}

func (t *tape) is(b *bool) {
	v := 0
	if *b {
		v = 1
	}
	if number(t, &v); v != 0 && v != 1 {
		t.fail()
	}
	*b = v == 1
}

// count is how many of something follow: -1 is of a list that there is not.
func (t *tape) count(n int) int {
	number(t, &n)
	if n < -1 || n > len(t.b) && t.reads {
		t.fail()
		return -1
	}
	return n
}

func (t *tape) text(s *string) { named(t, s) }

func named[S ~string](t *tape, s *S) {
	n := t.count(len(*s))
	switch {
	case !t.reads:
		t.b = append(t.b, *s...)
	case n < 0:
		t.fail()
	default:
		*s, t.b = S(t.b[:n]), t.b[n:]
	}
}

func (t *tape) texts(list *[]string) { each(t, list, named) }

// each is a list. Every entry takes a byte at least.
func each[E any](t *tape, list *[]E, one func(*tape, *E)) {
	n := len(*list)
	if *list == nil {
		n = -1
	}
	if n = t.count(n); t.reads && n >= 0 {
		*list = make([]E, n)
	}
	for i := range *list {
		if t.failed {
			return
		}
		one(t, &(*list)[i])
	}
}

// maybe is something that a plan need not have.
func maybe[E any](t *tape, v **E, one func(*tape, *E)) {
	has := *v != nil
	if t.is(&has); !has {
		return
	}
	if t.reads {
		*v = new(E)
	}
	one(t, *v)
}

// fail makes everything that follows empty.
func (t *tape) fail() { t.failed, t.b = true, nil }
