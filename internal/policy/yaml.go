package policy

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// YAML writes p in its canonical form, with a comment for each key. Parse reads
// it back to the same Policy.
func (p Policy) YAML() []byte {
	var b strings.Builder
	writeFields(&b, p, fieldTable(), "")
	return []byte(b.String())
}

func writeFields(b *strings.Builder, p Policy, fields []field, indent string) {
	for i, f := range fields {
		if indent == "" && i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(b, "%s# %s\n%s%s:", indent, f.doc, indent, f.key)
		if f.fields != nil {
			b.WriteByte('\n')
			writeFields(b, p, f.fields, indent+"  ")
			continue
		}
		writeValue(b, f.show(p), indent)
	}
}

func writeValue(b *strings.Builder, v shown, indent string) {
	switch {
	case !v.isList:
		fmt.Fprintf(b, " %s\n", v.scalar)
	case len(v.list) == 0:
		b.WriteString(" []\n")
	default:
		b.WriteByte('\n')
		for _, s := range v.list {
			fmt.Fprintf(b, "%s  - %s\n", indent, v.entry(s))
		}
	}
}

// yamlQuote writes s as a double-quoted YAML scalar. Everything that does not
// print is escaped: neither Go's nor JSON's quoting survives a YAML reader for
// every character.
func yamlQuote(s string) string {
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
