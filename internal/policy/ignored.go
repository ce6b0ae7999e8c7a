package policy

// JudgeIgnored is Judge for a path that never lands, because the base commit's
// ignore rules exclude it. The built-in names and deny_read protect the operator
// from what lands, so of them only the names that no root can lift still hold.
func (r Rules) JudgeIgnored(path string) Verdict {
	names, why := r.spell(path)
	if why == "" {
		why = r.denied(names)
	}
	if why != "" {
		return Verdict{Violation, why}
	}
	if row, found := r.protectedBy(names); found && row.Never {
		return Verdict{Violation, builtIn(row)}
	}
	return r.allow(names)
}

// LeftOver reports whether nothing but missing write_roots speaks against a path that
// never lands: no deny, no built-in name and no deny_read covers it.
func (r Rules) LeftOver(path string) bool {
	names, why := r.spell(path)
	if why != "" || r.denied(names) != "" {
		return false
	}
	if _, found := r.protectedBy(names); found {
		return false
	}
	if _, found := r.unseen(names); found {
		return false
	}
	return r.allow(names) == outside
}
