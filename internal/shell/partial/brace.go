package partial

import (
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// MaxWords bounds the words that the braces of one word make.
const MaxWords = 4 << 10

// maxNested is how deep braces may be inside each other.
const maxNested = 48

// Words is how many words a word makes, or more than allowed.
func Words(w *syntax.Word, depth int) int {
	if depth > maxNested {
		return MaxWords + 1
	}
	n := 1
	for _, p := range w.Parts {
		if b, ok := p.(*syntax.BraceExp); ok {
			n *= alternatives(b, depth)
		}
		if n > MaxWords {
			return n
		}
	}
	return n
}

func alternatives(b *syntax.BraceExp, depth int) int {
	if b.Sequence {
		return sequence(b)
	}
	sum := 0
	for _, e := range b.Elems {
		if sum += Words(e, depth+1); sum > MaxWords {
			break
		}
	}
	return sum
}

func sequence(b *syntax.BraceExp) int {
	if len(b.Elems) < 2 {
		return 1
	}
	from, err1 := strconv.ParseInt(b.Elems[0].Lit(), 10, 64)
	to, err2 := strconv.ParseInt(b.Elems[1].Lit(), 10, 64)
	if err1 != nil || err2 != nil {
		return 128 // characters
	}
	if from > to {
		from, to = to, from
	}
	if span := uint64(to) - uint64(from); span < MaxWords {
		return int(span) + 1
	}
	return MaxWords + 1
}
