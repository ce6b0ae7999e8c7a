// Package limit holds a cell to its limits: with a control group where the system lets
// us make one, with the kernel's limits for each process, and by counting what the
// processes of a cell have together.
//
// It refuses to arrange control groups that were not given to us, and to take what it
// cannot count for nothing. It names the limit that was reached; package cell ends the
// command.
package limit

// The limits that a cell can reach, and that its directories or processes cannot be counted any more,
// as they are told to people.
const (
	Memory    = "memory limit"
	Processes = "process limit"
	Files     = "open files limit"
	Disk      = "disk limit"
	Depth     = "directories are nested too deep to be counted"
	Unwatched = "its processes could not be watched"
)
