// Package message makes the message of a commit that lands.
//
// An agent describes its work in its report (cordon done) or in its own commits; the
// operator described the task in a prompt. Compose chooses among them and cleans the text:
// a message is read by people, by git, and by forges that act on what they read. What
// could speak for somebody else, act on a terminal or an editor, skip checks or close
// issues is removed or reworded, so that the text stays readable.
//
// The operator's own message (Own) is theirs: cordon adds its trailers and changes
// nothing else.
//
// The package is pure. It refuses to show a command line or its flags, and it judges
// neither whether a message is true nor letters that look alike. What a commit says
// outside its message (author, dates, signatures) is the business of packages session
// and gate.
package message

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Message is the text of a commit without cordon's trailers.
type Message struct {
	Subject string
	Body    string // "" or paragraphs, without an empty line at either end
}

// String is the message without trailers.
func (m Message) String() string {
	if m.Body == "" {
		return m.Subject + "\n"
	}
	return m.Subject + "\n\n" + m.Body + "\n"
}

// Trailer is a line at the end of a message.
type Trailer struct{ Key, Value string }

// With is the message with trailers at its end. They join trailers that the operator
// wrote: git reads only the last paragraph.
func (m Message) With(list []Trailer) string {
	var b strings.Builder
	b.WriteString(m.String())
	if len(list) > 0 && !endsInTrailers(m.Body) {
		b.WriteString("\n")
	}
	for _, t := range list {
		fmt.Fprintf(&b, "%s: %s\n", t.Key, strings.Join(strings.Fields(t.Value), " "))
	}
	return b.String()
}

// endsInTrailers reports whether the last paragraph of a body consists of trailers.
func endsInTrailers(body string) bool {
	last := body[strings.LastIndex(body, "\n\n")+1:]
	for line := range strings.SplitSeq(strings.TrimSpace(last), "\n") {
		key, _, ok := strings.Cut(line, ": ")
		if !ok || key == "" || strings.ContainsFunc(key, func(r rune) bool { return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			return false
		}
	}
	return true
}

// Source is what is known about a result. Every field may be empty, and all of it is
// untrusted.
type Source struct {
	Report  string   // what the agent said when it was done
	Commits []string // messages of its own commits, oldest first
	Prompt  string   // what it was asked to do
	Changes []Change // what lands
	Earlier string   // the message of its attempt before this one
}

// Change is one path that lands.
type Change struct {
	Path           string
	Added, Removed bool
}

// Compose is the message of a result: the agent's words (Said), else the first line of the
// prompt, else the names of the files that change.
func Compose(s Source) Message {
	if m := Said(s); m.says() {
		return m
	}
	first, _, _ := strings.Cut(strings.TrimSpace(s.Prompt), "\n")
	if m := Clean(first); m.says() {
		return m
	}
	return Clean(describe(s.Changes))
}

// Said is how the agent itself described its work: its report, else the message of its
// earlier attempt, else its last commit message with the subjects of all its commits. An
// attempt that mends another one rarely describes the whole, so that its commits are only
// listed below the earlier message. Without a subject it said nothing.
func Said(s Source) Message {
	if m := Clean(s.Report); m.says() {
		return m
	}
	earlier := Clean(s.Earlier)
	if !earlier.says() {
		m := fromCommits(s.Commits)
		if !m.says() {
			return Message{}
		}
		return m
	}
	if _, subjects := readCommits(s.Commits); len(subjects) > 0 {
		return Clean(earlier.String() + "\nLater commits:\n" + strings.Join(subjects, "\n"))
	}
	return earlier
}

// empty are reports that say nothing about the work.
var empty = []string{"done", "finished", "ok", "complete", "completed", "task complete", "all done", "wip", "."}

// says reports whether a message tells something about the work.
func (m Message) says() bool {
	if !strings.ContainsFunc(m.Subject, unicode.IsLetter) {
		return false
	}
	return m.Body != "" || !slices.Contains(empty, strings.ToLower(strings.Trim(m.Subject, ".! ")))
}

// maxListed is how many subjects of commits a body lists.
const maxListed = 20

// fromCommits is the last message, with the subjects of all of them in the body.
func fromCommits(list []string) Message {
	last, subjects := readCommits(list)
	if len(subjects) < 2 {
		return last
	}
	text := last.Subject + "\n\n"
	if last.Body != "" {
		text += last.Body + "\n\n"
	}
	return Clean(text + "Commits:\n" + strings.Join(subjects, "\n"))
}

// readCommits is the last message that tells something, and the subjects of all that do, as a
// list for a body.
func readCommits(list []string) (last Message, subjects []string) {
	for _, text := range list {
		m := Clean(text)
		if !strings.ContainsFunc(m.Subject, unicode.IsLetter) || strings.HasPrefix(m.Subject, "Merge branch ") || strings.HasPrefix(m.Subject, "Merge commit ") {
			continue
		}
		last = m
		subjects = append(subjects, "- "+m.Subject)
	}
	if n := len(subjects) - maxListed; n > 0 {
		subjects = append(subjects[:maxListed], fmt.Sprintf("- and %d more", n))
	}
	return last, subjects
}

// describe is a subject made from the paths that land.
func describe(list []Change) string {
	if len(list) == 0 {
		return "Change nothing"
	}
	verb := "Change"
	switch {
	case !slices.ContainsFunc(list, func(c Change) bool { return !c.Added }):
		verb = "Add"
	case !slices.ContainsFunc(list, func(c Change) bool { return !c.Removed }):
		verb = "Remove"
	}
	more := ""
	switch n := len(list) - 1; {
	case n == 1:
		more = " and 1 more file"
	case n > 1:
		more = fmt.Sprintf(" and %d more files", n)
	}
	name := strings.Join(strings.FieldsFunc(list[0].Path, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	if room := maxSubject - len(verb) - 1 - len(more); utf8.RuneCountInString(name) > room {
		r := []rune(name)
		name = "…" + string(r[len(r)-room+1:])
	}
	return verb + " " + name + more
}

// ErrEmpty is the answer to a message without text.
var ErrEmpty = errors.New("the message is empty")

// Own is a message that the operator wrote. Empty lines at its ends and trailing blanks
// go, as git does it; the rest stays.
func Own(text string) (Message, error) {
	switch {
	case !utf8.ValidString(text) || strings.Contains(text, "\x00"):
		return Message{}, errors.New("the message is not UTF-8 text")
	case len(text) > maxRaw:
		return Message{}, fmt.Errorf("the message is longer than %d KiB", maxRaw>>10)
	}
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		line = strings.TrimRight(line, " \t")
		if line == "" && (len(lines) == 0 || lines[len(lines)-1] == "") {
			continue
		}
		lines = append(lines, line)
	}
	subject, body, _ := strings.Cut(strings.Join(lines, "\n"), "\n")
	if subject == "" {
		return Message{}, ErrEmpty
	}
	return Message{Subject: subject, Body: strings.Trim(body, "\n")}, nil
}

// Template is a message for an editor, with lines that Edited removes.
func (m Message) Template(comment string) string {
	var b strings.Builder
	b.WriteString(m.String() + "\n")
	for line := range strings.SplitSeq(comment, "\n") {
		b.WriteString(strings.TrimRight("# "+line, " ") + "\n")
	}
	return b.String()
}

// Edited is a message that comes back from an editor.
func Edited(text string) (Message, error) {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return Own(strings.Join(lines, "\n"))
}

// Mark is how the keys of cordon's own trailers begin.
const Mark = "Cordon-"

// Hooked is a message that a hook of the operator's left: cleaned as git does it, and with
// cordon's own trailers at its end, whatever the hook did to them.
func Hooked(text string, own []Trailer) (string, error) {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		key, _, trailer := strings.Cut(strings.ToLower(strings.TrimSpace(line)), ":")
		if !trailer || !strings.HasPrefix(key, strings.ToLower(Mark)) || strings.Contains(key, " ") {
			lines = append(lines, line)
		}
	}
	m, err := Own(strings.Join(lines, "\n"))
	if err != nil {
		return "", err
	}
	return m.With(own), nil
}
