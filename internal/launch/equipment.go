package launch

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"cordon/internal/briefing"
	"cordon/internal/cell"
	"cordon/internal/enclosure"
	"cordon/internal/ledger"
	"cordon/internal/mailbox"
	"cordon/internal/post"
	"cordon/internal/worksite"
)

// equipment is what one launch has beside its cell: a directory that the worker sees and
// cannot write, with the socket of the post, cordon itself, the warrant of the guard
// and the briefing; and, for an agent client, what it is started with.
type equipment struct {
	dir   string
	self  string // cordon itself, where it is not in dir but shown there
	box   *mailbox.Mailbox
	agent *clientSetup // nil: a command
	// feedback is the file about the attempt before; "": it is the first.
	feedback string
	end      func()

	transcript io.Writer         // keeps what it prints
	drawing    *worksite.Drawing // is told of the size of its terminal
	dialogs    *dialogs          // of the client; nil: there are none
	budget     Budget            // of the client
	limits     *limitWatch       // nil: it has no stream
	seat       *seat             // nil: the cell starts its own process
}

// Files in the directory.
const (
	binaryFile  = "bin/cordon"
	warrantFile = "warrant.json"
	// feedbackFile tells a command why its earlier attempt did not land, and what the operator says
	// about it. FeedbackVariable names it.
	feedbackFile = "feedback.txt"
)

// Briefing is what a worker is told: the rules of its lease, and its place in a plan.
func Briefing(w *ledger.Worker, hooked bool) string {
	text := briefing.Text(w.Lease, hooked)
	if w.Signal != "" {
		text += "\n## Your stage\n\n" + w.Signal
	}
	return text
}

// prepareEquipment makes the equipment of a launch and opens its post. What an earlier launch had is
// replaced only when the client of this one can be started.
func prepareEquipment(ctx context.Context, s *worksite.Site, w *ledger.Worker, how Request) (*equipment, error) {
	r := &equipment{dir: s.State.Post(string(w.ID))}
	asked := w.Agent != nil && len(how.Command) == 0
	text := Briefing(w, asked)
	if asked {
		var err error
		if r.agent, err = planClient(ctx, s, w, how, r.dir, text); err != nil {
			return nil, err
		}
	}
	if err := s.State.Erase(r.dir); err != nil {
		return r, err
	}
	if err := os.MkdirAll(filepath.Join(r.dir, filepath.Dir(binaryFile)), 0o700); err != nil {
		return r, err
	}
	if err := placeBinary(s, w, r); err != nil {
		return r, fmt.Errorf("put cordon where the worker can call it: %w", err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, briefing.File), []byte(text), 0o600); err != nil {
		return r, err
	}
	if said := w.Feedback + operatorsWords(w, how); said != "" {
		if err := os.WriteFile(filepath.Join(r.dir, feedbackFile), []byte(said), 0o600); err != nil {
			return r, err
		}
		r.feedback = filepath.Join(r.dir, feedbackFile)
	}
	if asked {
		if err := writeClientFiles(s, w, r.agent, r.dir); err != nil {
			return r, err
		}
	}
	return r, openPost(s, w, r)
}

// answersGiven are the questions whose answers the worker gets with its start.
func (r *equipment) answersGiven(w *ledger.Worker) []int {
	if r.agent == nil {
		return nil
	}
	return w.Unheard()
}

// openPost listens to what the worker asks for.
func openPost(s *worksite.Site, w *ledger.Worker, r *equipment) error {
	r.box = mailbox.New(s, w, s.Now().Add(time.Duration(w.Lease.Lease().Policy.Limits.Time)), nil)
	if r.agent != nil {
		r.box.Observed, r.box.Label, r.box.Guarded = r.agent.life.observe, r.agent.life.label, true
	}
	l, err := post.Listen(r.dir)
	if err != nil {
		return fmt.Errorf("the socket of the post: %w", err)
	}
	served := make(chan struct{})
	go func() { defer close(served); post.Serve(l, r.box.Handle) }()
	r.end = sync.OnceFunc(func() {
		l.Close()
		<-served
		r.box.Close()
	})
	return nil
}

func (r *equipment) close() {
	if r == nil {
		return
	}
	if r.end != nil {
		r.end()
	}
	r.agent.close()
}

// FeedbackVariable names the file with the feedback about the attempt before.
const FeedbackVariable = "CORDON_FEEDBACK"

// commonBin is on the PATH of every login shell, which some clients start for each
// command.
const commonBin = "/usr/local/bin"

// addTo shows the equipment in the cell of a command.
func (r *equipment) addTo(c *cell.Command) {
	search := strings.Trim(enclosure.Variable(c.Env, "PATH")+":"+filepath.Dir(filepath.Join(r.dir, binaryFile)), ":")
	c.Env = enclosure.WithEnv(c.Env, post.Variable+"="+r.dir, "PATH="+search, enclosure.PathVariable+"="+search)
	if r.feedback != "" {
		c.Env = enclosure.WithEnv(c.Env, FeedbackVariable+"="+r.feedback)
	}
	if c.Cell != nil {
		c.Cell.Bind = append(c.Cell.Bind, cell.Bind{From: r.dir, At: r.dir})
		binary := filepath.Join(r.dir, binaryFile)
		if r.self != "" {
			c.Cell.Bind = append(c.Cell.Bind, cell.Bind{From: r.self, At: binary})
			binary = r.self
		}
		c.Cell.Talk = append(c.Cell.Talk, filepath.Join(r.dir, post.Socket))
		if fi, err := os.Lstat(commonBin); err == nil && fi.IsDir() {
			c.Cell.Bind = append(c.Cell.Bind, cell.Bind{From: binary, At: filepath.Join(commonBin, "cordon")})
		}
	}
}

// shownCommand is the command as a person knows it: a client as the operator called it.
func (r *equipment) shownCommand(w *ledger.Worker, c cell.Command) []string {
	if w.Options.On != "" {
		return []string{"git, which unpacks the result"}
	}
	if r.agent != nil {
		return w.Agent.Words()
	}
	return c.Argv
}
