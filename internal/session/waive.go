package session

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cordon/internal/fault"
	"cordon/internal/ledger"
)

// options are what names each kind of fault in a release. Nothing else waives it.
var options = map[ledger.Cause]string{
	ledger.BrokeLease:       "--write ROOT or --policy FILE",
	ledger.WroteOutside:     "--leave-behind",
	ledger.ChangedHost:      "--accept-host",
	ledger.UnprovenGuard:    "--accept-unproven",
	ledger.FailedAcceptance: "--accept-failed",
	ledger.NotJudged:        "--accept-unjudged",
}

// titles are the kinds of fault in words.
var titles = map[ledger.Cause]string{
	ledger.BrokeLease:       "outside its lease",
	ledger.WroteOutside:     "written outside its tree",
	ledger.ChangedHost:      "your repository changed",
	ledger.UnprovenGuard:    "its guard is not proven",
	ledger.FailedAcceptance: "acceptance failed",
	ledger.NotJudged:        "it could not be judged",
}

// Title is a kind of fault in words.
func Title(c ledger.Cause) string { return titles[c] }

// Option is the option of a release that names a kind of fault.
func Option(c ledger.Cause) string { return options[c] }

// LandsInside reports whether cordon merge --inside would take a quarantined result to the gate.
func LandsInside(found []Wrong) bool { return inLease(found) }

// waivers are the kinds of fault that an amendment names, among those there are. It refuses an
// amendment that leaves one out, and says which, and how all of them are named.
func waivers(w *ledger.Worker, found []Wrong, a Amendment) ([]ledger.Cause, error) {
	named := slices.Clone(a.Accept)
	if a.Amended {
		named = append(named, ledger.BrokeLease)
	}
	if a.LeaveBehind {
		named = append(named, ledger.WroteOutside)
	}
	var waived []ledger.Cause
	complete := true
	for _, x := range found {
		switch {
		case slices.Contains(named, x.Cause):
			waived = append(waived, x.Cause)
		case x.Cause == ledger.FailedAcceptance && runsAgain(w, a): // and decides
		default:
			complete = false
		}
	}
	if complete {
		return waived, nil
	}
	return nil, fault.Refuse("%s was not released. A release waives only what it names, and this is wrong with the result:\n%s\nTo waive all of it: %s", w.ID,
		describeWrongs(found, named), ReleaseCommand(w, found))
}

// runsAgain reports whether the commands that failed run again under an amended policy:
// then they decide, and nothing is waived.
func runsAgain(w *ledger.Worker, a Amendment) bool {
	if w.Gate == nil || !a.Amended {
		return false
	}
	for _, c := range w.Gate.Checks {
		line := strings.TrimPrefix(c.Command, "setup: ")
		if c.Code != 0 && !slices.Contains(a.Policy.Acceptance, line) && !slices.Contains(a.Policy.Setup, line) {
			return false
		}
	}
	return true
}

// describeWrongs lists faults, and for each kind what names it.
func describeWrongs(found []Wrong, named []ledger.Cause) string {
	var b strings.Builder
	for _, x := range found {
		option := options[x.Cause]
		if slices.Contains(named, x.Cause) {
			option = "named"
		}
		fmt.Fprintf(&b, "  %s (%s):\n", titles[x.Cause], option)
		for _, line := range x.Lines {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// ReleaseCommand is the command that waives everything in a list of faults.
func ReleaseCommand(w *ledger.Worker, found []Wrong) string {
	words := []string{"cordon", "quarantine", "release", string(w.ID)}
	for _, x := range found {
		switch x.Cause {
		case ledger.BrokeLease:
			for _, root := range rootsFor(x) {
				words = append(words, "--write", root)
			}
		default:
			words = append(words, options[x.Cause])
		}
	}
	return strings.Join(append(words, "--reason", "WHY"), " ")
}

// plainRoot is a path that means nothing to a shell or to an option parser: a worker chose it.
var plainRoot = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.][A-Za-z0-9_./-]*$`) })

// maxRoots is how many roots a command names before it leaves that to the operator.
const maxRoots = 3

// rootsFor are the paths that a release would have to add, where they can be named safely.
func rootsFor(x Wrong) []string {
	var roots []string
	for _, f := range x.found {
		if p := string(f.Path); f.Kind.Landable() && plainRoot().MatchString(p) && !slices.Contains(roots, p) {
			roots = append(roots, p)
		}
	}
	if len(roots) == 0 || len(roots) > maxRoots || len(roots) < len(x.found) {
		return []string{"ROOT"}
	}
	return roots
}

// inLease reports whether all that is wrong with a result stays behind when only its changes
// inside the lease land, or is tested again then.
func inLease(found []Wrong) bool {
	return !slices.ContainsFunc(found, func(x Wrong) bool {
		return x.Cause != ledger.BrokeLease && x.Cause != ledger.WroteOutside && x.Cause != ledger.FailedAcceptance
	})
}
