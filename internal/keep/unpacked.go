package keep

import (
	"context"
	"time"

	"cordon/internal/unpacked"
	"cordon/internal/worksite"
)

// unpackedChores are files that clients unpacked from their programs and that no worker needs: of an
// earlier program, or of one that was not used for long.
func unpackedChores(s *worksite.Site, o Options) ([]Chore, error) {
	store := unpacked.Store{State: s.State}
	kept, err := store.List()
	if err != nil {
		return nil, err
	}
	newest := map[string]time.Time{}
	for _, k := range kept {
		if !k.Unfinished() && k.Used.After(newest[k.Of]) {
			newest[k.Of] = k.Used
		}
	}
	var list []Chore
	for _, k := range kept {
		c := Chore{What: "unpacked/" + k.Name, Bytes: k.Bytes}
		switch {
		case k.Held:
			continue
		case k.Unfinished():
			c.Why = "left by an interrupted run"
		case k.Used.Before(newest[k.Of]):
			c.Why = "the files of another version of " + k.Of + " are in use"
		case s.Now().After(k.Used.Add(TrashTime)):
			c.Why = "not used since " + k.Used.Format("2006-01-02")
		case o.EmptyTrash:
			c.Why = "the next worker with " + k.Of + " unpacks them again"
		default:
			continue
		}
		c.do = func(context.Context) error { return store.Remove(k, s.Now()) }
		list = append(list, c)
	}
	return list, nil
}
