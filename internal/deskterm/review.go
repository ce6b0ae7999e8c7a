package deskterm

import (
	"fmt"
	"strings"
	"time"

	"cordon/internal/desk"
	"cordon/internal/view"
)

// The sections of a review, in their order; their keys are 1 to 7.
const (
	partWhy        = "why"
	partChanges    = "changes"
	partAcceptance = "acceptance"
	partGuard      = "guard"
	partNetwork    = "network"
	partTranscript = "transcript"
	partJournal    = "journal"
)

// reading is how a reader has set up a review.
type reading struct {
	width  int
	wide   bool
	open   map[string]bool // files that are unfolded
	seen   func(desk.File) bool
	choice func(view.Choice) string // its key
}

// reviewed makes the document of a review: the verdict first, and then what it rests on.
func reviewed(r *Review, how reading, now time.Time) *document {
	d := &document{width: how.width, wide: how.wide, files: r.Files, comments: r.Comments}
	for _, f := range r.Files {
		d.langs = append(d.langs, desk.LanguageOf(f.Name))
	}
	d.verdict(r, now)
	d.choices(r, how)
	d.why(r)
	d.changes(r, how)
	d.acceptance(r)
	d.guard(r)
	d.network(r)
	d.transcript(r)
	d.events(r.Events)
	return d
}

func (d *document) verdict(r *Review, now time.Time) {
	if r.Title != "" {
		d.wrapped(0, nil, words(in(inkDim), "“"+r.Title+"”"))
	}
	g := desk.GlyphOf(r.Status)
	d.wrapped(2, clean(in(inkOf(g.Class)), g.Sign), words(in(inkStrong), r.Verdict))
	if r.Says != "" {
		d.wrapped(2, nil, words(in(inkDim), "it says: “"+r.Says+"”"))
	}
	d.say(nil)
	d.facts(r.Facts)
	for _, u := range r.Unread {
		d.wrapped(2, clean(in(inkBad), "!"), words(in(inkBad), "not read: "+u))
	}
	for _, q := range r.Questions {
		d.say(nil)
		d.wrapped(2, clean(in(inkAsk), "?"), words(in(inkStrong), q.ID+", "+ago(now, q.Asked)+": "+q.Text))
		for i, o := range q.Options {
			d.wrapped(6, clean(in(inkAccent), fmt.Sprintf("   %d", i+1)), words(look{}, o))
		}
	}
}

// facts puts the six facts into as few lines as they fit.
func (d *document) facts(facts []view.Fact) {
	var l line
	for _, f := range facts {
		sign, i := factSign(f.State)
		one := join(clean(in(inkHead), strings.ToUpper(f.Name)+" "), words(in(i), sign+f.Text))
		if l.width() > 0 && l.width()+3+one.width() > d.width-2 {
			d.say(l)
			l = nil
		}
		if len(l) > 0 {
			l = append(l, blank(look{}, 3)...)
		}
		l = append(l, one...)
	}
	if len(l) > 0 {
		d.say(l)
	}
}

func factSign(state string) (string, ink) {
	switch state {
	case view.FactGood:
		return "✓ ", inkOK
	case view.FactBad:
		return "✗ ", inkBad
	case view.FactNote:
		return "! ", inkHold
	}
	return "", inkDim
}

// choices names what can be decided. Nothing is chosen beforehand.
func (d *document) choices(r *Review, how reading) {
	if len(r.Choices) == 0 {
		return
	}
	d.say(nil)
	var l line
	for _, c := range r.Choices {
		one := join(clean(in(inkKey), how.choice(c)), clean(look{}, " "+c.Name))
		if l.width()+3+one.width() > d.width-2 {
			d.say(l)
			l = blank(look{}, 9)
		}
		if len(l) == 0 {
			l = clean(in(inkHead), "YOU CAN  ")
		} else {
			l = append(l, blank(look{}, 3)...)
		}
		l = append(l, one...)
	}
	d.say(l)
}

func (d *document) why(r *Review) {
	d.begin(partWhy, "every rule that was broken, and what proves it")
	for _, b := range r.Reasons {
		what := b.What
		if b.Path != "" {
			what = string(b.Path) + "  " + b.Kind
		}
		d.wrapped(2, clean(in(inkBad), "✗"), words(in(inkStrong), what))
		if b.Rule != "" {
			d.wrapped(4, nil, join(words(look{}, b.Rule), words(in(inkDim), from(b.Origin))))
		} else if b.Setting != "" {
			d.wrapped(4, nil, words(in(inkDim), strings.TrimSpace(from(b.Origin))))
		}
		if b.Evidence != "" {
			d.wrapped(4, nil, words(in(inkDim), b.Evidence))
		}
	}
	if r.Why != nil {
		sign, i := factSign(r.Why.State)
		d.wrapped(2, clean(in(i), sign), words(in(i), r.Why.Text))
	}
}

// from says where a rule stands.
func from(o view.Origin) string {
	if o.Setting == "" {
		return "   built in"
	}
	return "   " + o.Setting + "   " + o.Policy
}

func (d *document) changes(r *Review, how reading) {
	seen := 0
	for _, f := range r.Files {
		if how.seen(f) {
			seen++
		}
	}
	d.begin(partChanges, fmt.Sprintf("%d   out of lease first   %d of %d files seen", len(r.Changes), seen, len(r.Files)))
	d.outdated(r)
	d.withoutPatch(r)
	for i, f := range r.Files {
		d.fileHead(i+1, f, how.seen(f), f.Folded && !how.open[f.Name])
		if !f.Folded || how.open[f.Name] {
			d.patch(i+1, f)
		}
	}
	if r.NoPatch != "" {
		d.wrapped(2, nil, words(in(inkDim), r.NoPatch))
	}
	if r.Left > 0 {
		d.wrapped(2, nil, clean(in(inkHold), fmt.Sprintf("%d lines are too many for this screen: cordon diff %s prints them.", r.Left, r.Worker)))
	}
	if r.More != nil {
		d.wrapped(2, nil, clean(in(inkHold), fmt.Sprintf("The audit counted more than it listed: %d violations and %d changes that may land.",
			r.More.Violations, r.More.Landing)))
	}
}

// outdated lists the comments on contents that are not there any more.
func (d *document) outdated(r *Review) {
	for _, c := range r.Comments {
		if c.Outdated {
			text := fmt.Sprintf("your comment on an earlier content of %s, line %d: %s", c.Path, c.From, c.Text)
			first := len(d.rows)
			d.wrapped(2, clean(in(inkAsk), "└"), words(in(inkDim), text))
			for i := first; i < len(d.rows); i++ {
				d.rows[i].comment = c.ID
			}
		}
	}
}

// withoutPatch lists the changes that no patch shows, such as files outside of the tree.
func (d *document) withoutPatch(r *Review) {
	shown := map[string]bool{}
	for _, f := range r.Files {
		shown[f.Name] = true
	}
	for _, c := range r.Changes {
		if shown[string(c.Path)] {
			continue
		}
		sign, i := "✗", inkBad
		if c.Inside {
			sign, i = "·", inkDim
		}
		d.wrapped(2, clean(in(i), sign), join(words(look{}, string(c.Path)), words(in(inkDim), "  "+c.Kind+"   "+c.Rule)))
	}
}

// fileHead is the row with the name of a file and the rule that decided about it.
func (d *document) fileHead(n int, f desk.File, seen, folded bool) {
	sign, i := "✓ ", inkOK
	switch f.Class {
	case "violation":
		sign, i = "✗ ", inkBad
	case "":
		sign, i = "", inkDim
	}
	right := fmt.Sprintf("  +%d −%d ", f.Added, f.Removed)
	if seen {
		right = "  seen" + right
	}
	if folded {
		right = "  ⏎ unfolds" + right
	}
	end := clean(in(inkDim), right)
	name := join(clean(in(inkRule), "── "), words(in(inkStrong), f.Name), clean(in(inkRule), " ── "), words(in(i), sign+f.Rule))
	name = name.clip(d.width - end.width() - 2)
	fill := clean(in(inkRule), " "+strings.Repeat("─", max(0, d.width-name.width()-end.width()-1)))
	d.rows = append(d.rows, row{text: join(name, fill, end), file: n, head: true})
}

func (d *document) acceptance(r *Review) {
	d.begin(partAcceptance, "")
	for _, c := range r.Acceptance {
		sign, i, how := "✓", inkOK, "passed"
		if c.Code != 0 {
			sign, i, how = "✗", inkBad, fmt.Sprintf("ended with %d", c.Code)
		}
		if c.Ended != "" {
			how = c.Ended
		}
		took := "  " + time.Duration(c.Took).Round(10*time.Millisecond).String()
		if c.Reused {
			took = "  not run again"
		}
		if c.Node != "" {
			took += "  on " + c.Node
		}
		if n := len(c.Names); n > 0 {
			took += fmt.Sprintf("  names %d changed", n)
		}
		d.wrapped(2, clean(in(i), sign), join(words(in(inkStrong), c.Command), words(in(i), "  "+how), clean(in(inkDim), took)))
		d.output(c.Output)
	}
	if len(r.Acceptance) == 0 {
		d.say(clean(in(inkDim), "  No acceptance command ran."))
	}
}

// output adds the lines of something that a program printed.
func (d *document) output(text string) {
	for l := range strings.Lines(strings.TrimRight(text, "\n")) {
		d.wrapped(4, nil, printed(in(inkDim), l))
	}
}

// printed is a line that a program printed, with its spaces.
func printed(l look, s string) line { return begun(l, strings.TrimRight(s, "\n"), mostWords) }

func (d *document) guard(r *Review) {
	more := "no tool call was judged"
	if r.Guard != nil {
		more = fmt.Sprintf("%d of %d denied", r.Guard.Denied, r.Guard.Calls)
	}
	d.begin(partGuard, more)
	for _, c := range r.Denied {
		d.wrapped(18, join(clean(in(inkDim), c.Time.Local().Format("15:04:05  ")), words(in(inkBad), c.Verdict)), words(look{}, c.Tool+" "+c.Input))
		if c.Reason != "" {
			d.wrapped(18, nil, words(in(inkDim), c.Reason))
		}
	}
}

func (d *document) network(r *Review) {
	more := "nothing was tried"
	if r.Network != nil {
		more = fmt.Sprintf("%d allowed, %d refused", r.Network.Allowed, r.Network.Refused)
	}
	d.begin(partNetwork, more)
	for _, a := range r.Refused {
		name := a.Name
		if name == "" {
			name = a.Address
		}
		if a.Port > 0 {
			name += fmt.Sprintf(":%d", a.Port)
		}
		if a.Count > 1 {
			name += fmt.Sprintf("  %d ×", a.Count)
		}
		if a.Process != "" {
			name += "  " + a.Process
		}
		d.wrapped(18, join(clean(in(inkDim), a.Time.Local().Format("15:04:05  ")), words(in(inkBad), a.Verdict)), words(look{}, name))
		if a.Reason != "" {
			d.wrapped(18, nil, words(in(inkDim), a.Reason))
		}
	}
}

func (d *document) transcript(r *Review) {
	more := ""
	if r.Earlier {
		more = "its end: cordon logs " + r.Worker + " prints all of it"
	}
	d.begin(partTranscript, more)
	if r.Transcript == "" {
		d.say(clean(in(inkDim), "  It has printed nothing."))
	}
	for l := range strings.Lines(strings.TrimRight(r.Transcript, "\n")) {
		d.wrapped(2, nil, printed(look{}, l))
	}
}

func (d *document) events(events []view.Event) {
	d.begin(partJournal, "what is recorded about it")
	for _, e := range events {
		d.say(eventLine(e, false).clip(d.width - 1))
	}
}

// eventLine is an event of the journal.
func eventLine(e view.Event, named bool) line {
	l := join(clean(in(inkDim), fmt.Sprintf("%6d  ", e.Seq)), clean(in(inkDim), e.Time.Local().Format("2006-01-02 15:04:05  ")))
	if named {
		l = append(l, words(look{}, e.Worker).fit(20, look{})...)
	}
	return join(l, words(in(inkAccent), e.Type).fit(22, look{}), begun(in(inkDim), string(e.Data), 160))
}

// ago is how long ago something was, in one unit.
func ago(now, then time.Time) string {
	d := now.Sub(then)
	switch {
	case then.IsZero():
		return ""
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
