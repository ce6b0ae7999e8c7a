package ledger

import (
	"testing"

	"cordon/internal/journal"
)

// TestNodes: the nodes of a fleet outlive a checkpoint, and one that was removed has no name any more.
func TestNodes(t *testing.T) {
	dir := t.TempDir()
	log, err := journal.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []struct{ typ, name, key string }{
		{NodeJoined, "one", "K1"}, {NodeJoined, "two", "K2"}, {NodeDrained, "two", "K2"}, {NodeRemoved, "one", "K1"}, {NodeJoined, "one", "K3"},
	} {
		if _, err := log.Append("", e.typ, Member{Name: e.name, Key: e.key}); err != nil {
			t.Fatal(err)
		}
	}
	now := Current()
	if err := log.View(FoldName, now).Refresh(nil); err != nil {
		t.Fatal(err)
	}
	one, _ := now.Node("one")
	two, _ := now.Node("two")
	if one.Key != "K3" || one.Draining || two.Key != "K2" || !two.Draining || len(now.Nodes) != 3 {
		t.Errorf("%+v", now.Nodes)
	}
	if _, ok := now.Node("three"); ok || !now.Wants("", NodeJoined) {
		t.Error("a node that never joined is there, or a checkpoint would forget nodes")
	}
}
