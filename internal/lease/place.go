package lease

import (
	"fmt"
	"path/filepath"
	"slices"

	"cordon/internal/paths"
	"cordon/internal/policy"
)

// PlaceSchema names the encoding of a place.
const PlaceSchema = "cordon.place/1"

// Place says where the terms of a worker are carried out: the paths of one machine. It
// names the terms by their hash. Its canonical encoding is the compact JSON of these
// fields in this order.
type Place struct {
	Schema   string `json:"schema"`
	Terms    string `json:"terms"`    // hexadecimal SHA-256 of the encoded terms
	Worktree string `json:"worktree"` // absolute, symlinks resolved: where the worker sees its tree
	Adopted  bool   `json:"adopted"`  // the worktree was made by another tool
	Home     string `json:"home"`     // what ~ stands for in the policy
	Fold     bool   `json:"fold"`     // the worktree's file system folds case
	Tree     Tree   `json:"tree"`
	Cache    Cache  `json:"cache,omitzero"`
}

// Cache are the caches that a worker shares with others; the zero value is none.
type Cache struct {
	Key  string   `json:"key"`            // what the runs have in common that share them
	From string   `json:"from,omitempty"` // the generation that the worker finds; "": there was none
	Dirs []string `json:"dirs"`           // absolute: caches in the home
}

// clone shares no list with the place that it is a copy of.
func (p Place) clone() Place {
	p.Cache.Dirs = slices.Clone(p.Cache.Dirs)
	return p
}

// Tree is the kind of a worktree.
type Tree string

// The kinds. Leases of an older cordon name none: theirs are plain directories.
const (
	Plain   Tree = ""        // a directory of its own
	Layered Tree = "overlay" // copied on write, above a checkout that many share
)

// check holds a place to what it may say of a worker with this isolation.
func (p Place) check(isolation policy.Isolation) error {
	for _, path := range append([]string{p.Worktree, p.Home}, p.Cache.Dirs...) {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			return fmt.Errorf("%q is not an absolute, clean path", path)
		}
	}
	if p.Tree != Plain && (p.Tree != Layered || p.Adopted || isolation == policy.None) {
		return fmt.Errorf("a worktree of the kind %q cannot be had here", p.Tree)
	}
	for _, dir := range p.Cache.Dirs {
		if p.Tree != Layered || !paths.Below(dir, p.Home) {
			return fmt.Errorf("%s cannot be a cache of this worker", dir)
		}
	}
	return recordable(slices.Concat(p.Cache.Dirs, []string{p.Worktree, p.Home, p.Cache.Key, p.Cache.From})...)
}
