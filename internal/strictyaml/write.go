package strictyaml

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Write writes t in its canonical form, with a comment for each key. A reader with
// the same table reads it back to the same value.
func Write[T any](t T, fields []Field[T]) []byte {
	var b strings.Builder
	writeFields(&b, t, fields, "")
	return []byte(b.String())
}

func writeFields[T any](b *strings.Builder, t T, fields []Field[T], indent string) {
	for i, f := range fields {
		if indent == "" && i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(b, "%s# %s\n%s%s:", indent, f.Doc, indent, f.Key)
		if f.Fields != nil {
			b.WriteByte('\n')
			writeFields(b, t, f.Fields, indent+"  ")
			continue
		}
		writeValue(b, f.Show(t), indent)
	}
}

func writeValue(b *strings.Builder, v Shown, indent string) {
	switch {
	case !v.IsList:
		fmt.Fprintf(b, " %s\n", v.Scalar)
	case len(v.List) == 0:
		b.WriteString(" []\n")
	default:
		b.WriteByte('\n')
		for _, s := range v.List {
			fmt.Fprintf(b, "%s  - %s\n", indent, v.Entry(s))
		}
	}
}

// Quote writes s as a double-quoted YAML scalar. Everything that does not
// print is escaped: neither Go's nor JSON's quoting survives a YAML reader for
// every character.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, s[i]) // not UTF-8: another text, and never the same one
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r):
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
