package enclosure

import (
	"fmt"
	"path/filepath"
	"slices"

	"cordon/internal/cell"
	"cordon/internal/config"
	"cordon/internal/paths"
	"cordon/internal/policy"
)

// hideConfig returns the operator's configuration as places to hide: it says which
// programs cordon runs as the operator. A policy cannot open it. Where a directory around
// it is written at once, the way to it is pinned, and what cannot be kept from being
// made is refused.
func (e Enclosure) hideConfig(o *cell.Order, w resolver) ([]string, error) {
	dir, err := config.Dir()
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(dir)
	there := err == nil
	if !there {
		real = dir
	}
	for _, own := range e.ownDirs() {
		switch {
		case paths.Within(o.Home, own):
			continue // the cell refuses that
		case paths.Within(own, dir), paths.Within(own, real):
			return nil, fmt.Errorf("a worker must not write %s: your configuration is in it", own)
		case paths.Within(dir, own) && (!there || real != dir):
			return nil, fmt.Errorf("a worker that writes %s could make your configuration: create the directory %s first, without links", own, dir)
		}
		if !slices.Contains(e.Write, own) {
			continue // what is hidden in it is not placed either
		}
		for up := filepath.Dir(real); up != own && paths.Within(up, own); up = filepath.Dir(up) {
			o.Pinned = append(o.Pinned, up)
		}
	}
	return w.matches([]string{policy.EscapeGlob(dir), policy.EscapeGlob(filepath.Join(dir, config.Name))})
}
