package launch

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"cordon/internal/agent"
	"cordon/internal/enclosure"
	"cordon/internal/fault"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/plainfile"
	"cordon/internal/usersetup"
	"cordon/internal/worksite"
)

// maxSettings bounds a settings file of the operator's.
const maxSettings = 4 << 20

// operatorsChoices are the model, the effort and their like that the operator has set for a
// client, from their own files only. left names settings that do not go in.
func operatorsChoices(a *agent.Adapter, l lease.Lease) (agent.Chosen, []string, error) {
	files, err := ownFiles(a.ChoiceFiles(), l)
	if err != nil {
		return nil, nil, err
	}
	return a.Choose(files)
}

// ownFiles are files of the operator's home, by their usual names.
func ownFiles(names []string, l lease.Lease) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range names {
		text, err := plainfile.ReadLinked(enclosure.KeptAt(l.Home, name), maxSettings)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		default:
			files[name] = text
		}
	}
	return files, nil
}

// nameLeftOut tells the operator in one line which parts of their own setup a worker does not
// have, and what to type to allow them.
func nameLeftOut(s *worksite.Site, w *ledger.Worker, a *agent.Adapter, left []string) {
	shared, err := s.Shared()
	found := agent.Inventory{}
	if err == nil {
		found, err = usersetup.Look(w.Lease.Lease().Home, s.Host.Top, a)
	}
	if err != nil {
		s.Voice.Step(w.ID, "setup", "your own setup of "+string(a.Name)+" cannot be read: "+fault.OneLine(err))
		return
	}
	asked := w.Lease.Lease().Policy.Agent.Asks
	found = found.Unshared(func(word string) bool { return shared.Has(word) && asked(word) })
	all := append(found.Counted(), left...)
	if len(all) == 0 {
		return
	}
	line := "left out of your " + string(a.Name) + " settings: " + strings.Join(all, ", ")
	words := found.Words()
	if unshared := slices.DeleteFunc(slices.Clone(words), shared.Has); len(unshared) > 0 {
		line += "; to allow: cordon config share " + strings.Join(unshared, " ")
	}
	if declined := slices.DeleteFunc(words, asked); len(declined) > 0 {
		line += "; the policy declines " + strings.Join(declined, ", ") + " (section agent)"
	}
	s.Voice.Step(w.ID, "setup", line)
}
