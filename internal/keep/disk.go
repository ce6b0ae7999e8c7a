package keep

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"cordon/internal/ledger"
	"cordon/internal/plainfile"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// Disk is what a worker takes on disk: what it wrote in its tree and elsewhere. It looks at
// every file.
func Disk(s *worksite.Site, w *ledger.Worker) int64 {
	var total int64
	for _, p := range placesOf(s, w) {
		n, _ := worktree.Bytes(p) // nothing when it is gone
		total += n
	}
	return total
}

func placesOf(s *worksite.Site, w *ledger.Worker) []string {
	id := string(w.ID)
	places := []string{s.State.Layers(id), s.State.Shadow(id), s.State.Agent(id), s.State.History(id)}
	if !worksite.Layered(w) && !w.Lease.Lease().Adopted {
		places = append(places, s.TreeOf(w))
	}
	return places
}

// diskFile holds what a worker took on disk when somebody last looked. It can be deleted at
// any moment.
const diskFile = "disk.json"

// measure is what Disk found, and of what.
type measure struct {
	Events int     `json:"events"` // how many the journal had of the worker
	Places []int64 `json:"places"` // when each of its places was changed; 0: it was not there
	Bytes  int64   `json:"bytes"`
}

// DiskAtRest is Disk for a list of workers. While nobody works on a worker, its files stay as
// they are: they are looked at once after its last event. Held says that somebody does.
func DiskAtRest(s *worksite.Site, w *ledger.Worker, held bool) int64 {
	if held {
		return Disk(s, w)
	}
	now := measure{Events: w.Events}
	for _, p := range placesOf(s, w) {
		var changed int64
		if fi, err := os.Lstat(p); err == nil {
			changed = fi.ModTime().UnixNano()
		}
		now.Places = append(now.Places, changed)
	}
	file := s.WorkerFile(w.ID, diskFile)
	var before measure
	if text, err := plainfile.Read(file, plainfile.Line); err == nil && json.Unmarshal(text, &before) == nil &&
		before.Events == now.Events && slices.Equal(before.Places, now.Places) {
		return before.Bytes
	}
	now.Bytes = Disk(s, w)
	remember(file, now)
	return now.Bytes
}

// remember is nobody's loss when it fails: the files are looked at again.
func remember(file string, m measure) {
	text, err := json.Marshal(m)
	if err != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(file), diskFile+".*.new")
	if err != nil {
		return
	}
	_, err = f.Write(append(text, '\n'))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
	}
}
