package git

import "cordon/internal/commands/table"

// gitRow finds the row of one of git's subcommands. Their options take the kinds
// of value.go. Their operands are one of:
//
//	none    nothing outside of the repository; the command's own function may know more
//	revs    revisions or paths, read
//	read    paths, read
//	write   paths, written
//	files   files that are no pathspecs, read
//	loose   whatever looks like a path, read
func gitRow(name string) *table.Row { return table.Lookup("git " + name) }
