package policy

// JudgeIgnored is Judge for a path that never lands, because the base commit's
// ignore rules exclude it. The built-in names protect the operator from what
// lands, so of them only those that can never be named still hold.
func (r Rules) JudgeIgnored(path string) Verdict {
	raw, ok := treePath(path)
	if !r.compiled || !ok {
		return r.Judge(path)
	}
	names := r.fold.keys(raw)
	if row, found := r.protectedBy(raw, names); !found || row.Never {
		return r.Judge(path)
	}
	for _, d := range r.denyWrite {
		if d.coversInTree(names) {
			return Verdict{Violation, d.named()}
		}
	}
	return r.allow(names)
}
