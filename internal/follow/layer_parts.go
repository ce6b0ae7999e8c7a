package follow

import (
	"slices"

	"cordon/internal/gitfile"
	"cordon/internal/overlay"
)

// repositoryParts are the names of a layer's directory that would make a repository of one that is there
// and is none.
func repositoryParts(up, into *dir, names []string) (map[string]bool, error) {
	if !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(gitfile.Parts, name) }) {
		return nil, nil
	}
	there, err := into.names()
	if err != nil || gitfile.IsRepository(there) {
		return nil, err // what is in a repository is judged as such
	}
	parts := map[string]bool{}
	for _, name := range names {
		if !slices.Contains(gitfile.Parts, name) {
			continue
		}
		e, err := up.entry(name)
		if err != nil {
			return nil, err
		}
		if !overlay.Removed(&e.Stat_t) {
			parts[name] = true
			there = append(there, name)
		}
	}
	if !gitfile.IsRepository(there) {
		return nil, nil
	}
	return parts, nil
}
