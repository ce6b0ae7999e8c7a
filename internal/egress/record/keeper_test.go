package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
)

func try(name string, port uint16, v Verdict, reason string) Record {
	return Record{Time: time.Unix(1e9, 0).UTC(), Kind: Connect, Name: name, Port: port, Verdict: v, Reason: reason}
}

// lineWriter sees every write apart.
type lineWriter struct {
	bytes.Buffer
	mu     sync.Mutex
	writes int
	failed error
	part   int // that is written of what fails
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	if w.failed != nil {
		n, _ := w.Buffer.Write(p[:w.part])
		return n, w.failed
	}
	return w.Buffer.Write(p)
}

func (w *lineWriter) lines() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writes
}

// What is read back sums up to what was kept.
func TestKeeperReadsBack(t *testing.T) {
	var w lineWriter
	k := NewKeeper(&w)
	for i := range int64(5) {
		r := try("good.example", 443, Allowed, "")
		r.ID, r.Address = i+1, "93.184.216.34"
		k.Record(r)
		k.Record(Record{Kind: End, ID: i + 1, Verdict: Allowed, Sent: 10, Received: 100})
	}
	k.Record(unlistedName("bad.example", 443))
	k.Record(try("slow.example", 443, Failed, "timeout"))
	cut := Record{Kind: End, ID: 99, Name: "good.example", Port: 443, Verdict: Refused, Reason: "the bytes are used up", Sent: 1}
	k.Record(cut)
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if want := 13; w.writes != want {
		t.Errorf("%d writes, want %d", w.writes, want)
	}
	var ends int
	got, err := Read(bytes.NewReader(w.Bytes()), func(r Record) {
		if r.Kind == End && r.Name != "good.example" {
			t.Errorf("an end does not stand alone: %+v", r)
		}
		if r.Kind == End {
			ends++
		}
	})
	if err != nil || ends != 6 {
		t.Error(ends, err)
	}
	if want := k.Tally(); !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v\nkept %+v", got, want)
	}
	if got.Allowed != 5 || got.Refused != 2 || got.Failed != 1 || got.Sent != 51 || got.Received != 500 {
		t.Errorf("%+v", got)
	}
	if !slices.Equal(got.Suggest(), []string{"bad.example"}) {
		t.Errorf("%q", got.Suggest())
	}
	if first := got.Tried[0]; first.Name != "good.example" || first.Count != 5 || first.Sent != 51 || first.Received != 500 {
		t.Errorf("%+v", first)
	}
}

// After the first thousands, what is alike shares a line: after some seconds, or at
// the end.
func TestKeeperCoalesces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w lineWriter
		k := NewKeeper(&w)
		const all = maxSingle + 5000
		for i := range all {
			r := try("bad.example", 443, Refused, "no")
			if i%2 == 0 {
				r.Port = 80
			}
			k.Record(r)
		}
		if n := w.lines(); n != maxSingle {
			t.Errorf("%d lines at once, want %d", n, maxSingle)
		}
		time.Sleep(2 * alikeDelay)
		synctest.Wait()
		if n := w.lines(); n != maxSingle+2 {
			t.Errorf("%d lines after a while, want %d", n, maxSingle+2)
		}
		for i := range int64(10) {
			r := try("good.example", 443, Allowed, "")
			r.ID = i + 1
			k.Record(r)
			k.Record(Record{Kind: End, ID: i + 1, Verdict: Allowed, Sent: 7})
		}
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		if n := w.lines(); n != maxSingle+4 {
			t.Errorf("%d lines at the end, want %d", n, maxSingle+4)
		}
		got, err := Read(&w.Buffer, nil)
		if want := k.Tally(); err != nil || !reflect.DeepEqual(got, want) || got.Refused != all || got.Sent != 70 {
			t.Errorf("%v: read %+v\nkept %+v", err, got, want)
		}
	}) // which fails where a timer is left
}

// Things that are all different are written, too, and bounded.
func TestKeeperIsBounded(t *testing.T) {
	var w lineWriter
	k := NewKeeper(&w)
	const room = maxLog / 4 * 3
	const spent = room - 4<<20
	k.bytes = spent // by earlier ones
	long := strings.Repeat("x", MaxReasonText)
	i := 0
	for ; k.lost < 1000; i++ {
		r := try(fmt.Sprintf("n%d.%s", i, long), uint16(i), Refused, fmt.Sprint(i, long))
		r.Process, r.Address = long, long
		k.Record(r)
		if w.Len() > room-spent {
			t.Fatal("too much is written")
		}
		if len(k.alike) > maxAlike || len(k.counts.tried) > maxTried || i > maxLog/100 {
			t.Fatal("a table grows")
		}
	}
	if w.Len() < room-spent-maxLine {
		t.Errorf("only %d bytes were written", w.Len())
	}
	err := k.Close()
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d network records", k.lost)) {
		t.Error(err)
	}
	if got := k.Tally(); got.Refused != i || len(got.Tried) != maxTried || got.More != i-maxTried || !got.Crowded {
		t.Errorf("%d of %d refused, %d apart and %d more", got.Refused, i, len(got.Tried), got.More)
	}
	if got, err := Read(&w.Buffer, nil); err != nil || got.Refused != i {
		t.Errorf("the file says %d of %d: %v", got.Refused, i, err)
	}
}

// What a worker writes into its requests is in the reasons. It neither fills the
// file, nor makes a line of every attempt.
func TestKeeperReasonsOfTheWorker(t *testing.T) {
	var w lineWriter
	k := NewKeeper(&w)
	const all = maxSingle + 20_000
	for i := range all {
		k.Record(try("good.example", 80, Refused, fmt.Sprintf(`the request is for "%d-%s", which is not a host name`, i, strings.Repeat("<&>", 100))))
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if longest := 400; w.Len() > (maxSingle+1)*longest || w.lines() != maxSingle+1 {
		t.Errorf("%d bytes in %d lines", w.Len(), w.lines())
	}
	var last Record
	got, err := Read(&w.Buffer, func(r Record) { last = r })
	if want := k.Tally(); err != nil || !reflect.DeepEqual(got, want) || got.Refused != all || len(got.Tried) != 1 || got.Tried[0].Count != all {
		t.Errorf("%v: read %+v\nkept %+v", err, got, want)
	}
	if !last.Various || !strings.HasPrefix(last.Reason, fmt.Sprintf(`the request is for "%d-<&>`, maxSingle)) {
		t.Errorf("%+v", last)
	}
	if lines := got.Lines(); len(lines) != 1 || !strings.HasPrefix(lines[0],
		fmt.Sprintf(`refused: good.example:80 %d ×, at first: the request is for "0-<&>`, all)) {
		t.Errorf("%q", lines)
	}
}

// Whatever is refused, what got out is written down.
func TestKeeperKeepsRoomForWhatGotOut(t *testing.T) {
	for _, c := range []struct {
		name       string
		r          Record
		named      bool // is written when the file is full of what was refused
		connection bool // is written when it is full of names, too
	}{
		{"refused", try("bad.example", 443, Refused, "no"), false, false},
		{"failed", try("slow.example", 443, Failed, "no"), false, false},
		{"a name", Record{Kind: Resolve, Name: "x.wild.example", Verdict: Allowed}, true, false},
		{"allowed", try("good.example", 443, Allowed, ""), true, true},
		{"an end", Record{Kind: End, Name: "good.example", Port: 443, Verdict: Allowed, Sent: 7}, true, true},
		{"a cut end", Record{Kind: End, Name: "good.example", Port: 443, Verdict: Refused, Sent: 7}, true, true},
	} {
		for full, want := range map[int64]bool{maxLog / 4 * 3: c.named, maxLog / 8 * 7: c.connection, maxLog - maxRest: false} {
			var w lineWriter
			k := NewKeeper(&w)
			k.bytes = full
			k.Record(c.r)
			if got := w.lines() == 1; got != want {
				t.Errorf("%s at %d: written %v", c.name, full, got)
			}
			if err := k.Close(); (err == nil) != want {
				t.Errorf("%s at %d: %v", c.name, full, err)
			}
			got, err := Read(&w.Buffer, nil)
			kept := k.Tally()
			if err != nil || got.Allowed != kept.Allowed || got.Refused != kept.Refused || got.Failed != kept.Failed || got.Sent != kept.Sent ||
				got.Resolved != kept.Resolved {
				t.Errorf("%s at %d: read %+v\nkept %+v", c.name, full, got, kept)
			}
		}
	}
}

// Of everything that had no line there is one at the end, and there is room for it.
func TestKeeperWritesTheRest(t *testing.T) {
	var w lineWriter
	k := NewKeeper(&w)
	k.bytes = maxLog - maxRest
	for _, kind := range []Kind{Connect, Resolve, Packet, End} {
		for _, v := range []Verdict{Allowed, Refused, Failed} {
			for i := range 3 {
				k.Record(Record{Time: time.Now(), Kind: kind, Name: fmt.Sprint(kind, i), Verdict: v, Sent: 5, Reason: strings.Repeat("x", 300), Process: "p"})
			}
		}
	}
	if err := k.Close(); err == nil || !strings.Contains(err.Error(), "36 network records") {
		t.Error(err)
	}
	if k.bytes > maxLog || w.lines() != 12 {
		t.Errorf("%d bytes in %d lines", w.Len(), w.lines())
	}
	got, err := Read(&w.Buffer, func(r Record) { checkRest(t, r) })
	if want := k.Tally(); err != nil || got.Allowed != want.Allowed || got.Refused != want.Refused || got.Failed != want.Failed ||
		got.Resolved != want.Resolved || got.Sent != 45 {
		t.Errorf("%v: read %+v\nkept %+v", err, got, want)
	}
}

func checkRest(t *testing.T, r Record) {
	t.Helper()
	if r.Name != "" || r.Count != 3 || !IsLimit(r.Reason) {
		t.Errorf("%+v", r)
	}
}

// A full disk is remembered, and what is torn by it spoils nothing else.
func TestKeeperFails(t *testing.T) {
	var w lineWriter
	k := NewKeeper(&w)
	k.Record(try("a.example", 443, Refused, "no"))
	w.failed, w.part = errors.New("no space left"), 20
	k.Record(try("b.example", 443, Refused, "no"))
	w.part = 0
	k.Record(try("c.example", 443, Refused, "no"))
	w.failed = nil
	k.Record(try("d.example", 443, Refused, "no"))
	k.Record(try("e.example", 443, Refused, "no"))
	if err := k.Close(); !errors.Is(err, k.err) || !strings.Contains(err.Error(), "2 network records") || !strings.Contains(err.Error(), "no space left") {
		t.Error(err)
	}
	if err := k.Close(); err != nil {
		t.Error("said twice:", err)
	}
	k.Record(try("f.example", 443, Refused, "no"))
	if got := k.Tally(); got.Refused != 6 {
		t.Errorf("%d refused", got.Refused)
	}
	var names []string
	got, err := Read(&w.Buffer, func(r Record) { names = append(names, r.Name) })
	if strings.Join(names, " ") != "a.example d.example e.example " || got.Damaged != 1 || got.Refused != 5 || err != nil { // the last is for two
		t.Error(names, got.Damaged, got.Refused, err)
	}
}

func TestKeeperOnlyCounts(t *testing.T) {
	k := NewKeeper(nil)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range maxSingle {
				k.Record(try("a.example", 443, Refused, "no"))
				k.Tally()
			}
		})
	}
	all.Wait()
	if err := k.Close(); err != nil || k.Tally().Refused != 8*maxSingle {
		t.Error(err, k.Tally())
	}
}

// A worker chooses names. They are one line, short, and do nothing to a terminal.
func TestKeeperTidies(t *testing.T) {
	var w lineWriter
	k := NewKeeper(&w)
	evil := "a\x1b[2J\n\u202e\x00\xff." + strings.Repeat("é", 5000)
	k.Record(Record{Kind: Connect, Verdict: Refused, Name: evil, Address: evil, Reason: evil, Allow: evil, Process: evil, Sent: -5, Count: -7})
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if bytes.Count(w.Bytes(), []byte("\n")) != 1 || w.Len() > 4<<10 {
		t.Errorf("%d bytes: %.300q", w.Len(), w.String())
	}
	got, err := Read(&w.Buffer, nil)
	if err != nil || got.Refused != 1 || got.Sent != 0 {
		t.Error(got, err)
	}
	for _, l := range append(got.Lines(), got.Tried[0].Name, got.Tried[0].Reason, got.Tried[0].Allow) {
		if strings.ContainsFunc(l, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q", l)
		}
	}
}

func TestReadRecordsTolerates(t *testing.T) {
	const good = `{"time":"2001-09-09T01:46:40Z","kind":"connect","name":"a.example","port":443,"verdict":"refuse"}`
	for _, c := range []struct {
		name, text    string
		good, damaged int
	}{
		{"nothing", "", 0, 0},
		{"one", good + "\n", 1, 0},
		{"the last without its end", good + "\n" + good, 2, 0},
		{"the last cut", good + "\n" + good[:40], 1, 0},
		{"garbage between", good + "\n\x00\xff{\n" + good + "\n", 2, 1},
		{"not an object", "[]\n7\nnull\n" + good + "\n", 1, 3},
		{"empty lines", "\n\n" + good + "\n\n", 1, 0},
		{"a line without end", good + "\n" + strings.Repeat("x", 10*maxLine) + "\n" + good + "\n", 2, 1},
		{"another verdict", strings.Replace(good, "refuse", "perhaps", 1) + "\n", 0, 1},
		{"another kind", strings.Replace(good, `"connect"`, `"dance"`, 1) + "\n", 0, 1},
		{"a port that is none", strings.Replace(good, "443", "70000", 1) + "\n", 0, 1},
		{"a later key", strings.Replace(good, `"port"`, `"later":1,"port"`, 1) + "\n", 1, 0},
	} {
		n := 0
		got, err := Read(strings.NewReader(c.text), func(Record) { n++ })
		if err != nil || n != c.good || got.Refused != c.good || got.Damaged != c.damaged {
			t.Errorf("%s: %d good, %d damaged, %v", c.name, n, got.Damaged, err)
		}
	}
	broken := errors.New("broken")
	if _, err := Read(io.MultiReader(strings.NewReader(good), errReader{broken}), nil); !errors.Is(err, broken) {
		t.Error(err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func FuzzReadRecords(f *testing.F) {
	f.Add([]byte(`{"kind":"end","id":1,"verdict":"allow","sent":9223372036854775807,"count":9223372036854775807}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		n := 0
		tally, err := Read(io.MultiReader(bytes.NewReader(text), bytes.NewReader(text)), func(r Record) {
			n++
			if r != r.tidy() || !r.known() {
				t.Errorf("%+v", r)
			}
		})
		if err != nil || tally.Sent < 0 || tally.Allowed < 0 || tally.Refused < 0 || len(tally.Tried) > n {
			t.Error(tally, err)
		}
		checkLines(t, tally)
	})
}

// fullDisk has room again after a while.
type fullDisk struct {
	bytes.Buffer
	full bool
}

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.full {
		return 0, errors.New("no space left on device")
	}
	return d.Buffer.Write(p)
}

// What was tried while the disk was full is in the sums of the file all the same, if
// there is room at the end.
func TestDiskThatWasFull(t *testing.T) {
	var d fullDisk
	k := NewKeeper(&d)
	for i := range int64(30) {
		d.full = i >= 10
		k.Record(Record{Kind: Connect, ID: i + 1, Name: "good.example", Port: 443, Verdict: Allowed})
		k.Record(Record{Kind: End, ID: i + 1, Verdict: Allowed, Sent: 1000})
	}
	d.full = false
	if err := k.Close(); err == nil {
		t.Error("nothing is said of it")
	}
	got, err := Read(&d.Buffer, func(Record) {})
	if err != nil || got.Allowed != 30 || got.Sent != 30_000 {
		t.Errorf("%+v, %v", got, err)
	}
}
