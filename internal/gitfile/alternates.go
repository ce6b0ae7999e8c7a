package gitfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// WriteAlternates makes the object directory objects read from another one. A
// path that git would misread in the file (a newline, a leading quote or
// comment sign) is quoted the way git unquotes.
func WriteAlternates(objects, from string) error {
	if err := os.MkdirAll(filepath.Join(objects, "info"), 0o755); err != nil {
		return err
	}
	if strings.ContainsAny(from, "\n\"\\#") {
		from = Quote(from)
	}
	return os.WriteFile(filepath.Join(objects, "info", "alternates"), []byte(from+"\n"), 0o644)
}

// Quote quotes a path in git's C style: bytes outside printable ASCII are
// octal escapes.
func Quote(p string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c >= 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
