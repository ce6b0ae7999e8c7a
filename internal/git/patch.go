package git

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"cordon/internal/gitfile"
)

// Patch writes the difference between two commits for a person to read. Names
// and contents are a worker's: no attribute, textconv or external program has a
// say in how they are shown. A small file that git takes for binary because of a NUL in it,
// and that is text otherwise, is shown as text: a shell runs it all the same. With the
// argument --stat it writes the statistics alone.
func (r Repo) Patch(ctx context.Context, out io.Writer, from, to OID, color bool, args ...string) error {
	when := "--color=never"
	if color {
		when = "--color=always"
	}
	k := call{stdout: out, args: append([]string{"diff-tree", "-r", "--no-textconv", "--no-ext-diff", "--no-renames", "--full-index", when}, args...)}
	if !slices.Contains(args, "--stat") {
		k.args = append(k.args, "-p")
	}
	k.args = append(k.args, string(from), string(to))
	if texts := r.textsWithNUL(ctx, from, to); len(texts) > 0 {
		file, err := textAttributes(texts)
		if err != nil {
			return err
		}
		defer os.Remove(file)
		k.config = []string{"core.attributesFile=" + file}
	}
	_, err := r.call(ctx, k)
	return err
}

// The bounds of what is looked at.
const (
	maxTexts   = 200
	maxTextLen = 64 << 10
)

// textsWithNUL lists the changed files that git takes for binary and that are text. It
// lists none where there is more to look at than cordon reads from git.
func (r Repo) textsWithNUL(ctx context.Context, from, to OID) (texts []string) {
	out, err := r.call(ctx, call{args: []string{"diff-tree", "-r", "-z", "--numstat", "--no-textconv", "--no-ext-diff", "--no-renames", string(from), string(to)}})
	if err != nil {
		return nil
	}
	binary := map[string]bool{}
	for _, rec := range lines(out) {
		if name, ok := strings.CutPrefix(rec, "-\t-\t"); ok && len(binary) < maxTexts {
			binary[name] = true
		}
	}
	if len(binary) == 0 {
		return nil
	}
	deltas, err := r.Diff(ctx, from, to)
	if err != nil {
		return nil
	}
	deltas = slices.DeleteFunc(deltas, func(d Delta) bool { return !binary[d.Path] })
	var oids []OID
	for _, d := range deltas {
		oids = append(oids, d.Old.OID, d.New.OID)
	}
	small, err := r.smaller(ctx, oids, "blob", maxTextLen)
	if err != nil {
		return nil
	}
	contents, err := r.contents(ctx, small)
	if err != nil {
		return nil
	}
	for _, d := range deltas {
		old, hasOld := contents[d.Old.OID]
		now, hasNow := contents[d.New.OID]
		if hasNow && textual(now) && (hasOld || d.Old.Mode == Absent) || d.New.Mode == Absent && hasOld && textual(old) {
			texts = append(texts, d.Path)
		}
	}
	return texts
}

// textual reports whether a file is text but for its NULs: its first line is, or most of it.
func textual(content string) bool {
	content = strings.ReplaceAll(content, "\x00", "")
	first, _, ended := strings.Cut(content, "\n")
	return ended && unreadable(first) == 0 || unreadable(content)*10 <= len(content)*3
}

// unreadable counts the bytes that are no text.
func unreadable(text string) (n int) {
	for i, c := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		if c == utf8.RuneError && size == 1 || c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
			n++
		}
	}
	return n
}

// textAttributes writes a file of attributes that make git take files for text.
func textAttributes(paths []string) (string, error) {
	f, err := os.CreateTemp("", "cordon-attributes-*")
	if err != nil {
		return "", err
	}
	special := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)
	for _, p := range paths {
		_, werr := f.WriteString(gitfile.Quote("/"+special.Replace(p)) + " diff\n")
		err = errors.Join(err, werr)
	}
	return f.Name(), errors.Join(err, f.Close())
}
