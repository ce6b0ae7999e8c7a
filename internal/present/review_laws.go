package present

import (
	"context"
	"fmt"
	"strings"

	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/policy"
	"cordon/internal/session"
	"cordon/internal/strictyaml"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

// laws are the policy of a worker, and where its entries stand.
type laws struct {
	policy policy.Policy
	source string
	base   string
	given  strictyaml.Given // of cordon.yaml at the base; nil: the policy is not from there
}

// lawsOf finds the lines of a worker's policy. Where they cannot be found, the source alone is named.
func lawsOf(ctx context.Context, s *session.Session, w *ledger.Worker) laws {
	l := w.Lease.Lease()
	of := laws{policy: l.Policy, source: l.Source, base: l.Base.Short()}
	if !strings.HasPrefix(l.Source, worksite.PolicyName+" at "+of.base) {
		return of
	}
	text, ok, err := s.Host.FileAt(ctx, l.Base, worksite.PolicyName)
	if err != nil || !ok {
		return of
	}
	if _, given, err := policy.ParseGiven(worksite.PolicyName, text); err == nil {
		of.given = given
	}
	return of
}

// origin is where the rule of a finding comes from. Rules that no policy changes have none.
func (l laws) origin(rule string) view.Origin {
	fs := l.policy.Filesystem
	switch {
	case strings.Contains(rule, "write_roots"):
		return l.entry("filesystem.write_roots", listed(fs.WriteRoots))
	case strings.Contains(rule, "deny_write"):
		return l.entry("filesystem.deny_write", listed(fs.DenyWrite))
	case strings.Contains(rule, "deny_read"):
		return l.entry("filesystem.deny_read", listed(fs.DenyRead))
	case strings.HasPrefix(rule, "scratch "):
		return l.entry("filesystem.scratch", listed(fs.Scratch))
	case strings.Contains(rule, "limits.disk"):
		return l.entry("limits.disk", l.policy.Limits.Disk.String())
	}
	return view.Origin{}
}

// acceptance is where the acceptance commands come from.
func (l laws) acceptance() view.Origin { return l.entry("acceptance", listed(l.policy.Acceptance)) }

// entry is an entry of the policy with its value and its place.
func (l laws) entry(key, value string) view.Origin {
	short := key[strings.LastIndexByte(key, '.')+1:]
	if strings.HasPrefix(key, "limits.") {
		short = key
	}
	o := view.Origin{Setting: legible.Line(short + ": " + value), Policy: l.source}
	written := strings.Contains(l.source, " with --write") && short == "write_roots"
	switch line, given := l.given[key]; {
	case written || l.given == nil:
	case given:
		o.Policy, o.Line = fmt.Sprintf("%s:%d at %s", worksite.PolicyName, line, l.base), line
	default:
		o.Policy = fmt.Sprintf("default (%s at %s does not name it)", worksite.PolicyName, l.base)
	}
	return o
}

// listed is a list as a policy has it.
func listed(entries []string) string { return "[" + strings.Join(entries, ", ") + "]" }
