package doctor

import (
	"fmt"
	"slices"
	"strings"

	"cordon/internal/terminal"
)

// verdict is what all checks together mean, and what to type next.
type verdict struct {
	Ready  string
	Next   []string
	failed bool
}

// verdictOf weighs the checks.
func verdictOf(checks []check) verdict {
	bad, doubts := withStatus(checks, statusFail), withStatus(checks, statusWarn)
	if len(bad) > 0 {
		v := verdict{Ready: fmt.Sprintf("Not ready: %s failed (%s).", terminal.Plural(len(bad), "check"), strings.Join(bad, ", ")), failed: true}
		for _, c := range checks {
			if c.Status == statusFail && c.Hint != "" {
				v.Next = append(v.Next, "Next: "+c.Hint)
				break
			}
		}
		return v
	}
	v := verdict{Ready: "Ready.", Next: []string{"Next: " + nextStep(checks)}}
	if len(doubts) > 0 {
		v.Ready = fmt.Sprintf("Ready, with %s (%s).", terminal.Plural(len(doubts), "warning"), strings.Join(doubts, ", "))
	}
	return v
}

// withStatus lists the names of the checks that have a status.
func withStatus(checks []check, s status) []string {
	var list []string
	for _, c := range checks {
		if c.Status == s && !slices.Contains(list, c.Name) {
			list = append(list, c.Name)
		}
	}
	return list
}

// nextStep is what somebody types whose machine is ready.
func nextStep(checks []check) string {
	here := func(name string, s status) bool {
		return slices.ContainsFunc(checks, func(c check) bool { return c.Name == name && c.Status == s })
	}
	switch {
	case here("commit", statusOK) && slices.ContainsFunc(checks, func(c check) bool { return c.Name == "policy" && strings.HasPrefix(c.Detail, "default") }):
		return "cordon init writes a policy for this repository; cordon run -- COMMAND starts a worker"
	case here("commit", statusOK):
		return "cordon run -- COMMAND starts a worker"
	case here("commit", statusWarn):
		return "commit something, then cordon run -- COMMAND starts a worker"
	}
	return "cordon demo shows it at work; cordon doctor --probe tries to escape from a cell; or change to a git repository"
}
