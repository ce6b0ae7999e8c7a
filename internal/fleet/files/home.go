// Package files keeps what a home and a node need beside the journal: tickets that nobody has
// used yet, where nodes reach the home, when it heard them last, and at a node the home that it
// has joined. Every file is for its user alone.
//
// It refuses to hold what the journal says: which nodes there are, how they stand and which
// tickets were used. Whoever loses these files makes new tickets.
package files

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cordon/internal/fleet/engine"
	"cordon/internal/fleet/identity"
	"cordon/internal/fleet/protocol"
)

// Home is the directory of a home.
type Home struct{ Dir string }

// Reach is how nodes reach a home.
type Reach struct {
	URL  string `json:"url"`
	Cert string `json:"cert,omitempty"` // sum of the certificate that nodes pin; "": as the URL says
}

type ticket struct {
	Secret  []byte    `json:"secret"`
	Expires time.Time `json:"expires"`
}

const (
	secretBytes = 32
	suffix      = ".json"
)

func (h Home) tickets() string { return filepath.Join(h.Dir, "tickets") }

// NewTicket makes a ticket for one node. Those that have run out are removed.
func (h Home) NewTicket(expires time.Time) (id string, secret []byte, err error) {
	for _, old := range h.list() {
		if t, ok := h.Ticket(old); ok && !time.Now().Before(t.Expires) {
			_ = os.Remove(h.ticketFile(old)) // it is worth nothing
		}
	}
	secret = make([]byte, secretBytes)
	if _, err := rand.Read(secret); err != nil {
		return "", nil, err
	}
	id = rand.Text()
	return id, secret, write(h.ticketFile(id), ticket{secret, expires.UTC()})
}

func (h Home) ticketFile(id string) string { return filepath.Join(h.tickets(), id+suffix) }

func (h Home) list() (ids []string) {
	entries, err := os.ReadDir(h.tickets())
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), suffix); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// Ticket is the ticket with a name that a stranger may have chosen.
func (h Home) Ticket(id string) (protocol.Ticket, bool) {
	var t ticket
	if engine.CheckWord(id) != nil || read(h.ticketFile(id), &t) != nil {
		return protocol.Ticket{}, false
	}
	return protocol.Ticket{Secret: t.Secret, Expires: t.Expires}, true
}

// Awaits reports whether somebody may still join.
func (h Home) Awaits(used func(ticket string) bool, now time.Time) bool {
	for _, id := range h.list() {
		if t, ok := h.Ticket(id); ok && now.Before(t.Expires) && !used(id) {
			return true
		}
	}
	return false
}

func (h Home) reachFile() string { return filepath.Join(h.Dir, "reach"+suffix) }

// SetReach notes how nodes reach the home that runs.
func (h Home) SetReach(r Reach) error { return write(h.reachFile(), r) }

// Reach is how nodes reach the home that ran last.
func (h Home) Reach() (r Reach, err error) { return r, read(h.reachFile(), &r) }

func (h Home) heardFile() string { return filepath.Join(h.Dir, "heard"+suffix) }

// SetHeard notes when nodes were heard last, for people.
func (h Home) SetHeard(heard any) error { return write(h.heardFile(), heard) }

// Heard reads what SetHeard wrote.
func (h Home) Heard(to any) error { return read(h.heardFile(), to) }

// SetWaiting notes why stages wait that no node has, by worker. Sessions read it, for people (worksite.WhyAway).
func (h Home) SetWaiting(why map[string]string) error {
	return write(filepath.Join(h.Dir, "waiting"+suffix), why)
}

// Waiting reads what SetWaiting wrote.
func (h Home) Waiting() (why map[string]string, err error) {
	return why, read(filepath.Join(h.Dir, "waiting"+suffix), &why)
}

func write(path string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return identity.Write(path, text)
}

func read(path string, to any) error {
	text, err := identity.Read(path)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return errors.Join(errors.New(path+" cannot be read"), err)
	}
	return err
}
