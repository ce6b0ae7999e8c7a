package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/client"
	"cordon/internal/guard"
)

// Asked is a question that an agent has for its user, in its client's own way.
type Asked struct {
	Text    string
	Options []string
}

// Told is what became of a question that was passed on.
type Told struct {
	Asked
	ID       string // the name it got
	Answered bool
	Answer   string
	Err      error // it could not be passed on
}

// What is passed on of a call.
const (
	maxAsked   = 8
	maxText    = 8000 // bytes
	maxOptions = 10
	maxOption  = 500 // bytes
)

// passOn makes of a question to a user who is not there one to the operator. Until
// Tell says what became of it, the answer is that it was not heard.
func (r *Reply) passOn(req client.Request) Reply {
	list, err := questionsOf(req.Input)
	if err != nil {
		r.Record.Verdict, r.Record.Reason = guard.Deny, err.Error()
		r.Answer = denial(string(req.Client), "BLOCKED: "+err.Error()+"\nInstead, you should: run cordon ask \"your question\"\n")
		return *r
	}
	r.Asked = list
	r.Record.Verdict, r.Record.Reason = guard.Ask, "a question for the operator"
	r.Record.Input = strings.Join(strings.Fields(list[0].Text), " ")
	return Tell(*r, nil)
}

// questionsOf finds the questions of a call: one, or a list of them. The clients
// differ in the names and not in the shape.
func questionsOf(input []byte) ([]Asked, error) {
	var one questionInput
	if err := one.read(input); err != nil {
		return nil, fmt.Errorf("the question is not understood: %w", err)
	}
	forms := one.Questions
	if len(forms) == 0 {
		forms = []questionInput{one}
	}
	if len(forms) > maxAsked {
		return nil, fmt.Errorf("a call asks at most %d questions", maxAsked)
	}
	var list []Asked
	for _, f := range forms {
		a, err := f.asked()
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// questionInput is a question in the words of all clients.
type questionInput struct {
	Questions []questionInput `json:"questions"`
	Question  string          `json:"question"`
	Message   string          `json:"message"`
	Header    string          `json:"header"`
	Options   []optionInput   `json:"options"`
	Choices   []optionInput   `json:"choices"`
}

// read reads an input, which may be JSON in a string.
func (q *questionInput) read(input []byte) error {
	input = bytes.TrimSpace(input)
	if len(input) > 0 && input[0] == '"' {
		var text string
		if err := json.Unmarshal(input, &text); err != nil {
			return err
		}
		input = []byte(text)
	}
	return json.Unmarshal(input, q)
}

// optionInput is a text, or an object with a label.
type optionInput string

// UnmarshalJSON implements json.Unmarshaler.
func (o *optionInput) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*o = optionInput(text)
		return nil
	}
	var form struct{ Label, Value, Description string }
	if err := json.Unmarshal(b, &form); err != nil {
		return err
	}
	if form.Label == "" {
		form.Label = form.Value
	}
	if form.Description != "" && form.Description != form.Label {
		form.Label += " (" + form.Description + ")"
	}
	*o = optionInput(form.Label)
	return nil
}

func (q questionInput) asked() (Asked, error) {
	a := Asked{Text: q.Question}
	for _, text := range []string{q.Message, q.Header} {
		if strings.TrimSpace(a.Text) == "" {
			a.Text = text
		}
	}
	if a.Text = strings.TrimSpace(a.Text); a.Text == "" {
		return a, errors.New("no question was found in the call")
	}
	a.Text = cut(a.Text, maxText)
	for _, o := range append(q.Options, q.Choices...) {
		text := strings.Join(strings.Fields(string(o)), " ")
		if text != "" && len(a.Options) < maxOptions {
			a.Options = append(a.Options, cut(text, maxOption))
		}
	}
	return a, nil
}

// cut is the beginning of a text, of so many bytes.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// Tell gives an agent what became of its questions, as the refusal of a call that
// nobody needs any more: that is the one text that every client passes on.
func Tell(r Reply, told []Told) Reply {
	var b strings.Builder
	var open []string
	for _, t := range told {
		switch {
		case t.Err != nil:
			fmt.Fprintf(&b, "BLOCKED: the question could not be passed on to the operator: %v\n", t.Err)
		case t.Answered && len(told) == 1:
			fmt.Fprintf(&b, "ANSWERED: the operator says: %s\n", t.Answer)
		case t.Answered:
			fmt.Fprintf(&b, "ANSWERED: to %q the operator says: %s\n", cut(t.Text, 200), t.Answer)
		default:
			fmt.Fprintf(&b, "ASKED: your question %s was passed on to the operator; it is not answered yet\n", t.ID)
			open = append(open, t.ID)
		}
	}
	switch {
	case len(told) == 0:
		b.WriteString("BLOCKED: the question could not be passed on to the operator in time\nInstead, you should: run cordon ask \"your question\", " +
			"or end your turn with it\n")
	case len(open) > 0:
		fmt.Fprintf(&b, "Instead, you should: continue with work that does not depend on it, or run cordon ask --again %s to wait for the answer, "+
			"or end your turn: you will be resumed with the answer\n", open[0])
	case failed(told):
		b.WriteString("Instead, you should: go on as you think best and say so, or end your turn with the question\n")
	default:
		b.WriteString("Instead, you should: go on with this answer; do not ask again\n")
	}
	r.Answer = denial(r.Record.Client, b.String())
	return r
}

func failed(told []Told) bool {
	return slices.ContainsFunc(told, func(t Told) bool { return t.Err != nil })
}
