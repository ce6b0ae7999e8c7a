package page

import (
	"fmt"
	"strings"
	"time"

	"cordon/internal/legible"
	"cordon/internal/post"
	"cordon/internal/present"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

// Status shows a worker what it may know of itself.
func (p Page) Status(st *post.Status) error {
	shown := statusView(st)
	if p.JSON {
		return p.Object(shown)
	}
	p.Print("%s", shown.Worker)
	terminal.Table(p.Out, statusRows(shown, time.Now()))
	return nil
}

func statusView(st *post.Status) *view.Status {
	v := &view.Status{
		Worker: st.Worker, Branch: st.Branch, Base: st.Base, WriteRoots: st.Write, Domains: st.Domains,
		Expires: st.Expires, Ends: st.Ends, Done: st.Done,
	}
	if st.Questions != nil {
		v.Questions = present.Each(st.Questions, func(q post.Question) view.Answered { return view.Answered(q) })
	}
	return v
}

func statusRows(st *view.Status, now time.Time) [][]string {
	rows := [][]string{
		{"branch", fmt.Sprintf("%s, from %.10s", st.Branch, st.Base)},
		{"write", present.OrNothing(strings.Join(st.WriteRoots, ", "))},
		{"reach", present.OrNothing(strings.Join(st.Domains, ", "))},
		{"lease", "until " + st.Expires.Local().Format(time.RFC3339)},
	}
	if !st.Ends.IsZero() {
		rows = append(rows, []string{"time", terminal.Age(max(st.Ends.Sub(now), 0)) + " left"})
	}
	for _, q := range st.Questions {
		text := terminal.Clip(legible.Line(q.Text), 100)
		if q.Answered {
			rows = append(rows, []string{q.ID, text}, []string{"", "answered: " + legible.Line(q.Answer)})
			continue
		}
		rows = append(rows, []string{q.ID, text + " (not answered yet)"})
	}
	if st.Done {
		rows = append(rows, []string{"done", "you have said so"})
	}
	return rows
}
