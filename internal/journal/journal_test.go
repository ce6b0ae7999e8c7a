package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func hexSum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

// TestFormat holds the package comment to its word, without the package's own
// encoder.
func TestFormat(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	first, err := j.Append("calm-otter", "lease.sealed", map[string]any{"path": "a<b>&c", "x": 1})
	must(t, first, err)
	second, err := j.Append("", "worker.started", nil)
	must(t, second, err)

	const stamp = "2006-01-02T15:04:05.999999999Z"
	body := fmt.Sprintf(`{"seq":1,"time":"%s","worker":"calm-otter","type":"lease.sealed","data":{"path":"a<b>&c","x":1},"prev":"%s"`,
		first.Time.Format(stamp), hexSum("cordon-journal-1"))
	line1 := body + `,"hash":"` + hexSum(body) + "\"}\n"
	body = fmt.Sprintf(`{"seq":2,"time":"%s","type":"worker.started","prev":"%s"`,
		second.Time.Format(stamp), hexSum(line1))
	line2 := body + `,"hash":"` + hexSum(body) + "\"}\n"
	if got := string(get(t, dir, File)); got != line1+line2 {
		t.Errorf("events:\n%swant:\n%s", got, line1+line2)
	}
	body = fmt.Sprintf(`{"format":"cordon-journal-1","seq":2,"head":"%s","length":%d`, second.Hash, len(line1+line2))
	if got, want := string(get(t, dir, HeadFile)), body+`,"hash":"`+hexSum(body)+"\"}\n"; got != want {
		t.Errorf("head:\n%swant:\n%s", got, want)
	}
	for _, name := range []string{File, HeadFile, LockFile} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if must(t, info, err).Mode() != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
	if got := all(t, dir); !reflect.DeepEqual(got, []Event{first, second}) {
		t.Errorf("Events: %+v, appended %+v", got, []Event{first, second})
	}
	if got, want := verify(t, dir), (Report{Events: 2, Head: second.Hash}); got != want {
		t.Errorf("Verify: %+v, want %+v", got, want)
	}
}

func TestNothingYet(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	if es, err := j.Events(); err != nil || len(es) != 0 {
		t.Errorf("Events: %v, %v", es, err)
	}
	if got, want := verify(t, dir), (Report{Head: hexSum("cordon-journal-1")}); got != want {
		t.Errorf("Verify: %+v, want %+v", got, want)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 0 {
		t.Errorf("reading created %v (%v)", names, err)
	}
}

// A directory that has gone must not look like one in which nothing happened.
func TestNoDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if _, err := Open(dir); err == nil {
		t.Error("Open of a missing directory succeeded")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Events(); err == nil {
		t.Error("Events of a removed directory succeeded")
	}
	if _, err := Verify(dir); err == nil {
		t.Error("Verify of a removed directory succeeded")
	}
	if _, err := j.Append("", "test.x", nil); err == nil {
		t.Error("Append to a removed directory succeeded")
	}
	put(t, filepath.Dir(dir), "state", nil)
	if _, err := Open(dir); err == nil {
		t.Error("Open of a file succeeded")
	}
}

func TestAppendRefuses(t *testing.T) {
	type s struct{ V any }
	cases := map[string]struct {
		worker, typ string
		data        any
	}{
		"no type":          {"w", "", nil},
		"quote in type":    {"w", `a"b`, nil},
		"newline in type":  {"w", "a\nb", nil},
		"space in worker":  {"a b", "x", nil},
		"backslash":        {`a\b`, "x", nil},
		"not ASCII":        {"é", "x", nil},
		"long worker":      {strings.Repeat("w", 129), "x", nil},
		"reserved type":    {"w", Repaired, nil},
		"number":           {"w", "x", 1},
		"array":            {"w", "x", []int{1}},
		"string":           {"w", "x", "s"},
		"unencodable":      {"w", "x", s{func() {}}},
		"not a number":     {"w", "x", s{math.NaN()}},
		"raw, not JSON":    {"w", "x", json.RawMessage(`{"a":}`)},
		"raw, not UTF-8":   {"w", "x", json.RawMessage("{\"a\":\"\xff\"}")},
		"too much of data": {"w", "x", s{strings.Repeat("x", MaxData)}},
	}
	dir := t.TempDir()
	j := open(t, dir)
	for name, c := range cases {
		if e, err := j.Append(c.worker, c.typ, c.data); err == nil {
			t.Errorf("%s: recorded as %+v", name, e)
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 0 {
		t.Errorf("refused appends created %v (%v)", names, err)
	}
}

func TestAppendAccepts(t *testing.T) {
	t.Parallel()
	type s struct{ V string }
	var none map[string]string
	dir := t.TempDir()
	j := open(t, dir)
	largest := MaxData - len(`{"V":""}`)
	for _, c := range []struct {
		data any
		want string
	}{
		{nil, ""},
		{none, ""},
		{struct{}{}, "{}"},
		{json.RawMessage(" { \"a\" : [ 1 , 2 ] } \n"), `{"a":[1,2]}`},
		{s{"\xff<&>\x00\n"}, `{"V":"\ufffd<&>\u0000\n"}`},
		{s{strings.Repeat("x", largest)}, `{"V":"` + strings.Repeat("x", largest) + `"}`},
	} {
		e := add(t, j, strings.Repeat("t", 128), c.data)
		if string(e.Data) != c.want {
			t.Errorf("data %.60s, want %.60s", e.Data, c.want)
		}
	}
	if r := verify(t, dir); r.Events != 6 || r.Problem != nil {
		t.Errorf("Verify: %+v", r)
	}
}

func TestAppendIf(t *testing.T) {
	dir := t.TempDir()
	j, other := open(t, dir), open(t, dir)
	var want []Event
	for i := range 5 {
		want = append(want, add(t, []*Journal{j, other}[i%2], "test.x", map[string]int{"i": i}))
	}
	no := errors.New("no")
	e, err := appendIf(j, "", "test.never", nil, func(es []Event) error {
		if !reflect.DeepEqual(es, want) {
			t.Errorf("check saw %+v, want %+v", es, want)
		}
		return no
	})
	if err != no || !reflect.DeepEqual(e, Event{}) {
		t.Errorf("refused: %+v, %v", e, err)
	}
	e, err = appendIf(j, "", "test.yes", nil, func([]Event) error { return nil })
	want = append(want, must(t, e, err))
	if got := all(t, dir); !reflect.DeepEqual(got, want) {
		t.Errorf("Events: %+v, want %+v", got, want)
	}
}

func TestWatch(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	var got []string
	j.Watch(func(m Moment, e Event) {
		if len(e.Data) > 0 {
			e.Data[0] = '!' // an observer's copy is its own
		}
		es, err := open(t, dir).Events()
		got = append(got, fmt.Sprint(m, " ", e.Seq, " ", len(must(t, es, err)), " ", e.Type))
	})
	for range 2 {
		add(t, j, "test.x", map[string]int{"a": 1})
	}
	want := []string{"before 1 0 test.x", "after 1 1 test.x", "before 2 1 test.x", "after 2 2 test.x"}
	if !slices.Equal(got, want) {
		t.Errorf("observed %q, want %q", got, want)
	}
	if r := verify(t, dir); r.Problem != nil {
		t.Error(r.Problem)
	}
}

// TestVerifiedPrefix damages a line that one Journal has verified already: that
// one must go on without reading it again, a fresh one must refuse.
func TestVerifiedPrefix(t *testing.T) {
	dir := t.TempDir()
	old, idle := open(t, dir), open(t, dir)
	for range 3 {
		add(t, old, "test.x", nil)
	}
	add(t, idle, "test.x", nil)
	f, err := os.OpenFile(filepath.Join(dir, File), os.O_RDWR, 0)
	must(t, f, err)
	defer f.Close()
	if _, err := f.WriteAt([]byte("9"), int64(len(`{"seq":`))); err != nil {
		t.Fatal(err)
	}
	add(t, old, "test.x", nil)
	add(t, idle, "test.x", nil)
	if c := refused(t, dir); c.Line != 1 {
		t.Errorf("%v, want line 1", c)
	}
	if _, err := appendIf(old, "", "test.x", nil, func([]Event) error { return nil }); err == nil {
		t.Error("a check was shown a damaged journal")
	}
}

// TestChangedUnderneath damages the end of a journal that a process is in the
// middle of using.
func TestChangedUnderneath(t *testing.T) {
	for name, harm := range map[string]func(dir string, lines []string){
		"cut":         func(dir string, l []string) { put(t, dir, File, []byte(l[0]+l[1])) },
		"emptied":     func(dir string, _ []string) { put(t, dir, File, nil) },
		"removed":     func(dir string, _ []string) { os.Remove(filepath.Join(dir, File)) },
		"beheaded":    func(dir string, _ []string) { os.Remove(filepath.Join(dir, HeadFile)) },
		"all removed": func(dir string, _ []string) { os.Remove(dir + "/" + File); os.Remove(dir + "/" + HeadFile) },
		"other head": func(dir string, l []string) {
			p := position{seq: 3, length: int64(len(l[0] + l[1] + l[2])), hash: hexSum("other")}
			put(t, dir, HeadFile, p.encodeHead())
		},
		"other file": func(dir string, l []string) {
			// Made beside the old one, or it might get the same inode.
			put(t, dir, "other", []byte(l[0]+l[1]+strings.Replace(l[2], "otter", "otten", 1)))
			os.Rename(filepath.Join(dir, "other"), filepath.Join(dir, File))
		},
	} {
		dir := t.TempDir()
		j := open(t, dir)
		for range 3 {
			add(t, j, "test.x", nil)
		}
		harm(dir, strings.SplitAfter(string(get(t, dir, File)), "\n"))
		_, err := j.Append("", "test.x", nil)
		if _, ok := errors.AsType[*Corruption](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestVerifyWaits asserts that an append in progress is not reported as torn.
func TestVerifyWaits(t *testing.T) {
	dir := t.TempDir()
	lines := sample(t, dir, 1)
	release, err := lock(dir, syscall.LOCK_EX)
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, File, []byte(lines[0]+"half"))
	report := make(chan Report, 1)
	go func() {
		r, _ := Verify(dir)
		report <- r
	}()
	// Time for a Verify that does not wait to show it; one that does passes
	// however long this is.
	select {
	case r := <-report:
		t.Errorf("did not wait: %+v", r)
	case <-time.After(100 * time.Millisecond):
	}
	put(t, dir, File, []byte(lines[0]))
	release()
	if r := <-report; r.Torn || r.Problem != nil || r.Events != 1 {
		t.Errorf("%+v", r)
	}
}

// TestTakenBack replaces the journal by an earlier state of itself, head and
// all. Nobody can tell but a process that has seen more.
func TestTakenBack(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	add(t, j, "test.x", nil)
	events, head := get(t, dir, File), get(t, dir, HeadFile)
	add(t, j, "test.x", nil)
	put(t, dir, File, events)
	put(t, dir, HeadFile, head)
	_, err := j.Append("", "test.x", nil)
	if c, ok := errors.AsType[*Corruption](err); !ok || c.Line != 2 {
		t.Errorf("Append: %v, want a corruption of line 2", err)
	}
	add(t, open(t, dir), "test.x", nil) // positive control
}

func TestNotRegular(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	kinds := map[string]func(string) error{
		"symlink":   func(p string) error { return os.Symlink(elsewhere, p) },
		"fifo":      func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"directory": func(p string) error { return os.Mkdir(p, 0o700) },
	}
	for kind, make := range kinds {
		for _, name := range []string{File, HeadFile, LockFile, HeadFile + ".new"} {
			t.Run(kind+" "+name, func(t *testing.T) {
				dir := t.TempDir()
				sample(t, dir, 1)
				content, _ := os.ReadFile(filepath.Join(dir, name))
				put(t, filepath.Dir(elsewhere), "elsewhere", content)
				os.Remove(filepath.Join(dir, name))
				if err := make(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
				if _, err := open(t, dir).Append("", "test.x", nil); err == nil {
					t.Error("Append succeeded")
				}
				_, err := open(t, dir).Events()
				if read := name == File || name == HeadFile; (err != nil) != read {
					t.Errorf("Events: %v", err)
				}
				if got := get(t, filepath.Dir(elsewhere), "elsewhere"); string(got) != string(content) {
					t.Error("the file behind the link was written")
				}
			})
		}
	}
}
