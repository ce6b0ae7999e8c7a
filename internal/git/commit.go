package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// CommitText is a commit as it is stored. Nothing in it was checked.
type CommitText struct {
	Commit  OID
	Headers []CommitHeader
	Message string
	TooLong bool // it was not read: the other fields say nothing
}

// CommitHeader is one line before the message, or several of which all but the first
// begin with a space.
type CommitHeader struct{ Key, Value string }

// MaxCommit is the longest commit that CommitTexts reads.
const MaxCommit = 1 << 16

// CommitTexts reads commits as they are stored, in the order in which they are named.
func (r Repo) CommitTexts(ctx context.Context, commits []OID) ([]CommitText, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	small, err := r.smaller(ctx, commits, "commit", MaxCommit)
	if err != nil {
		return nil, err
	}
	contents, err := r.contents(ctx, small)
	if err != nil {
		return nil, err
	}
	var list []CommitText
	for _, oid := range commits {
		text, ok := contents[oid]
		c := parseCommit(text)
		c.Commit, c.TooLong = oid, !ok
		list = append(list, c)
	}
	return list, nil
}

func parseCommit(text string) (c CommitText) {
	head, message, _ := strings.Cut(text, "\n\n")
	c.Message = message
	for line := range strings.SplitSeq(head, "\n") {
		if more, ok := strings.CutPrefix(line, " "); ok && len(c.Headers) > 0 {
			c.Headers[len(c.Headers)-1].Value += "\n" + more
			continue
		}
		key, value, _ := strings.Cut(line, " ")
		c.Headers = append(c.Headers, CommitHeader{key, value})
	}
	return c
}

// Signature is who made a commit, and when.
type Signature struct {
	Name, Email string
	Time        time.Time
}

// ParseSignature reads the value of an author or committer header, in exactly the form
// in which git writes it.
func ParseSignature(s string) (Signature, error) {
	wrong := fmt.Errorf("%q is not NAME <EMAIL> SECONDS ZONE", s)
	name, rest, ok := strings.Cut(s, " <")
	email, when, ok2 := strings.Cut(rest, "> ")
	seconds, zone, ok3 := strings.Cut(when, " ")
	if !ok || !ok2 || !ok3 || strings.ContainsAny(name+email, "<>\n\x00") {
		return Signature{}, wrong
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != seconds || !validZone(zone) {
		return Signature{}, wrong
	}
	return Signature{name, email, time.Unix(n, 0)}, nil
}

// validZone reports whether an offset is one that a place on earth has.
func validZone(z string) bool {
	if len(z) != 5 || z[0] != '+' && z[0] != '-' || strings.Trim(z[1:], "0123456789") != "" {
		return false
	}
	hours, minutes := z[1:3], z[3:]
	return minutes < "60" && (z[0] == '+' && hours <= "14" || z[0] == '-' && hours <= "12")
}

// CleanName is a name as git writes it into a commit.
func CleanName(s string) string {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`.,:;<>"\'`, r) })
	return strings.NewReplacer("\n", "", "<", "", ">", "").Replace(s)
}
