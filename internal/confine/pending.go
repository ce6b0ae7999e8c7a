package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"cordon/internal/enclosure"
	"cordon/internal/fault"
	"cordon/internal/paths"
	"cordon/internal/state"
	"cordon/internal/worksite"
)

// pendingRecords are the records of other commands that write in place and have not been looked
// at yet: they run, or their cordon was killed. What they made is nothing that was there
// before: it will be moved aside, and another command could put its own in that place.
type pendingRecords []InPlace

// readPending reads the records that are there now. One that goes away meanwhile is of a
// command that has ended, and what it left was moved before.
func readPending() (pendingRecords, error) {
	root, err := state.RealRoot()
	if err != nil {
		return nil, err
	}
	found, err := filepath.Glob(filepath.Join(root, state.Executions, state.ExecutionPrefix+"*"))
	if err != nil {
		return nil, err
	}
	var list pendingRecords
	for _, name := range found {
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var other InPlace
		if err == nil {
			err = json.Unmarshal(text, &other)
		}
		if err != nil {
			return nil, fmt.Errorf("the record of a command that runs cannot be read: %s: %w; start the command again, and remove the file if that does not help",
				name, err)
		}
		list = append(list, other)
	}
	return list, nil
}

// made is the directory of a command that may have made the repository at a path; "" for none.
func (u pendingRecords) made(repository string) string {
	for _, other := range u {
		if dir := paths.Holding(repository, other.Write); dir != "" && !slices.Contains(other.Known, repository) {
			return dir
		}
	}
	return ""
}

// absentIn lists what was absent for one of the commands and lies in directories.
func (u pendingRecords) absentIn(dirs []string) []absent {
	var list []absent
	for _, other := range u {
		for _, a := range other.Absent {
			if dir := paths.Holding(a.path(), dirs); dir != "" {
				rest, _ := filepath.Rel(dir, a.path()) // it is below
				a.Dir, a.Rest = dir, filepath.ToSlash(rest)
				list = append(list, a)
			}
		}
	}
	return list
}

// ignorePending treats what the commands made as what is not there: it is neither held nor
// known, so that it is moved aside also when this command has put something else there.
// The repository that the command is in cannot be treated so.
func (p *InPlace) ignorePending(u pendingRecords, e *enclosure.Enclosure, own string) error {
	if dir := u.made(own); dir != "" {
		return fault.Refuse("%s appeared while another command under cordon could write in %s, and that command still runs: wait until it ends, or stop it", own, dir)
	}
	drop := slices.DeleteFunc(slices.Clone(p.Known), func(at string) bool { return worksite.Exists(at) && u.made(at) == "" })
	for _, a := range u.absentIn(p.Write) {
		drop = append(drop, a.path())
		if !slices.Contains(p.Absent, a) {
			p.Absent = append(p.Absent, a)
		}
	}
	dropped := func(at string) bool { return slices.Contains(drop, at) }
	p.Known, e.Held = slices.DeleteFunc(p.Known, dropped), slices.DeleteFunc(e.Held, dropped)
	for _, at := range e.Held {
		if !worksite.Exists(at) {
			return fault.Refuse("%s disappeared while cordon searched the directory: start the command again", at)
		}
	}
	return nil
}
