package publish

import (
	"crypto/rand"
	"crypto/subtle"
	"slices"
	"strings"
	"sync"
)

// enterPath begins the addresses that set the cookie.
const enterPath = "/.cordon/enter/"

// cookieName is the cookie that a browser shows with each request.
const cookieName = "cordon-entry"

// entries knows who may enter: whoever has an address that was not used yet, and from then
// on the cookie.
type entries struct {
	secret string
	*issued
}

type issued struct {
	sync.Mutex
	tokens []string
}

// maxIssued is how many addresses wait for their use; the oldest is forgotten.
const maxIssued = 64

func newEntries() entries { return entries{secret: rand.Text(), issued: &issued{}} }

// issue makes a token.
func (e entries) issue() string {
	e.Lock()
	defer e.Unlock()
	token := rand.Text()
	e.tokens = append(e.tokens, token)
	if len(e.tokens) > maxIssued {
		e.tokens = e.tokens[1:]
	}
	return token
}

// use takes a token, which is good once.
func (e entries) use(token string) bool {
	e.Lock()
	defer e.Unlock()
	for i, t := range e.tokens {
		if equal(t, token) {
			e.tokens = slices.Delete(e.tokens, i, i+1)
			return true
		}
	}
	return false
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// setCookie is the field that lets a browser in. It goes to no script, to no other name, and
// with no request that another site causes.
func (e entries) setCookie() string {
	return cookieName + "=" + e.secret + "; Path=/; HttpOnly; SameSite=Strict"
}

// splitCookies takes our cookie out of the values of Cookie, and says whether it is right.
// A page can set another one of that name for a part of its paths: one has to be right.
func (e entries) splitCookies(values []string) (others []string, right bool) {
	for _, value := range values {
		var rest []string
		for _, pair := range strings.Split(value, ";") {
			pair = strings.Trim(pair, " \t")
			name, v, _ := strings.Cut(pair, "=")
			switch {
			case strings.Trim(name, " \t") == cookieName:
				right = equal(strings.Trim(v, " \t"), e.secret) || right
			case pair != "":
				rest = append(rest, pair)
			}
		}
		if len(rest) > 0 {
			others = append(others, strings.Join(rest, "; "))
		}
	}
	return others, right
}
