package client

import (
	"path"
	"strings"
)

// globRoot is a path that a pattern cannot match outside of: what stands before
// its first special character, below the place it starts from. Every ".." behind
// that leads one step further out.
func globRoot(place, pattern string) string {
	root, rest := pattern, ""
	if i := strings.IndexAny(pattern, `*?[{(!+@\`); i >= 0 {
		cut := strings.LastIndexByte(pattern[:i], '/') + 1
		root, rest = pattern[:cut], pattern[cut:]
	}
	root = strings.TrimSuffix(root, "/")
	switch {
	case strings.HasPrefix(pattern, "/") && root == "":
		root = "/"
	case path.IsAbs(pattern), strings.HasPrefix(pattern, "~"):
	case root == "":
		root = place
	case place != ".":
		root = strings.TrimSuffix(place, "/") + "/" + root
	}
	for range min(strings.Count(rest, ".."), 32) {
		root += "/.."
	}
	if i := strings.Index(rest, "{/"); i >= 0 || strings.Contains(rest, ",/") {
		return "/" // one of its alternatives is absolute
	}
	return root
}
