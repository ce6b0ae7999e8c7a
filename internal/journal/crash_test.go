package journal

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func equal(t fatal, got, want []Event) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("event %d is %+v, want %+v", i+1, got[i], want[i])
		}
	}
}

// preserves asserts that e is the repair of torn bytes at offset.
func preserves(t fatal, e Event, torn []byte, offset int) Event {
	t.Helper()
	var r Repair
	if err := json.Unmarshal(e.Data, &r); err != nil {
		t.Fatalf("%v", err)
	}
	if e.Type != Repaired || !bytes.Equal(r.Torn, torn) || r.Offset != int64(offset) {
		t.Fatalf("%s at %d of %q, want %q at %d", e.Type, r.Offset, r.Torn, torn, offset)
	}
	return e
}

// stands asserts that e is what an append makes of torn bytes at offset: the
// event itself if they lack only the newline, or else their repair.
func stands(t fatal, e Event, torn []byte, offset int) Event {
	t.Helper()
	if _, err := decode(append(bytes.Clone(torn), '\n')); err != nil {
		return preserves(t, e, torn, offset)
	}
	if string(e.encode()) != string(torn)+"\n" {
		t.Fatalf("%q was not completed but became %+v", torn, e)
	}
	return e
}

// TestCrashStates has every state that the steps of the first, a later and a
// repairing append pass through, as a crash there would leave it.
func TestCrashStates(t *testing.T) {
	dir := t.TempDir()
	lines := sample(t, dir, 2)
	events := all(t, dir)
	heads := []position{start()}
	for _, l := range lines {
		_, p, _ := heads[len(heads)-1].next([]byte(l))
		heads = append(heads, p)
	}
	zero, one, two := string(heads[0].encodeHead()), string(heads[1].encodeHead()), string(heads[2].encodeHead())
	hole := lines[1][:5] + strings.Repeat("\x00", 40) + lines[1][45:]
	states := map[string]struct {
		files map[string]string
		want  int
	}{
		"locked":                {map[string]string{LockFile: ""}, 0},
		"first head, half":      {map[string]string{LockFile: "", HeadFile + ".new": zero[:9]}, 0},
		"first head":            {map[string]string{LockFile: "", HeadFile: zero}, 0},
		"empty file":            {map[string]string{LockFile: "", HeadFile: zero, File: ""}, 0},
		"half a first line":     {map[string]string{LockFile: "", HeadFile: zero, File: lines[0][:50]}, 0},
		"first line":            {map[string]string{LockFile: "", HeadFile: zero, File: lines[0]}, 1},
		"second head, half":     {map[string]string{LockFile: "", HeadFile: zero, HeadFile + ".new": one[:9], File: lines[0]}, 1},
		"second head":           {map[string]string{LockFile: "", HeadFile: one, File: lines[0]}, 1},
		"half a line":           {map[string]string{LockFile: "", HeadFile: one, File: lines[0] + lines[1][:50]}, 1},
		"unwritten line":        {map[string]string{LockFile: "", HeadFile: one, File: lines[0] + strings.Repeat("\x00", 600)}, 1},
		"line but for newline":  {map[string]string{LockFile: "", HeadFile: one, File: lines[0] + lines[1][:len(lines[1])-1]}, 1},
		"line, head behind":     {map[string]string{LockFile: "", HeadFile: one, File: lines[0] + lines[1]}, 2},
		"both lines, no anchor": {map[string]string{LockFile: "", HeadFile: zero, File: lines[0] + lines[1]}, 2},
		"half a repair": {map[string]string{LockFile: "", HeadFile: one, File: lines[0] + lines[1][:50],
			File + ".new": lines[0] + `{"seq":2`}, 1},
		"all": {map[string]string{LockFile: "", HeadFile: two, File: lines[0] + lines[1]}, 2},
	}
	for name, s := range states {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range s.files {
				put(t, dir, name, []byte(content))
			}
			if content, ok := s.files[File]; ok {
				repaired(t, dir, events[:s.want], []byte(content))
				return
			}
			equal(t, all(t, dir), events[:s.want])
			equal(t, []Event{add(t, open(t, dir), "test.x", nil)}, all(t, dir))
		})
	}
	t.Run("line with a hole", func(t *testing.T) {
		dir := t.TempDir()
		put(t, dir, HeadFile, []byte(one))
		put(t, dir, File, []byte(lines[0]+hole+lines[1]))
		if c := refused(t, dir); c.Line != 2 {
			t.Fatalf("with a line after it: %v", c)
		}
		put(t, dir, File, []byte(lines[0]+hole))
		if r := verify(t, dir); r.Problem != nil || !r.Torn || r.Events != 1 {
			t.Fatalf("%+v", r)
		}
		add(t, open(t, dir), "test.x", nil)
		preserves(t, all(t, dir)[1], []byte(hole), len(lines[0]))
	})
}

// TestRepairIsSeen asserts that a check and the observers see a repair.
func TestRepairIsSeen(t *testing.T) {
	dir := t.TempDir()
	lines := sample(t, dir, 1)
	put(t, dir, File, []byte(lines[0]+"torn"))
	j := open(t, dir)
	var moments []Moment
	j.Watch(func(m Moment, e Event) { moments = append(moments, m) })
	_, err := appendIf(j, "", "test.x", nil, func(es []Event) error {
		if len(es) != 2 {
			t.Fatalf("check saw %+v", es)
		}
		preserves(t, es[1], []byte("torn"), len(lines[0]))
		return nil
	})
	if err != nil || !slices.Equal(moments, []Moment{Before, After, Before, After}) {
		t.Errorf("%v, observed %v", err, moments)
	}
}

// TestLargestTear asserts that what is left of the largest line can be repaired.
func TestLargestTear(t *testing.T) {
	t.Parallel()
	dir := memoryDir(t)
	lines := sample(t, dir, 1)
	torn := bytes.Repeat([]byte("\x00"), maxTorn)
	put(t, dir, File, append([]byte(lines[0]), torn...))
	add(t, open(t, dir), "test.x", nil)
	preserves(t, all(t, dir)[1], torn, len(lines[0]))
}

// TestHeadCannotBeWritten asserts that an append whose line is written but
// whose head is not leaves the journal as it was.
func TestHeadCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	sample(t, dir, 2)
	before := get(t, dir, File)
	block := filepath.Join(dir, HeadFile+".new")
	if err := os.Mkdir(block, 0o700); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir)
	if e, err := j.Append("", "test.x", nil); err == nil {
		t.Errorf("recorded %+v", e)
	}
	if got := get(t, dir, File); !bytes.Equal(got, before) {
		t.Errorf("the journal was not cut back: %q", got)
	}
	if err := os.Remove(block); err != nil {
		t.Fatal(err)
	}
	if e := add(t, j, "test.x", nil); e.Seq != 3 {
		t.Errorf("then %+v", e)
	}
}

// TestHeadComesFirst asserts that no file of events is made before there is a
// head: a crash between the two would leave a journal that looks beheaded.
func TestHeadComesFirst(t *testing.T) {
	dir := t.TempDir()
	block := filepath.Join(dir, HeadFile+".new")
	if err := os.Mkdir(block, 0o700); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir)
	if e, err := j.Append("", "test.x", nil); err == nil {
		t.Errorf("recorded %+v", e)
	}
	if _, err := os.Lstat(filepath.Join(dir, File)); !os.IsNotExist(err) {
		t.Errorf("events without a head: %v", err)
	}
	if err := os.Remove(block); err != nil {
		t.Fatal(err)
	}
	equal(t, []Event{add(t, j, "test.x", nil)}, all(t, dir))
}

// machine drives a journal through appends, crashes and tears, beside a list of
// the events that must be in it.
type machine struct {
	dir  string
	js   []*Journal // processes with their own memories
	want []Event
	torn []byte
}

// settle puts into the model what an append does to a torn end.
func (m *machine) settle(t *rapid.T, got []Event) {
	if m.torn == nil {
		return
	}
	n := len(m.want)
	if len(got) <= n {
		t.Fatalf("nothing stands for the torn end %q", m.torn)
	}
	m.want, m.torn = append(m.want, stands(t, got[n], m.torn, m.size())), nil
}

func (m *machine) size() (n int) {
	for _, e := range m.want {
		n += len(e.encode())
	}
	return n
}

func (m *machine) journal(t *rapid.T) *Journal { return rapid.SampledFrom(m.js).Draw(t, "process") }

func (m *machine) append(t *rapid.T) {
	text := rapid.String().Draw(t, "text")
	e := add(t, m.journal(t), "test.append", map[string]string{"text": text})
	m.settle(t, all(t, m.dir))
	m.want = append(m.want, e)
}

func (m *machine) appendIf(t *rapid.T) {
	var seen []Event
	refuse := os.ErrInvalid
	if rapid.Bool().Draw(t, "accept") {
		refuse = nil
	}
	e, err := appendIf(m.journal(t), "", "test.if", nil, func(es []Event) error { seen = es; return refuse })
	m.settle(t, seen)
	equal(t, seen, m.want)
	if err != refuse {
		t.Fatalf("%v, want %v", err, refuse)
	}
	if err == nil {
		m.want = append(m.want, e)
	}
}

// crash leaves what an append killed after some of its bytes would: none of it
// was acknowledged, all of it may be there.
func (m *machine) crash(t *rapid.T) {
	if m.torn != nil || len(m.want) == 0 {
		return
	}
	last := m.want[len(m.want)-1]
	next := Event{Seq: last.Seq + 1, Time: now(), Type: "test.crash", Prev: sum(last.encode())}
	line := next.encode()
	n := rapid.IntRange(1, len(line)).Draw(t, "bytes")
	m.spill(t, line[:n])
	if n == len(line) {
		next, err := decode(line)
		m.want, m.torn = append(m.want, must(t, next, err)), nil
	}
}

func (m *machine) tear(t *rapid.T) {
	if m.torn == nil && len(m.want) > 0 {
		m.spill(t, bytes.ReplaceAll(rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(t, "junk"), []byte("\n"), []byte("n")))
	}
}

func (m *machine) spill(t *rapid.T, b []byte) {
	put(t, m.dir, File, append(get(t, m.dir, File), b...))
	m.torn = b
}

func (m *machine) restart(t *rapid.T) {
	m.js[rapid.IntRange(0, len(m.js)-1).Draw(t, "which")] = open(t, m.dir)
}

func (m *machine) check(t *rapid.T) {
	equal(t, all(t, m.dir), m.want)
	r := verify(t, m.dir)
	if r.Problem != nil || r.Events != len(m.want) || r.Torn != (m.torn != nil) {
		t.Fatalf("%+v with %d events, torn %q", r, len(m.want), m.torn)
	}
}

func TestMachine(t *testing.T) {
	t.Parallel()
	top := memoryDir(t)
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(top, "journal")
		must(t, dir, err)
		defer os.RemoveAll(dir)
		m := &machine{dir: dir, js: []*Journal{open(t, dir), open(t, dir)}}
		t.Repeat(map[string]func(*rapid.T){
			"append": m.append, "appendIf": m.appendIf, "crash": m.crash,
			"tear": m.tear, "restart": m.restart, "": m.check,
		})
	})
}
