package fitness

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cordon/internal/git"
	"cordon/internal/policy"
)

// A commit is kept only if it says nothing that cordon does not know.
func TestDoubt(t *testing.T) {
	began := time.Unix(1_800_000_000, 0)
	v := authorship{
		author: policy.Identity{Name: "Bot Inc.", Email: "bot@example.com"}, committer: policy.Identity{Name: "cordon worker w", Email: "w@cordon.invalid"},
		from: began, to: began.Add(time.Hour),
	}
	person := func(key, who, when string) git.CommitHeader {
		return git.CommitHeader{Key: key, Value: who + " " + when}
	}
	in := fmt.Sprint(began.Unix()+60) + " +0530"
	plain := func() git.CommitText {
		return git.CommitText{Message: "One\n\nCo-Authored-By: Claude <noreply@anthropic.com>\nSigned-off-by: cordon worker w <w@cordon.invalid>\n",
			Headers: []git.CommitHeader{
				{Key: "tree", Value: "t"}, {Key: "parent", Value: "p"}, {Key: "parent", Value: "q"},
				person("author", "Bot Inc <bot@example.com>", in), person("committer", "cordon worker w <w@cordon.invalid>", in),
			}}
	}
	if why := v.unprovenClaim(plain()); why != "" {
		t.Fatalf("a plain commit: %s", why)
	}
	at := func(seconds int64) string { return fmt.Sprintf("%d +0000", seconds) }
	author := func(who, when string) func(*git.CommitText) {
		return func(c *git.CommitText) { c.Headers[3] = person("author", who, when) }
	}
	say := func(text string) func(*git.CommitText) { return func(c *git.CommitText) { c.Message = text } }
	add := func(key, value string) func(*git.CommitText) {
		return func(c *git.CommitText) { c.Headers = append(c.Headers, git.CommitHeader{Key: key, Value: value}) }
	}
	for name, forge := range map[string]func(*git.CommitText){
		`somebody else as its author`: author("Operator <op@example.com>", in),
		`else as its author`:          author("Bot Inc <op@example.com>", in),
		`malformed author`:            author("Bot Inc <bot@example.com>", "1 +9900"),
		`has a malformed author`:      author("Bot Inc <bot@example.com>", in[:10]+" +05300"),
		`commit has a malformed`:      author("Bot Inc <bot@example.com> <x>", in),
		`did not run`:                 author("Bot Inc <bot@example.com>", at(began.Unix()-1)),
		`worker did not run`:          author("Bot Inc <bot@example.com>", at(began.Unix()+3601)),
		`at which the worker did not`: author("Bot Inc <bot@example.com>", at(9_000_000_000)),
		`as its committer`:            func(c *git.CommitText) { c.Headers[4] = person("committer", "Bot Inc <bot@example.com>", in) },
		`header "gpgsig"`:             add("gpgsig", "x"),
		`"gpgsig" of several lines`:   add("gpgsig", "x\ny"),
		`header "encoding"`:           add("encoding", "latin1"),
		`header "mergetag"`:           add("mergetag", "x"),
		`header "x-unknown"`:          add("x-unknown", "x"),
		`other headers than`:          add("author", "Bot Inc <bot@example.com> "+in),
		`has other headers`:           func(c *git.CommitText) { c.Headers = c.Headers[3:] },
		`control characters`:          say("one\x1b[8m"),
		`control characters in its`:   say("one\u202e"),
		`has control characters`:      say("one\xff\x00"),
		`has no message`:              say(" \n"),
		`with cordon's own trailers`:  say("One\n\nCORDON-Worker: x\n"),
		`Signed-off-by of somebody`:   say("One\n\nSigned-off-by: Operator <op@example.com>\n"),
		` reviewed-by of somebody`:    say("One\n\n reviewed-by : Operator\n"),
		`is longer than`:              func(c *git.CommitText) { c.TooLong = true },
	} {
		c := plain()
		forge(&c)
		if why := "commit " + v.unprovenClaim(c); !strings.Contains(why, name) {
			t.Errorf("%q, want one with %q", why, name)
		}
	}
}
