package deskweb

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"cordon/internal/legible"
)

// contentPolicy lets the page load its own script and style, ask its own server, and nothing else.
// No text can become code or markup: trusted types are required, and there is no policy to make one.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// headers are those of every answer.
var headers = map[string]string{
	"Content-Security-Policy":      contentPolicy,
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=()",
	"Cache-Control":                "no-store",
}

//go:embed assets/shell.html
var shell []byte

//go:embed assets/desk.js
var script []byte

//go:embed assets/desk.css
var style []byte

//go:embed assets/icon.svg
var icon []byte

// asset is what anybody may load who knows the name of the desk: none of it says anything about a worker.
type asset struct {
	kind string
	text []byte
}

func assetAt(path string) (asset, bool) {
	switch path {
	case "/desk.js":
		return asset{"text/javascript; charset=utf-8", script}, true
	case "/desk.css":
		return asset{"text/css; charset=utf-8", style}, true
	case "/icon.svg":
		return asset{"image/svg+xml", icon}, true
	}
	return asset{}, false
}

// ServeHTTP answers a request. The order of the checks is that of what they need to know.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
	switch {
	case r.Host != s.host || r.URL.Host != "" || !strings.HasPrefix(r.URL.Path, "/"):
		refuse(w, http.StatusMisdirectedRequest)
	case s.reader != nil:
		s.read(w, r)
	case r.Method == http.MethodGet:
		s.get(w, r)
	case r.Method == http.MethodPost:
		s.post(w, r)
	default:
		w.Header().Set("Allow", "GET, POST")
		refuse(w, http.StatusMethodNotAllowed)
	}
}

// refuse says no, and nothing about why that would help to guess.
func refuse(w http.ResponseWriter, code int) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	io.WriteString(w, http.StatusText(code)+"\n")
}

func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" || r.ContentLength > 0 {
		refuse(w, http.StatusBadRequest)
		return
	}
	if path, ok := strings.CutPrefix(r.URL.Path, "/screen/"); ok {
		if s.asksFromPage(w, r) {
			s.screen(w, r, "/"+path)
		}
		return
	}
	if r.URL.Path == "/events" {
		if s.asksFromPage(w, r) {
			s.events(w, r)
		}
		return
	}
	a, ok := assetAt(r.URL.Path)
	switch {
	case ok && !ofOwnPage(r):
		refuse(w, http.StatusForbidden)
	case ok:
		s.send(w, a)
	case !isShell(r.URL.Path):
		refuse(w, http.StatusNotFound)
	case !opensWindow(r):
		refuse(w, http.StatusForbidden)
	default:
		s.send(w, asset{"text/html; charset=utf-8", shell})
	}
}

func (s *Server) send(w http.ResponseWriter, a asset) {
	w.Header().Set("Content-Type", a.kind)
	w.Write(a.text)
}

// isShell reports whether a path is one of the desk's screens. All of them are the same empty page.
func isShell(path string) bool {
	first, rest, deep := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch first {
	case "", "journal", "fleet":
		return !deep
	case "plan":
		return !deep || rest != "" && !strings.Contains(rest, "/")
	case "worker":
		return rest != "" && !strings.Contains(rest, "/")
	}
	return false
}

// opensWindow reports whether a browser shows the answer as a page of its own: nobody frames it.
func opensWindow(r *http.Request) bool {
	to := r.Header.Get("Sec-Fetch-Dest")
	return to == "" || to == "document"
}

// ofOwnPage reports whether a request comes from the desk's own page, or from no page.
func ofOwnPage(r *http.Request) bool {
	from := r.Header.Get("Sec-Fetch-Site")
	return from == "" || from == "same-origin" || from == "none"
}

// asksFromPage refuses a request that has no bearer token, or that another page makes.
func (s *Server) asksFromPage(w http.ResponseWriter, r *http.Request) bool {
	if origin := r.Header.Get("Origin"); !ofOwnPage(r) || origin != "" && origin != "http://"+s.host {
		refuse(w, http.StatusForbidden)
		return false
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if scheme != "Bearer" || !s.keys.knows(token) {
		refuse(w, http.StatusUnauthorized)
		return false
	}
	return true
}

// sentFromPage refuses a POST unless the desk's own page sent it, or no browser did.
func (s *Server) sentFromPage(w http.ResponseWriter, r *http.Request) bool {
	origin, site := r.Header.Values("Origin"), r.Header.Get("Sec-Fetch-Site")
	own := len(origin) == 1 && origin[0] == "http://"+s.host && (site == "" || site == "same-origin")
	if !own && (len(origin) > 0 || site != "") {
		refuse(w, http.StatusForbidden)
		return false
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType)
		return false
	}
	return true
}

// maxBody is how much a request may carry.
const maxBody = 64 << 10

func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if !s.sentFromPage(w, r) {
		return
	}
	if r.URL.Path == "/session" {
		s.session(w, r)
		return
	}
	if !s.asksFromPage(w, r) {
		return
	}
	switch r.URL.Path {
	case "/decide", "/preview":
		s.decide(w, r)
	case "/note":
		s.note(w, r)
	default:
		refuse(w, http.StatusNotFound)
	}
}

// session takes a one-time token and gives the page its bearer token.
func (s *Server) session(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Token string `json:"token"`
	}
	if !readBody(w, r, &asked) {
		return
	}
	bearer, ok := s.keys.admit(asked.Token)
	if !ok {
		refuse(w, http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]string{"bearer": bearer})
}

// screen sends a screen, or what is wrong with it as a page. A half-written one is never sent.
func (s *Server) screen(w http.ResponseWriter, r *http.Request, path string) {
	var text bytes.Buffer
	err := s.source.Screen(r.Context(), &text, path, r.URL.Query())
	switch {
	case errors.Is(err, ErrNoScreen):
		refuse(w, http.StatusNotFound)
	case err != nil:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusInternalServerError)
		io.WriteString(w, legible.Text(err.Error())+"\n")
	default:
		s.send(w, asset{"text/html; charset=utf-8", text.Bytes()})
	}
}
