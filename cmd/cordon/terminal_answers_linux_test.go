package main

import (
	"strings"
	"testing"
)

// enquiries are the questions that clients ask a terminal, and its answers.
var enquiries = []struct{ ask, answer string }{
	{"\x1b[6n", "\x1b[1;1R"}, {"\x1b[c", "\x1b[?62;22c"}, {"\x1b[0c", "\x1b[?62;22c"}, {"\x1b[?u", "\x1b[?0u"},
}

// answerer answers enquiries at once and in their order, as a terminal does: Gemini stops listening after the answer
// to its last question, and takes any answer that follows for typed text.
type answerer struct {
	rest string // the beginning of what may become an enquiry
}

// to returns the answers to the enquiries in the text that a program wrote next.
func (a *answerer) to(text []byte) []byte {
	var answers []byte
	rest := a.rest + string(text)
	for a.rest = ""; rest != ""; {
		ask, answer, unfinished := enquiryIn(rest)
		if unfinished {
			a.rest = rest
			break
		}
		answers = append(answers, answer...)
		rest = rest[max(len(ask), 1):]
	}
	return answers
}

// enquiryIn returns the enquiry that a text begins with, if any, and reports whether the text is only the beginning of one.
func enquiryIn(text string) (ask, answer string, unfinished bool) {
	for _, e := range enquiries {
		if strings.HasPrefix(text, e.ask) {
			return e.ask, e.answer, false
		}
		unfinished = unfinished || strings.HasPrefix(e.ask, text)
	}
	return "", "", unfinished
}

func TestAnswersFollowTheQuestions(t *testing.T) {
	a := &answerer{}
	var got []byte
	for _, text := range []string{"x\x1b[?u\x1b]11;?\x1b\\\x1b[", "c\x1b[2J", "\x1b[0c\x1b[6", "n"} {
		got = append(got, a.to([]byte(text))...)
	}
	if want := "\x1b[?0u\x1b[?62;22c\x1b[?62;22c\x1b[1;1R"; string(got) != want {
		t.Errorf("answered %q, want %q", got, want)
	}
}
