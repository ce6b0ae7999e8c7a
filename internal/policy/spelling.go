package policy

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// spelling is one component of a path in the forms in which it is compared. A
// root covers what the worktree's own file system takes for its name. A deny
// must also hold on every file system that the result may be checked out on.
type spelling struct {
	key  string // as the worktree's file system compares it
	wide string // without case, Unicode form and invisible characters
	bare string // wide, without an NTFS stream and without dots and blanks at the end
}

// keyed spells names for this machine alone.
func (f folding) keyed(names []string) []spelling {
	list := make([]spelling, 0, len(names))
	for _, name := range names {
		list = append(list, spelling{key: f.key(name)})
	}
	return list
}

// spell spells names for every file system.
func (f folding) spell(names []string) []spelling {
	list := make([]spelling, 0, len(names))
	for _, name := range names {
		wide := Folded(name)
		list = append(list, spelling{key: f.key(name), wide: wide, bare: bareName(wide)})
	}
	return list
}

// Folded maps names that some file system takes for one file to one string: it
// drops invisible characters and applies canonical normalisation and full case
// folding, as HFS+, APFS and the case-folding directories of Linux do.
func Folded(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return fold(expand(norm.NFD.String(strings.Map(dropInvisible, s))))
}

func dropInvisible(r rune) rune {
	if r >= 0x00ad && unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return -1
	}
	return r
}

// expand applies the part of full case folding that makes several characters of
// one. golang.org/x/text/cases has all of it, and spends more time on setting
// itself up at every start than a hook may take; a test compares the two.
func expand(s string) string {
	return expansions.Replace(s)
}

// expansions are the characters of that kind that canonical decomposition leaves.
var expansions = strings.NewReplacer(
	"ß", "ss", "ẞ", "ss", "ŉ", "ʼn", "ẚ", "aʾ", "և", "եւ", "ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi",
	"ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st", "ﬓ", "մն", "ﬔ", "մե", "ﬕ", "մի", "ﬖ", "վն", "ﬗ", "մխ",
)

// bareName is what Windows makes of a name: it drops the name of a stream, then
// dots and blanks at the end.
func bareName(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return strings.TrimRight(name, ". ")
}

// isShortOf reports whether a name is a short name (8.3) that Windows gives to a
// file whose name matches a pattern: VSCODE~1 for .vscode, CORDON~1.YAM for
// cordon.yaml. Both are folded. Of a glob, the letters before its first wildcard
// and a literal extension are compared.
func isShortOf(name, pattern string) bool {
	stem, rest, found := strings.Cut(name, "~")
	if !found || stem == "" {
		return false
	}
	number, ext, _ := strings.Cut(rest, ".")
	if number == "" || len(number) > 6 || strings.Trim(number, "0123456789") != "" || !isGlob(pattern) && isShort(pattern) {
		return false
	}
	base, long, glob := shortParts(pattern)
	if base == "" && long == "" || long != "*" && ext != long[:min(3, len(long))] {
		return false
	}
	room := 7 - len(number) // of eight characters, less the tilde
	if len(stem) == min(6, room) && strings.HasPrefix(stem, base[:min(2, len(base))]) && isHex(stem[min(2, len(stem)):]) {
		return true // after four names alike, Windows takes two letters and a hash
	}
	if glob {
		n := min(len(stem), len(base))
		return len(stem) <= room && stem[:n] == base[:n]
	}
	return stem == base[:min(room, 6, len(base))]
}

// shortParts takes a pattern apart as Windows does a long name: leading dots,
// inner dots and blanks are dropped. Of a glob the base ends at the first
// wildcard, and the extension is * where it is not literal.
func shortParts(pattern string) (base, ext string, glob bool) {
	base = strings.TrimLeft(pattern, ".")
	if i := strings.LastIndexByte(base, '.'); i >= 0 {
		base, ext = base[:i], base[i+1:]
	}
	if isGlob(ext) {
		ext, glob = "*", true
	}
	if isGlob(base) {
		base, glob = literalPrefix(base), true
	}
	return strings.NewReplacer(".", "", " ", "").Replace(base), ext, glob
}

// isShort reports whether Windows gives a name no other short name.
func isShort(name string) bool {
	base, ext, _ := strings.Cut(name, ".")
	return base != "" && len(base) <= 8 && len(ext) <= 3 && !strings.ContainsAny(name, " ~") && !strings.Contains(ext, ".")
}

func isHex(s string) bool { return s != "" && strings.Trim(s, "0123456789ABCDEF") == "" }
