package screen

import "unicode"

// wide are the characters that take two columns, as terminals draw them.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, {0x231a, 0x231b, 1}, {0x23e9, 0x23ec, 1}, {0x25fd, 0x25fe, 1}, {0x2614, 0x2615, 1}, {0x2648, 0x2653, 1},
		{0x26aa, 0x26ab, 1}, {0x26bd, 0x26be, 1}, {0x26c4, 0x26c5, 1}, {0x2705, 0x2705, 1}, {0x270a, 0x270b, 1}, {0x2728, 0x2728, 1},
		{0x274c, 0x274c, 1}, {0x2753, 0x2755, 1}, {0x2757, 0x2757, 1}, {0x2795, 0x2797, 1}, {0x2b1b, 0x2b1c, 1}, {0x2b50, 0x2b50, 1},
		{0x2e80, 0x303e, 1}, {0x3041, 0x33ff, 1}, {0x3400, 0x4dbf, 1}, {0x4e00, 0x9fff, 1}, {0xa000, 0xa4cf, 1}, {0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1}, {0xfe30, 0xfe6f, 1}, {0xff00, 0xff60, 1}, {0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{{0x1f300, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1}, {0x1f900, 0x1f9ff, 1}, {0x1fa70, 0x1faff, 1}, {0x20000, 0x3fffd, 1}},
}

// width is how many columns a character takes.
func width(c rune) int {
	switch {
	case unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, c):
		return 2
	}
	return 1
}

// lineDrawing is what a letter stands for in the character set of lines and corners.
func lineDrawing(c rune) rune {
	const letters, lines = "jklmnqtuvwx", "┘┐┌└┼─├┤┴┬│"
	drawn := []rune(lines)
	for i, l := range letters {
		if l == c {
			return drawn[i]
		}
	}
	return c
}
