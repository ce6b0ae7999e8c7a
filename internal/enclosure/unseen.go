package enclosure

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/cell"
	"cordon/internal/lease"
	"cordon/internal/paths"
	"cordon/internal/policy"
)

// mostUnseen bounds how many paths are named.
const mostUnseen = 5

// ExplainHome names the paths of the operator's home that a command which failed was told to use, or named in the end of
// its output, and that its cell did not show, with the line that shows them. What is hidden by name is not offered.
func ExplainHome(l lease.Lease, rules policy.Rules, o *cell.Order, texts ...string) string {
	if o == nil || o.Home == "" || o.ReadsHome() {
		return ""
	}
	named := regexp.MustCompile(`(?:^|[^\w./~-])(?:~|\$HOME|\$\{HOME\}|` + regexp.QuoteMeta(o.Home) + `)/([^\s'"` + "`" + `;:|&<>()$*?\\]+)`)
	h := homeView{at: o.Home, named: l.Home, rules: rules}
	var unseen []string
	for _, text := range texts {
		for _, found := range named.FindAllStringSubmatch(text, -1) {
			at := filepath.Join(o.Home, strings.TrimRight(found[1], ".,"))
			if _, err := os.Lstat(at); err != nil || !paths.Below(at, o.Home) || h.hides(at) || hiddenByName(o, at) || placedIn(o, at) {
				continue
			}
			if real, err := filepath.EvalSymlinks(at); err == nil && !h.hides(real) && !hiddenByName(o, real) {
				unseen = append(unseen, policy.EscapeGlob("~"+at[len(o.Home):]))
			}
		}
	}
	slices.Sort(unseen)
	unseen = slices.Compact(unseen)
	if len(unseen) == 0 {
		return ""
	}
	unseen = unseen[:min(len(unseen), mostUnseen)]
	var quoted []string
	for _, root := range append(slices.Clone(l.Policy.Filesystem.ReadRoots), unseen...) {
		quoted = append(quoted, strconv.Quote(root))
	}
	return "the cell shows tools and caches of your home, and not " + strings.Join(unseen, ", ") +
		"; to show it: filesystem.read_roots: [" + strings.Join(quoted, ", ") + "]"
}

// placedIn reports whether a path lies in, or around, something that the cell shows in the home.
func placedIn(o *cell.Order, at string) bool {
	return slices.ContainsFunc(o.Placed(), func(p string) bool { return paths.Below(p, o.Home) && (paths.Within(at, p) || paths.Within(p, at)) })
}

// Tail keeps the end of what was written to it.
type Tail struct{ buf bytes.Buffer }

const tailSize = 4096

func (t *Tail) Write(p []byte) (int, error) {
	n := len(p)
	if len(p) > tailSize {
		p = p[len(p)-tailSize:]
	}
	t.buf.Write(p)
	if over := t.buf.Len() - tailSize; over > 0 {
		t.buf.Next(over)
	}
	return n, nil
}

func (t *Tail) String() string { return string(bytes.ToValidUTF8(t.buf.Bytes(), []byte("?"))) }
