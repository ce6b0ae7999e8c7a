package enclosure

import (
	"fmt"
	"strconv"

	"cordon/internal/cell"
	"cordon/internal/policy"
)

// DescribeExit says how a command ended under a policy's limits, after "the command": with its
// status, or at which limit, by the name that the limit has in the policy.
func DescribeExit(l policy.Limits, exit cell.Exit) string {
	limits := map[cell.Reason]struct{ value, key string }{
		cell.TimedOut:     {l.Time.String(), "limits.time"},
		cell.MemoryLimit:  {l.Memory.String(), "limits.memory"},
		cell.ProcessLimit: {strconv.Itoa(l.Processes), "limits.processes"},
		cell.FileLimit:    {strconv.Itoa(l.Files), "limits.files"},
		cell.DiskLimit:    {l.Disk.String(), "limits.disk"},
	}
	limit, ok := limits[exit.Reason]
	switch {
	case ok:
		return fmt.Sprintf("exceeded the %s of %s (%s)", exit.Reason, limit.value, limit.key)
	case exit.Reason == cell.Exited:
		return fmt.Sprintf("ended with %d", exit.Code)
	}
	return fmt.Sprintf("was ended: %s", exit.Reason)
}
