// Package line keeps the queue of each branch in the state directory, where the processes whose
// results wait for that branch meet. Each change is made under a lock by whoever has something to
// say, who also decides what is tested next: any process may lead, and none has to.
//
// What is kept only saves time. The package refuses to be needed for anything else: a file that is
// lost or damaged is an empty queue, into which everybody who waits enters again, and gate holds
// what it lands against what it tested without asking here. An entry whose process is gone leaves.
package line

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cordon/internal/git"
	"cordon/internal/plainfile"
	"cordon/internal/queue"
	"cordon/internal/state"
)

// Result is what others need to know of a result to make the tree behind it.
type Result struct {
	Base     git.OID `json:"base"`
	Snapshot git.OID `json:"snapshot"` // its files, as a commit on the base
	Tip      git.OID `json:"tip"`      // what is merged
	// Kept: the history of Tip lands with it.
	Kept  bool      `json:"kept,omitempty"`
	Since time.Time `json:"since"`
	// Tree is what its last test ran on, and Commit the commit with it: the target with the
	// results ahead of it and this one.
	Tree   git.OID `json:"tree,omitempty"`
	Commit git.OID `json:"commit,omitempty"`
}

// Line is the queue of one branch, as it is kept.
type Line struct {
	Target string `json:"target"`
	// Tip is what the branch was when the tests began. "": it is to be created.
	Tip     git.OID           `json:"tip"`
	Queue   queue.Queue       `json:"queue"`
	Results map[string]Result `json:"results"`
}

// maxFile bounds a file: results are short, and nobody has ten thousand at once.
const maxFile = 8 << 20

// folder is where the queues of a repository are.
func folder(dir state.Dir) string { return filepath.Join(dir.Path(), "queue") }

// name is the file of a branch without its ending. Names of branches have characters that
// those of files have not.
func name(target string) string {
	sum := sha256.Sum256([]byte(target))
	return hex.EncodeToString(sum[:8])
}

// read is a queue as it is kept now. It is never half written.
func read(path, target string) Line {
	text, err := plainfile.Read(path, maxFile)
	l := Line{}
	if err != nil || json.Unmarshal(text, &l) != nil || l.Target != target {
		l = Line{}
	}
	l.Target = target
	if l.Results == nil {
		l.Results = map[string]Result{}
	}
	return l
}

// write puts a queue in the place of the one before, if it is another: everybody who waits reads
// it then. An empty queue has no file.
func (l Line) write(path string) error {
	if len(l.Queue.Entries) == 0 {
		if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if was, err := plainfile.Read(path, maxFile); err == nil && bytes.Equal(was, text) {
		return nil
	}
	if err := os.WriteFile(path+".new", text, 0o600); err != nil { // only who has the lock writes it
		return err
	}
	return os.Rename(path+".new", path)
}

// All are the queues of a repository that have somebody in them, by the names of their branches.
func All(dir state.Dir) ([]Line, error) {
	found, err := os.ReadDir(folder(dir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var list []Line
	for _, f := range found {
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		path := filepath.Join(folder(dir), f.Name())
		text, err := plainfile.Read(path, maxFile)
		l := Line{}
		if err != nil || json.Unmarshal(text, &l) != nil || name(l.Target)+".json" != f.Name() {
			continue
		}
		l.dropDead(dir, "")
		if len(l.Queue.Entries) > 0 {
			list = append(list, l)
		}
	}
	slices.SortFunc(list, func(a, b Line) int { return strings.Compare(a.Target, b.Target) })
	return list, nil
}

// dropDead takes out whose process is gone, and reports whether there was one.
func (l *Line) dropDead(dir state.Dir, self string) (changed bool) {
	for _, e := range slices.Clone(l.Queue.Entries) {
		if _, known := l.Results[e.ID]; known && (e.ID == self || dir.Held(presence(e.ID))) {
			continue
		}
		l.leave(e.ID)
		changed = true
	}
	return changed
}

// held reports whether a process is gone that the others wait for. Who is gone and only waits is
// found when its turn comes.
func (l *Line) held(dir state.Dir) bool {
	return !slices.ContainsFunc(l.Queue.Entries, func(e queue.Entry) bool {
		return (e.Testing || e.Landing || e.Verdict != queue.Untested) && !dir.Held(presence(e.ID))
	})
}

// presence is the lock that a process holds while a result of it waits.
func presence(id string) string { return filepath.Join("workers", id, "queue.lock") }

func (l *Line) leave(id string) {
	l.Queue.Leave(id)
	delete(l.Results, id)
}

// moved deals with a branch that is elsewhere than the queue believes: a result has landed whose
// process did not say so any more, or somebody else moved it.
func (l *Line) moved(tip, tree git.OID) {
	if tip == l.Tip {
		return
	}
	l.Tip = tip
	for _, e := range l.Queue.Entries {
		if e.Verdict == queue.Passed && !e.Stale && len(e.Ahead) == 0 && l.Results[e.ID].Tree == tree && tree != "" {
			l.Queue.Landed(e.ID)
			delete(l.Results, e.ID)
			return
		}
	}
	l.Queue.Moved()
}
