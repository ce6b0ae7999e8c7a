package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// explosive gives up on a word whose braces make too many. The library counts
// them one by one while it makes them.
func (m *Machine) explosive(w *syntax.Word) {
	for _, p := range w.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok || !strings.Contains(lit.Value, "{") {
			continue
		}
		split := *w
		if syntax.SplitBraces(&split) && braces(&split, 0) > maxBraces {
			m.run.stop("it expands to too many words")
		}
		return
	}
}

// maxBraces bounds the words that the braces of one word make.
const maxBraces = 4 << 10

// braces is how many words a word makes, or more than allowed.
func braces(w *syntax.Word, depth int) int {
	if depth > maxDepth {
		return maxBraces + 1
	}
	n := 1
	for _, p := range w.Parts {
		if b, ok := p.(*syntax.BraceExp); ok {
			n *= alternatives(b, depth)
		}
		if n > maxBraces {
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
		if sum += braces(e, depth+1); sum > maxBraces {
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
	if span := uint64(to) - uint64(from); span < maxBraces {
		return int(span) + 1
	}
	return maxBraces + 1
}
