package hook

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"cordon/internal/guard"
)

// Questions are found in the words of every client.
func TestQuestionsOf(t *testing.T) {
	for input, want := range map[string]string{
		`{"questions":[{"question":"a?","header":"h","options":[{"label":"x","description":"d"},{"label":"y"}]},{"question":"b?"}]}`: "[{a? [x (d) y]} {b? []}]",
		`{"question":"a?","choices":["x","y"]}`:                                 "[{a? [x y]}]",
		`"{\"question\":\"a?\",\"choices\":[\"x\"]}"`:                           "[{a? [x]}]",
		`{"message":"a?","requestedSchema":{"properties":{}}}`:                  "[{a? []}]",
		`{"questions":[{"header":"only this?","options":[{"value":"x"}, ""]}]}`: "[{only this? [x]}]",
		`{"questions":[{"question":" "}]}`:                                      "",
		`{"questions":[]}`:                                                      "",
		`{}`:                                                                    "",
		`[]`:                                                                    "",
		`"x"`:                                                                   "",
		`{"questions":[{"question":1}]}`:                                        "",
		`{"questions":"a?"}`:                                                    "",
		`{"questions":[{"question":"a?","options":[1]}]}`:                       "",
		`{"questions":[` + strings.Repeat(`{"question":"a?"},`, 8) + `{"question":"a?"}]}`: "",
	} {
		list, err := questionsOf([]byte(input))
		if (err == nil) != (want != "") || err == nil && fmt.Sprint(list) != want {
			t.Errorf("%s: %v, %v", input, list, err)
		}
	}
}

// What is passed on is bounded, whatever it is made of.
func FuzzQuestionsOf(f *testing.F) {
	f.Add([]byte(`{"questions":[{"question":"a?","options":[{"label":"x","description":"d"}]}]}`))
	f.Add([]byte(`{"question":"` + strings.Repeat("é", 9000) + `","choices":["` + strings.Repeat("é", 900) + `"]}`))
	f.Add([]byte(`"{}"`))
	f.Fuzz(func(t *testing.T, input []byte) {
		list, err := questionsOf(input)
		if err != nil {
			if list != nil {
				t.Fatalf("%q: %v and %v", input, list, err)
			}
			return
		}
		if len(list) == 0 || len(list) > maxAsked {
			t.Fatalf("%q: %d questions", input, len(list))
		}
		for _, q := range list {
			if strings.TrimSpace(q.Text) == "" || len(q.Text) > 8<<10 || len(q.Options) > maxOptions || !utf8.ValidString(q.Text) {
				t.Fatalf("%q: %+v", input, q)
			}
			for _, o := range q.Options {
				if o == "" || len(o) > 512 {
					t.Fatalf("%q: the option %q", input, o)
				}
			}
		}
	})
}

// What became of questions is told as a refusal, which says what to do.
func TestTell(t *testing.T) {
	q := Asked{Text: "a?"}
	for what, row := range map[string]struct {
		told []Told
		says []string
		not  string
	}{
		"nothing":  {nil, []string{"BLOCKED: the question could not be passed on", "cordon ask"}, "ANSWERED"},
		"answered": {[]Told{{Asked: q, ID: "q1", Answered: true, Answer: "yes"}}, []string{"ANSWERED: the operator says: yes\n", "go on with this answer"}, "--again"},
		"open":     {[]Told{{Asked: q, ID: "q3"}}, []string{"ASKED: your question q3 ", "cordon ask --again q3", "resumed"}, "ANSWERED"},
		"failed":   {[]Told{{Asked: q, Err: errors.New("oh")}}, []string{"could not be passed on to the operator: oh", "end your turn"}, "--again"},
		"mixed":    {[]Told{{Asked: q, ID: "q1", Answered: true, Answer: "yes"}, {Asked: q, ID: "q2"}}, []string{`to "a?" the operator says: yes`, "question q2 "}, "BLOCKED"},
	} {
		r := Tell(Reply{Record: guard.Record{Client: "claude"}}, row.told)
		said := string(r.Answer.Stderr)
		if r.Answer.Exit != 2 || !refuses("claude", r.Answer) || strings.Contains(said, row.not) {
			t.Errorf("%s: %d %s", what, r.Answer.Exit, said)
		}
		for _, want := range row.says {
			if !strings.Contains(said, want) {
				t.Errorf("%s: %q is not in %s", what, want, said)
			}
		}
	}
}
