package present

import (
	"cordon/internal/audit"
	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/view"
)

func gateView(r *gate.Result) *view.Gate {
	if r == nil {
		return nil
	}
	v := &view.Gate{
		Outcome: string(r.Outcome), Commit: string(r.Commit), Target: r.Target, Paths: Texts[view.Text](r.Paths),
		Findings: Each(r.Findings, findingView), Why: r.Why, Checkout: r.Checkout, Retries: r.Retries,
	}
	for _, c := range r.Checks {
		v.Checks = append(v.Checks, view.Acceptance{
			Command: c.Command, Code: c.Code, Ended: c.Ended, Took: int64(c.Took), Output: c.Output, Reused: c.Reused, Node: c.Node, Names: Texts[view.Text](c.Names),
		})
	}
	if q := r.Queue; q != nil {
		v.Queue = &view.Passage{Since: q.Since, Tests: q.Tests, Ahead: q.Ahead}
	}
	for _, o := range r.InTheWay {
		v.InTheWay = append(v.InTheWay, view.Obstacle{Checkout: o.Checkout, Path: view.Text(o.Path), Why: o.Why})
	}
	return v
}

func ReportView(r *audit.Report) *view.Audit {
	v := &view.Audit{
		Worker: r.Worker, Lease: r.Lease, Base: string(r.Base), Verdict: r.Verdict, Summary: countsView(r.Summary),
		Host: r.Host, Digest: r.Digest, Partial: r.Partial,
	}
	if r.Findings != nil {
		v.Findings = Each(r.Findings, findingView)
	}
	if r.More != nil {
		more := countsView(*r.More)
		v.More = &more
	}
	if h := r.History; h != nil {
		v.History = &view.History{
			Head: string(h.Head), Commits: Texts[string](h.Commits), Others: h.Others, Orphans: Texts[string](h.Orphans),
			Scratch: h.Scratch, Borrowed: h.Borrowed, Gone: h.Gone,
			Tips: Each(h.Tips, func(t audit.Tip) view.Tip { return view.Tip{Ref: view.Text(t.Ref), OID: string(t.OID)} }),
		}
	}
	return v
}

func countsView(n audit.Summary) view.Counts {
	return view.Counts{
		Landing: n.Landing, Violations: n.Violations, Ignored: n.Ignored, Scratch: n.Scratch, Notes: n.Notes,
		LandingSize: n.LandingSize, ViolationsSize: n.ViolationsSize, IgnoredSize: n.IgnoredSize, ScratchSize: n.ScratchSize,
	}
}

func findingView(f audit.Finding) view.Finding {
	return view.Finding{
		Path: view.Text(f.Path), Kind: string(f.Kind), Old: entryView(f.Old), New: entryView(f.New), Size: f.Size, Target: view.Text(f.Target),
		Ignored: f.Ignored, Source: f.Source, Detail: f.Detail, SHA256: f.SHA256, LFS: f.LFS, Kept: view.Text(f.Kept), Class: string(f.Class), Rule: f.Rule,
	}
}

func entryView(e git.Entry) view.Entry { return view.Entry{Mode: e.Mode.String(), OID: string(e.OID)} }
