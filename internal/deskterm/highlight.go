package deskterm

import (
	"slices"

	"cordon/internal/desk"
)

// kindInks are the inks of what a language marks.
var kindInks = map[desk.Kind]ink{desk.Keyword: inkKeyword, desk.Quoted: inkString, desk.Remark: inkComment, desk.Called: inkFunc}

// highlight gives the words of a line their inks. It never changes a character.
func highlight(g *desk.Language, l line) line {
	if g == nil {
		return l
	}
	letters := make([]string, len(l))
	for i, c := range l {
		letters[i] = c.text
	}
	out := slices.Clone(l)
	for _, s := range g.Spans(letters) {
		for i := s.From; i < s.To; i++ {
			if out[i].look.ink == inkText {
				out[i].look.ink = kindInks[s.Kind]
			}
		}
	}
	return out
}
