package page

import (
	"fmt"
	"io"
	"strings"

	"cordon/internal/guard"
	"cordon/internal/legible"
	"cordon/internal/present"
	"cordon/internal/view"
)

// checkView is a decision as an object.
func checkView(d guard.Decision) *view.Check {
	v := &view.Check{Verdict: string(d.Verdict), Reason: d.Reason, Tried: d.Tried, Instead: d.Instead, Holds: d.Holds, Warned: d.Warned}
	if d.Steps != nil {
		v.Steps = present.Each(d.Steps, present.StepView)
	}
	return v
}

// Decision explains a decision.
func (p Page) Decision(d guard.Decision) error {
	if p.JSON {
		return p.Object(checkView(d))
	}
	var b strings.Builder
	dir := ""
	for _, s := range checkView(d).Steps {
		if s.Dir != dir {
			dir = s.Dir
			fmt.Fprintf(&b, "in %s\n", legible.Line(dir))
		}
		fmt.Fprintf(&b, "  %-5s %s\n", s.Verdict, legible.Line(stepLine(s)))
	}
	fmt.Fprintf(&b, "%s", d.Verdict)
	if m := d.Message(); m != "" {
		fmt.Fprintf(&b, "\n\n%s\n(%s)\n", strings.TrimRight(m, "\n"), d.Holds)
	} else {
		fmt.Fprintf(&b, " (%s)\n", d.Holds)
	}
	_, err := io.WriteString(p.Out, b.String())
	return err
}

// stepLine is one thing that a call does.
func stepLine(s view.Step) string {
	line := s.Does
	if s.Path != "" {
		line += " " + s.Path
	}
	if s.Leads != "" && s.Leads != s.Path {
		line += " → " + s.Leads
	}
	if s.Place != "" {
		line += " (" + s.Place + ")"
	}
	if s.Why != "" {
		line += ": " + s.Why
	}
	return line
}
