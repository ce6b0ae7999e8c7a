package deskweb

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
)

// reader lets a browser without scripts read the desk. Such a browser can show a key only as a password, which it
// keeps for this name and port and adds to every request, whoever made it. So a desk with a reader answers GET only,
// nothing that another page asks for, and has no other key.
type reader struct{ key [sha256.Size]byte }

// OpenReader is Open for browsers that run no scripts. Every screen is a whole page, for the one who
// types the key that it returns as a password. Nothing can be decided there.
func OpenReader(source Source, avoid func(port int) bool) (s *Server, key string, err error) {
	if s, err = Open(source, avoid); err != nil {
		return nil, "", err
	}
	key = secret()
	s.reader = &reader{sha256.Sum256([]byte(key))}
	return s, key, nil
}

// Address is where a reader opens the desk.
func (s *Server) Address() string { return "http://" + s.host + "/" }

// knows reports whether a request shows the key. The user name does not matter.
func (k *reader) knows(r *http.Request) bool {
	_, key, _ := r.BasicAuth()
	sum := sha256.Sum256([]byte(key))
	return subtle.ConstantTimeCompare(k.key[:], sum[:]) == 1
}

// read answers a request to a desk with a reader.
func (s *Server) read(w http.ResponseWriter, r *http.Request) {
	a, isAsset := assetAt(r.URL.Path)
	switch {
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", "GET")
		refuse(w, http.StatusMethodNotAllowed)
	case r.Header.Get("Upgrade") != "" || r.ContentLength != 0:
		refuse(w, http.StatusBadRequest)
	case !ofOwnPage(r):
		refuse(w, http.StatusForbidden)
	case isAsset:
		s.send(w, a)
	case !isShell(r.URL.Path):
		refuse(w, http.StatusNotFound)
	case !opensWindow(r):
		refuse(w, http.StatusForbidden)
	case !s.reader.knows(r):
		w.Header().Set("WWW-Authenticate", `Basic realm="cordon desk"`)
		refuse(w, http.StatusUnauthorized)
	default:
		s.screen(w, r, r.URL.Path)
	}
}
