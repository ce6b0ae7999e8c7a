package demos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/conduct"
	"cordon/internal/demo"
	"cordon/internal/mailbox"
	"cordon/internal/plan"
	"cordon/internal/present"
	"cordon/internal/session"
)

// show is a plan of the demo under way.
type show struct {
	*Console
	dir, repo string
}

// plan runs the demo's plan, answers its question in the place of the operator, and runs it on.
func (a *Console) plan(ctx context.Context, dir string, ui bool) error {
	dir, err := a.stage(ctx, dir, demo.PlanToy)
	if err != nil {
		return err
	}
	s := &show{a, dir, filepath.Join(dir, "repo")}
	file := filepath.Join(dir, "plan.yaml")
	text := demo.Plan(s.repo)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	a.Page().Say("a toy repository in %s, and a plan for it in %s\n\n$ cordon plan run %s", s.repo, file, file)
	site, err := session.Open(ctx, s.repo)
	if err != nil {
		return err
	}
	request := conduct.Request{Document: conduct.Document{Name: file, Source: file, Text: []byte(text)}, Who: a.Who()}
	if _, err := conduct.Open(ctx, site.Site, request); err != nil {
		return err
	}
	report, err := s.run(ctx)
	if err != nil {
		return err
	}
	if err := s.answer(ctx, report); err != nil {
		return err
	}
	if report, err = s.run(ctx); err != nil {
		return err
	}
	if ui {
		if err := a.Desk(ctx, s.repo); err != nil {
			return err
		}
	}
	return s.end(report)
}

// run takes the plan as far as it goes, and shows where it stands.
func (s *show) run(ctx context.Context) (conduct.Report, error) {
	c := &conduct.Conductor{
		Open: func(ctx context.Context) (*session.Session, error) { return session.Open(ctx, s.repo) },
		Who:  s.Who(), Drive: func(plan.Stage) session.Drive { return session.Drive{} },
		Say: func(stage, word, text string) { s.Page().Say("%s", strings.TrimSpace(stage+" "+word+": "+text)) },
	}
	report, err := c.Run(ctx, demo.PlanName)
	if err != nil {
		return report, err
	}
	p := s.Page()
	if p.JSON {
		return report, nil // one object, at the end
	}
	p.Say("")
	return report, p.Plan(present.PlanView(report, false))
}

// answer answers the question of the plan, as the operator would.
func (s *show) answer(ctx context.Context, report conduct.Report) error {
	site, err := session.Open(ctx, s.repo)
	if err != nil {
		return err
	}
	for _, st := range report.All {
		if st.Need != plan.NeedAnswer {
			continue
		}
		w, err := site.Find(st.Worker)
		if err != nil {
			return err
		}
		q, _, err := mailbox.Named(w, nil)
		if err != nil {
			return err
		}
		s.Page().Say("\n%s asks: %s\nHere you would answer; the demo does it for you.\n\n$ cordon answer %s %s\n$ cordon plan run %s",
			st.Stage.ID, q.Text, w.ID, demo.PlanAnswer, demo.PlanName)
		return mailbox.Answer(ctx, site.Site, w, q.Number, demo.PlanAnswer, s.Who())
	}
	return nil
}

// end says what to look at next, and whether everything came as the demo promises.
func (s *show) end(report conduct.Report) error {
	p := s.Page()
	escapes, err := demo.Traces(s.repo)
	if err != nil {
		return err
	}
	if p.JSON {
		if err := p.Object(present.PlanView(report, false)); err != nil {
			return err
		}
	} else {
		p.Say("%s", strings.Join(demo.LookAtPlan(s.dir, s.repo, report.All), "\n"))
	}
	for _, e := range escapes {
		p.Say("ESCAPED: %s", e)
	}
	if len(escapes) == 0 {
		p.Say("\nSearched the host for what the stage polish tried to leave: no trace.")
	}
	if !demo.AsPlanned(report.All) || len(escapes) > 0 {
		return fmt.Errorf("this is not what the demo is meant to show: please report it")
	}
	return nil
}
