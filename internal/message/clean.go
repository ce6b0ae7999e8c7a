package message

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"cordon/internal/legible"
)

// The sizes of a message. Git's own tools and forges cut a subject at about 72.
const (
	maxSubject = 72
	maxLine    = 72   // where a long line is wrapped
	longLine   = 80   // what counts as one
	maxWord    = 400  // a URL can be long
	maxLines   = 80   // of a body
	maxText    = 8000 // bytes of a body
	maxRaw     = 1 << 16
)

// Clean makes a message of text that a worker wrote. Cleaning a clean message changes
// nothing.
func Clean(raw string) Message {
	if len(raw) > maxRaw {
		raw = raw[:maxRaw]
	}
	var m Message
	// Each step can make something for an earlier one: a line that was wrapped may begin
	// like a trailer. The number of rounds is bounded, and what is still unclean has
	// nothing left to say.
	for range 12 {
		next := clean(raw)
		if next.String() == raw {
			return next
		}
		m, raw = next, next.String()
	}
	if subject := clean(m.Subject); subject.Body == "" && clean(subject.String()) == subject {
		return subject
	}
	return Message{}
}

func clean(raw string) Message {
	lines := strings.Split(defuse(strings.Join(harmless(strings.Split(visible(raw), "\n")), "\n")), "\n")
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	if len(lines) == 0 {
		return Message{}
	}
	subject, rest := headline(lines[0])
	body := strings.Join(lines[1:], "\n")
	if rest != "" {
		body = rest + "\n" + body
	}
	return Message{Subject: subject, Body: paragraphs(body)}
}

// sequence is a control sequence of a terminal: of the kinds CSI, OSC and the like, and
// two bytes.
var sequence = lazy(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(\x07|\x1b\\|$)|\x1b[ -/]*[0-~]|\x{9b}[0-?]*[ -/]*[@-~]`)

// visible removes everything that cannot be seen. Blanks of every kind become spaces.
func visible(s string) string {
	s = sequence().ReplaceAllString(strings.ToValidUTF8(s, ""), "")
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n", "\v", "\n", "\f", "\n").Replace(s)
	var b strings.Builder
	var eye legible.Eye
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		char := s[:size]
		s = s[size:]
		if unicode.In(r, unicode.Zs) {
			char = " "
		}
		if r != '\ufffd' && eye.See(char) == char {
			b.WriteString(char)
		}
	}
	return b.String()
}

// marks are the signs of Markdown before a headline.
var marks = lazy(`^(#{1,6} +|[-*>] +|\*\*|__)+`)

// sentence ends within a line.
var sentence = lazy(`[.!?] +`)

// headline makes a subject of a line, and returns the text that does not fit.
func headline(line string) (subject, rest string) {
	line = strings.Join(strings.Fields(line), " ")
	bare := marks().ReplaceAllString(line, "")
	if bare != line {
		bare = strings.NewReplacer("**", "", "__", "").Replace(bare)
	}
	bare = rebase().ReplaceAllString(bare, "")
	if utf8.RuneCountInString(bare) <= maxSubject {
		return unstopped(bare), ""
	}
	if at := sentence().FindStringIndex(bare); at != nil && utf8.RuneCountInString(bare[:at[0]]) <= maxSubject && at[0] > 8 {
		return unstopped(bare[:at[0]+1]), bare[at[1]:]
	}
	return cut(bare, maxSubject), bare
}

// unstopped is a subject without a full stop at its end.
func unstopped(s string) string {
	if strings.HasSuffix(s, "..") {
		return s
	}
	return strings.TrimSuffix(s, ".")
}

// cut shortens a text to a number of characters, at a space where one is near.
func cut(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	short := string(r[:most-1])
	if at := strings.LastIndexByte(short, ' '); at > len(short)/2 {
		short = short[:at]
	}
	return strings.TrimRight(short, " ,;:…") + "…"
}

// paragraphs wraps the long lines of a body and bounds it.
func paragraphs(body string) string {
	var out []string
	size := 0
	for line := range strings.SplitSeq(body, "\n") {
		for _, l := range wrap(strings.TrimRight(line, " \t")) {
			if l == "" && (len(out) == 0 || out[len(out)-1] == "") {
				continue
			}
			if size += len(l) + 1; len(out) >= maxLines || size > maxText {
				return strings.TrimRight(strings.Join(out, "\n"), "\n…") + "\n…"
			}
			out = append(out, l)
		}
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n")
}

// wrap breaks a long line at its spaces. The lines that follow are indented like the text
// of the first.
func wrap(line string) []string {
	if utf8.RuneCountInString(line) <= longLine {
		return []string{line}
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	if len(indent) > 16 {
		indent = ""
	}
	words := strings.Fields(line)
	now := indent
	if strings.HasPrefix(words[0], "-") || strings.HasPrefix(words[0], "*") {
		indent += "  "
	}
	var out []string
	filled := false
	for _, w := range words {
		w = cut(w, maxWord)
		if filled && utf8.RuneCountInString(now)+1+utf8.RuneCountInString(w) > maxLine {
			out, now, filled = append(out, now), indent, false
		}
		if filled {
			now += " "
		}
		now, filled = now+w, true
	}
	return append(out, now)
}
