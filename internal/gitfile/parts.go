package gitfile

import "slices"

// Parts are the names that make a git directory of a directory.
var Parts = []string{"HEAD", "commondir", "objects", "refs"}

// IsRepository reports whether git takes a directory with these names for a repository.
func IsRepository(names []string) bool {
	has := func(name string) bool { return slices.Contains(names, name) }
	return has("HEAD") && (has("objects") && has("refs") || has("commondir"))
}
