package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// collected is a fold that keeps every event, or those of workers that have not ended.
type collected struct {
	events []Event
	ended  map[string]bool
}

func (c *collected) Apply(e Event) error {
	if e.Type == "test.refused" {
		return errors.New("refused by the fold")
	}
	if e.Type == "test.end" {
		c.ended[e.Worker] = true
	}
	c.events = append(c.events, e)
	return nil
}

func (c *collected) Wants(worker, _ string) bool { return !c.ended[worker] }

func (c *collected) Memo() ([]byte, error) { return json.Marshal(c.ended) }

func (c *collected) Restore(memo []byte) error {
	*c = collected{ended: map[string]bool{}}
	if memo == nil {
		return nil
	}
	return json.Unmarshal(memo, &c.ended)
}

// appendIf appends on a condition that is shown every event.
func appendIf(j *Journal, worker, typ string, data any, check func([]Event) error) (Event, error) {
	all := &collected{}
	return j.AppendIf(worker, typ, data, j.View("all", all), func() error { return check(all.events) })
}

// wanted are the events of workers that have not ended, in a journal read from its start.
func wanted(t *testing.T, dir string) (list []Event) {
	t.Helper()
	ended := map[string]bool{}
	events := all(t, dir)
	for _, e := range events {
		ended[e.Worker] = ended[e.Worker] || e.Type == "test.end"
	}
	for _, e := range events {
		if !ended[e.Worker] {
			list = append(list, e)
		}
	}
	return list
}

// grow appends so many events: of workers that end, and of one that stays.
func grow(t *testing.T, dir string, n int) {
	t.Helper()
	j := open(t, dir)
	v := j.View("test", &collected{})
	for i := range n {
		worker, typ := fmt.Sprintf("w%d", i/4), "test.x"
		if i%4 == 3 {
			typ = "test.end"
		}
		if i%10 == 0 {
			worker, typ = "stays", "test.x"
		}
		e, err := j.AppendIf(worker, typ, map[string]int{"i": i}, v, nil)
		must(t, e, err)
	}
}

// fresh is a view as a new process has it, refreshed, with the events that it has read.
func fresh(t *testing.T, dir string) (*View, *collected) {
	t.Helper()
	c := &collected{}
	v := open(t, dir).View("test", c)
	if err := v.Refresh(nil); err != nil {
		t.Fatal(err)
	}
	return v, c
}

// holds asserts that a fold has all events that are wanted.
func holds(t *testing.T, c *collected, dir string) {
	t.Helper()
	have := map[uint64]Event{}
	for _, e := range c.events {
		have[e.Seq] = e
	}
	for _, e := range wanted(t, dir) {
		if !reflect.DeepEqual(have[e.Seq], e) {
			t.Fatalf("event %d is missing or another: %+v", e.Seq, have[e.Seq])
		}
	}
}

// TestCheckpoint asserts that a new process reads no more of a long journal than of a
// short one, apart from what is wanted, and the same without the checkpoint.
func TestCheckpoint(t *testing.T) {
	t.Parallel()
	dir := memoryDir(t)
	grow(t, dir, 400)
	v, c := fresh(t, dir)
	holds(t, c, dir)
	if most := checkpointEvery + 100; v.read > most {
		t.Errorf("%d of 400 events were read, at most %d are new or wanted", v.read, most)
	}
	if err := os.Remove(filepath.Join(dir, CheckpointFile)); err != nil {
		t.Fatal(err)
	}
	v, c = fresh(t, dir)
	holds(t, c, dir)
	if v.read != 400 {
		t.Errorf("without a checkpoint, %d of 400 events were read", v.read)
	}
	grow(t, dir, 1)
	v, c = fresh(t, dir)
	holds(t, c, dir)
	if most := checkpointEvery + 101; v.read > most {
		t.Errorf("after the next append, %d events were read", v.read)
	}
}

// TestViewWithoutName: it reads all events and appends on conditions, and leaves the checkpoint of
// another fold as it is.
func TestViewWithoutName(t *testing.T) {
	t.Parallel()
	dir := memoryDir(t)
	grow(t, dir, 200)
	before, err := os.ReadFile(filepath.Join(dir, CheckpointFile))
	if err != nil {
		t.Fatal(err)
	}
	j, c := open(t, dir), &collected{}
	v := j.View("", c)
	for range 2 * checkpointEvery {
		e, err := j.AppendIf("w", "test.x", nil, v, nil)
		must(t, e, err)
	}
	if len(c.events) != 200+2*checkpointEvery {
		t.Errorf("the fold has %d events", len(c.events))
	}
	after, err := os.ReadFile(filepath.Join(dir, CheckpointFile))
	if err != nil || string(after) != string(before) {
		t.Errorf("the checkpoint is another: %v", err)
	}
}

// TestCheckpointHarmed damages the checkpoint or the journal. What a view then holds is
// what the journal holds, or an error.
func TestCheckpointHarmed(t *testing.T) {
	t.Parallel()
	origin := memoryDir(t)
	grow(t, origin, 140)
	foreign := memoryDir(t)
	grow(t, foreign, 140)
	edit := func(dir, old, new string) {
		text := strings.Replace(string(get(t, dir, CheckpointFile)), old, new, 1)
		put(t, dir, CheckpointFile, []byte(text))
	}
	for name, harm := range map[string]func(dir string){
		"cut":            func(dir string) { put(t, dir, CheckpointFile, get(t, dir, CheckpointFile)[:200]) },
		"empty":          func(dir string) { put(t, dir, CheckpointFile, nil) },
		"foreign":        func(dir string) { put(t, dir, CheckpointFile, get(t, foreign, CheckpointFile)) },
		"other fold":     func(dir string) { edit(dir, `"fold":"test"`, `"fold":"toast"`) },
		"memo":           func(dir string) { edit(dir, `"w1":true`, `"stays":true`) },
		"no lines":       func(dir string) { edit(dir, `"lines":[{`, `"lines":[],"x":[{`) },
		"other position": func(dir string) { edit(dir, `"seq":`, `"seq":1`) },
		"journal swapped": func(dir string) {
			put(t, dir, File, get(t, foreign, File))
			put(t, dir, HeadFile, get(t, foreign, HeadFile))
		},
	} {
		dir := memoryDir(t)
		for _, file := range []string{File, HeadFile, LockFile, CheckpointFile} {
			put(t, dir, file, get(t, origin, file))
		}
		harm(dir)
		v, c := fresh(t, dir)
		holds(t, c, dir)
		if v.read < 140 {
			t.Errorf("%s: the checkpoint was used", name)
		}
		add(t, open(t, dir), "test.x", nil)
	}
}

// TestCheckpointedDamage edits lines before the checkpoint, all hashes of the line right.
// A line that is wanted is not believed; any other is found by whoever verifies all.
func TestCheckpointedDamage(t *testing.T) {
	t.Parallel()
	dir := memoryDir(t)
	grow(t, dir, 140)
	text := string(get(t, dir, File))
	for seq, found := range map[int]bool{11: true, 13: false} { // of "stays", and of a worker that ended
		line := strings.Split(text, "\n")[seq-1] + "\n"
		e, err := decode([]byte(line))
		must(t, e, err)
		e.Data = json.RawMessage(strings.Replace(string(e.Data), "1", "9", 1))
		put(t, dir, File, []byte(strings.Replace(text, line, string(e.encode()), 1)))
		v := open(t, dir).View("test", &collected{})
		if err := v.Refresh(nil); (err != nil) != found {
			t.Errorf("event %d: %v", seq, err)
		}
		if err := v.Verify(nil); err == nil {
			t.Errorf("event %d: the whole journal verifies", seq)
		}
		if r := verify(t, dir); r.Problem == nil {
			t.Errorf("event %d: Verify finds nothing", seq)
		}
	}
	// A cut is found at once.
	put(t, dir, File, []byte(text[:len(text)/2]))
	if err := open(t, dir).View("test", &collected{}).Refresh(nil); err == nil {
		t.Error("half of the journal was read")
	}
}

// TestFoldRefuses asserts that an event that a fold refuses stays refused.
func TestFoldRefuses(t *testing.T) {
	t.Parallel()
	dir := memoryDir(t)
	grow(t, dir, 130)
	add(t, open(t, dir), "test.refused", nil)
	v := open(t, dir).View("test", &collected{})
	for range 2 {
		if err := v.Refresh(nil); err == nil || !strings.Contains(err.Error(), "refused by the fold") {
			t.Error(err)
		}
	}
	if e, err := v.j.AppendIf("", "test.x", nil, v, nil); err == nil {
		t.Errorf("appended %+v", e)
	}
}
