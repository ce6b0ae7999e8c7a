package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"cordon/internal/cell"
	"cordon/internal/lease"
	"cordon/internal/ledger"
)

// TestReset is about a machine that stopped before files were on the disk. Some are empty then, and nobody emptied
// them. The journal says of each part that it happened in another start of the machine.
func TestReset(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]func(s *site, id lease.ID, tree ledger.Tree, start ledger.Start) (emptied []string){
		"while the command ran": func(s *site, id lease.ID, tree ledger.Tree, start ledger.Start) []string {
			tree.Boot = "another"
			s.tell(s.journal(), id, ledger.Prepared, tree)
			s.tell(s.journal(), id, ledger.Started, start)
			return []string{"git/upper/HEAD", "tree/upper/src/a.txt"}
		},
		"before the audit": func(s *site, id lease.ID, _ ledger.Tree, start ledger.Start) []string {
			s.tell(s.journal(), id, ledger.Started, start)
			s.tell(s.journal(), id, ledger.Ended, cell.Exit{Reason: cell.Exited})
			return []string{"tree/upper/src/new.txt"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.cordon([]int{0}, "run", "--tree=overlay", "--no-merge", "--", "sh", "-c", "echo new >src/new.txt")
			id := s.only().Worker
			was := s.git("show", "main:src/a.txt")
			var tree ledger.Tree
			var start ledger.Start
			s.recorded(id, ledger.Prepared, &tree)
			s.recorded(id, ledger.Started, &start)
			if tree.Boot == "" || start.Boot == "" {
				t.Fatalf("the journal does not say which start of the machine it was: %+v, %+v", tree, start)
			}
			start.Boot = "another"
			for _, rel := range lost(s, lease.ID(id), tree, start) {
				file := s.layer(id, rel)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			s.cordon([]int{0}, "resume", id)
			s.cordon([]int{0}, "merge", id)
			if a, added := s.git("show", "main:src/a.txt"), s.git("show", "main:src/new.txt"); a != was || added != "new" {
				t.Errorf("src/a.txt is %q and was %q; src/new.txt is %q", a, was, added)
			}
		})
	}
}

// recorded reads what the journal says of something that happened to a worker.
func (s *site) recorded(id, typ string, into any) {
	s.t.Helper()
	_, data := s.eventsOf(id)
	text, err := json.Marshal(data[typ])
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// layer is a file in the layers of a worker.
func (s *site) layer(id, rel string) string {
	s.t.Helper()
	dirs, err := filepath.Glob(s.place("state/cordon/*/layers/" + id))
	if err != nil || len(dirs) != 1 {
		s.t.Fatal(dirs, err)
	}
	return filepath.Join(dirs[0], rel)
}
