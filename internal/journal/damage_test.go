package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// lineAt returns the number of the line that the byte at offset belongs to, its
// newline included.
func lineAt(b []byte, offset int) int { return bytes.Count(b[:offset], []byte("\n")) + 1 }

// TestEveryByte changes each byte of a journal, to another by one bit, to a
// newline, a space and zero.
func TestEveryByte(t *testing.T) {
	t.Parallel()
	dir := memoryDir(t)
	sample(t, dir, 3)
	good := get(t, dir, File)
	for i := range good {
		for _, b := range []byte{good[i] ^ 1, good[i] ^ 0x20, '\n', ' ', 0} {
			if b == good[i] {
				continue
			}
			bad := bytes.Clone(good)
			bad[i] = b
			put(t, dir, File, bad)
			c := refused(t, dir)
			if want := lineAt(good, i); c.Line != want || c.Seq != uint64(want) || bytes.Count(good[:c.Offset], []byte("\n")) != want-1 {
				t.Errorf("byte %d from %q to %q: reported as %v, want line %d", i, good[i], b, c, want)
			}
		}
	}
	put(t, dir, File, good)
	if r := verify(t, dir); r.Problem != nil || r.Events != 3 {
		t.Errorf("unchanged: %+v", r)
	}
}

func TestEveryByteOfHead(t *testing.T) {
	dir := memoryDir(t)
	sample(t, dir, 2)
	good := get(t, dir, HeadFile)
	for i := range good {
		for _, b := range []byte{good[i] ^ 1, good[i] ^ 0x20, '\n', 0} {
			bad := bytes.Clone(good)
			bad[i] = b
			if bytes.Equal(bad, good) {
				continue
			}
			put(t, dir, HeadFile, bad)
			if c := refused(t, dir); c.Line != 0 || !strings.Contains(c.Problem, "journal.head is damaged") {
				t.Errorf("byte %d to %q: %v", i, b, c)
			}
		}
	}
	for _, bad := range [][]byte{nil, good[:len(good)-1], append(bytes.Clone(good), '\n'), append(bytes.Clone(good), good...)} {
		put(t, dir, HeadFile, bad)
		if c := refused(t, dir); c.Line != 0 {
			t.Errorf("head %q: %v", bad, c)
		}
	}
}

func TestHeadRemoved(t *testing.T) {
	dir := memoryDir(t)
	sample(t, dir, 2)
	if err := os.Remove(filepath.Join(dir, HeadFile)); err != nil {
		t.Fatal(err)
	}
	if c := refused(t, dir); c.Line != 0 || !strings.Contains(c.Problem, "journal.head is missing") {
		t.Errorf("%v", c)
	}
	if r := verify(t, dir); r.Events != 2 {
		t.Errorf("the events that are sound are not counted: %+v", r)
	}
	put(t, dir, File, nil)
	refused(t, dir)
}

// damage rewrites the journal of dir as lines and asserts where and as what
// it is reported.
func damage(t *testing.T, dir string, lines []string, line int, words ...string) {
	t.Helper()
	put(t, dir, File, []byte(strings.Join(lines, "")))
	c := refused(t, dir)
	named := slices.ContainsFunc(words, func(w string) bool { return strings.Contains(c.Problem, w) })
	if c.Line != line || !named {
		t.Errorf("reported as %q, want line %d, %q", c.Error(), line, words)
	}
	if c.Line > 0 && c.Offset != int64(len(strings.Join(lines[:c.Line-1], ""))) {
		t.Errorf("reported at byte %d, which does not begin line %d", c.Offset, c.Line)
	}
	if r := verify(t, dir); c.Line > 0 && r.Events != line-1 {
		t.Errorf("%d sound events before line %d", r.Events, line)
	}
}

func TestEveryLineRemoved(t *testing.T) {
	dir := memoryDir(t)
	lines := sample(t, dir, 7)
	for from := range lines {
		for to := from + 1; to <= len(lines); to++ {
			what := "missing"
			if to == len(lines) {
				what = "cut off the end"
			}
			damage(t, dir, slices.Delete(slices.Clone(lines), from, to), from+1, what)
		}
	}
	if err := os.Remove(filepath.Join(dir, File)); err != nil {
		t.Fatal(err)
	}
	if r := verify(t, dir); r.Problem == nil || r.Problem.Line != 1 {
		t.Errorf("file of events removed: %+v", r)
	}
}

func TestEveryLineDuplicated(t *testing.T) {
	dir := memoryDir(t)
	lines := sample(t, dir, 6)
	for i := range lines {
		for at := i + 1; at <= len(lines); at++ {
			damage(t, dir, slices.Insert(slices.Clone(lines), at, lines[i]), at+1, "duplicate")
		}
	}
}

func TestEveryLineMoved(t *testing.T) {
	dir := memoryDir(t)
	lines := sample(t, dir, 6)
	for a := range lines {
		for b := range lines {
			if a == b {
				continue
			}
			swapped := slices.Clone(lines)
			swapped[a], swapped[b] = swapped[b], swapped[a]
			damage(t, dir, swapped, min(a, b)+1, "reordered")
			moved := slices.Delete(slices.Clone(lines), a, a+1)
			moved = slices.Insert(moved, b, lines[a])
			damage(t, dir, moved, min(a, b)+1, "reordered")
		}
	}
}

func TestForeignLine(t *testing.T) {
	dir, other := memoryDir(t), memoryDir(t)
	lines, theirs := sample(t, dir, 4), sample(t, other, 5)
	for at := range len(lines) + 1 {
		for _, line := range []string{"\n", "{}\n", "hello\n", "\x00\n", strings.Repeat("x", 70<<10) + "\n"} {
			if line == "\x00\n" && at == len(lines) {
				continue // blocks that power failed to write: see TestCrashStates
			}
			damage(t, dir, slices.Insert(slices.Clone(lines), at, line), at+1, "foreign")
		}
		damage(t, dir, slices.Insert(slices.Clone(lines), at, theirs[4]), at+1, "foreign", "missing", "reordered")
		// A first line has nothing before it that could give it away.
		damage(t, dir, slices.Insert(slices.Clone(lines), at, theirs[at]), max(at+1, 2), "foreign")
	}
	// The whole journal of somebody else, and a line written anew with a
	// sound hash: only the chain and the head can tell.
	damage(t, dir, theirs[:4], 4, "not the event 4 that journal.head vouches for")
	sound, err := decode([]byte(lines[1]))
	must(t, sound, err)
	sound.Type = "test.forged"
	damage(t, dir, []string{lines[0], string(sound.encode()), lines[2], lines[3]}, 3, "does not continue the line before")
	gap := Event{Seq: 6, Time: now(), Type: "test.gap", Prev: sum([]byte(lines[3]))}
	damage(t, dir, append(slices.Clone(lines), string(gap.encode())), 5, "event 5 missing")
}

// TestNotCanonical makes lines that mean the same as a sound one, with a
// matching hash, in other bytes.
func TestNotCanonical(t *testing.T) {
	dir := memoryDir(t)
	line := sample(t, dir, 1)[0]
	body := line[:strings.Index(line, `,"hash":`)]
	for name, edit := range map[string]func(string) string{
		"space":          func(s string) string { return strings.Replace(s, ":", ": ", 1) },
		"space in data":  func(s string) string { return strings.Replace(s, `,"text"`, `, "text"`, 1) },
		"return":         func(s string) string { return strings.Replace(s, ",", ",\r", 1) },
		"key in capital": func(s string) string { return strings.Replace(s, `"seq"`, `"SEQ"`, 1) },
		"twice":          func(s string) string { return strings.Replace(s, `"seq":1`, `"seq":1,"seq":1`, 1) },
		"unknown key":    func(s string) string { return strings.Replace(s, `"seq":1`, `"seq":1,"x":1`, 1) },
		"escape":         func(s string) string { return strings.Replace(s, `"calm`, `"\u0063alm`, 1) },
		"zone":           func(s string) string { return strings.Replace(s, `Z"`, `+00:00"`, 1) },
		"zeros":          func(s string) string { return strings.Replace(s, `Z"`, `000000000Z"`, 1) },
		"exponent":       func(s string) string { return strings.Replace(s, `"seq":1`, `"seq":1e0`, 1) },
		"empty worker":   func(s string) string { return strings.Replace(s, `calm-otter`, ``, 1) },
		"null data":      func(s string) string { return s[:strings.Index(s, `{"n"`)] + "null" + s[strings.Index(s, `,"prev"`):] },
		"not UTF-8":      func(s string) string { return strings.Replace(s, `a<b>`, "a\xff", 1) },
	} {
		bad := edit(body)
		if bad == body {
			t.Fatalf("%s: nothing edited in %s", name, body)
		}
		if e, err := decode(seal([]byte(bad))); err != errForeign {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
	if _, err := decode(seal([]byte(body))); err != nil {
		t.Errorf("unedited: %v", err)
	}
}

func TestLongLine(t *testing.T) {
	t.Parallel()
	dir := memoryDir(t)
	lines := sample(t, dir, 2)
	damage(t, dir, append(lines, strings.Repeat("x", MaxLine)+"\n"), 3, "longer than")
	damage(t, dir, append(lines, strings.Repeat("x", maxTorn+1)), 3, "longer than any event")
}

// TestEveryCut cuts the journal at each byte, with each head it may have had at
// the time. A cut below the head is damage; one above it is a crash, and
// repaired with the events before it intact.
func TestEveryCut(t *testing.T) {
	t.Parallel()
	dir := memoryDir(t)
	lines := sample(t, dir, 2)
	good := get(t, dir, File)
	want := all(t, dir)
	for k := range len(lines) + 1 {
		p := start()
		for _, l := range lines[:k] {
			_, p, _ = p.next([]byte(l))
		}
		for cut := range len(good) + 1 {
			put(t, dir, HeadFile, p.encodeHead())
			put(t, dir, File, good[:cut])
			whole := bytes.Count(good[:cut], []byte("\n"))
			if cut < int(p.length) {
				what := "cut off the end"
				if good[max(cut, 1)-1] != '\n' && cut > 0 {
					what = "cut short"
				}
				if c := refused(t, dir); c.Line != whole+1 || !strings.Contains(c.Problem, what) {
					t.Fatalf("head %d, cut at %d: %v", k, cut, c)
				}
				continue
			}
			repaired(t, dir, want[:whole], good[:cut])
		}
	}
}

// repaired asserts that a journal with the given bytes reads as the events, and
// that an append loses neither these nor a byte of the torn end.
func repaired(t fatal, dir string, events []Event, content []byte) {
	t.Helper()
	torn := content[bytes.LastIndexByte(content, '\n')+1:]
	r := verify(t, dir)
	if r.Problem != nil || r.Torn != (len(torn) > 0) || r.Events != len(events) {
		t.Fatalf("Verify: %+v, want %d events, torn %q", r, len(events), torn)
	}
	equal(t, all(t, dir), events)
	if got := get(t, dir, File); !bytes.Equal(got, content) {
		t.Fatalf("a reader changed the journal")
	}
	last := add(t, open(t, dir), "test.after", nil)
	events = slices.Clone(events)
	got := all(t, dir)
	if len(torn) > 0 {
		events = append(events, stands(t, got[len(events)], torn, len(content)-len(torn)))
	}
	equal(t, got, append(events, last))
	if r := verify(t, dir); r.Problem != nil || r.Torn {
		t.Fatalf("after the repair: %+v", r)
	}
}
