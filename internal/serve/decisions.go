package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"cordon/internal/decide"
	"cordon/internal/query"
	"cordon/internal/remark"
	"cordon/internal/token"
	"cordon/internal/view"
)

// soonDone is how long a request waits for the end of what it decided.
const soonDone = 20 * time.Second

// mostKeys is how many decisions with a key a server remembers.
const mostKeys = 1000

// keyed are the decisions that came with a key, so that a request that is sent again is not
// taken for another decision. A server that was started again does not know them: then what was
// seen has changed, and the answer is 409 with the name of whoever decided.
type keyed struct {
	mu    sync.Mutex
	known map[string]remembered
	order []string
}

type remembered struct {
	body    []byte
	running *decide.Running
}

// start starts a decision, or finds the one with the same key.
func (k *keyed) start(key, dir string, d decide.Decision) (*decide.Running, error) {
	if key == "" {
		return decide.Start(dir, d)
	}
	body, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	key = d.Face + " " + key
	k.mu.Lock()
	defer k.mu.Unlock()
	if r, ok := k.known[key]; ok {
		if !bytes.Equal(r.body, body) {
			return nil, bad("the key of this request belongs to another decision")
		}
		return r.running, nil
	}
	running, err := decide.Start(dir, d)
	if err != nil {
		return nil, err
	}
	if k.known == nil {
		k.known = map[string]remembered{}
	}
	if k.order = append(k.order, key); len(k.order) > mostKeys {
		delete(k.known, k.order[0])
		k.order = k.order[1:]
	}
	k.known[key] = remembered{body, running}
	return running, nil
}

// decides answers a route that decides.
func (s *Server) decides(choice func(view.DecideRequest) string) answer {
	return func(r *http.Request, who token.Token) (view.Object, error) {
		var body view.DecideRequest
		if err := read(r, &body); err != nil {
			return nil, err
		}
		d := decide.Decision{
			Worker: r.PathValue("id"), Choice: choice(body), Seen: body.Seen, Face: "api:" + who.Name, Text: body.Text, Comments: body.Comments,
			Reason: body.Reason, Roots: texts(body.Roots), Repeated: texts(body.Repeated), Accepts: body.Accepts,
		}
		if _, err := s.Desk.Worker(r.Context(), d.Worker); err != nil {
			return nil, err
		}
		running, err := s.keys.start(r.Header.Get("Idempotency-Key"), s.Orders.Dir, d)
		if err != nil {
			return nil, err
		}
		return s.outcome(r.Context(), d, running)
	}
}

// outcome waits a while for the end of a decision.
func (s *Server) outcome(ctx context.Context, d decide.Decision, running *decide.Running) (view.Object, error) {
	v := &view.Decided{Worker: d.Worker, Choice: d.Choice, Command: decide.Command(d)}
	o, err := running.Taken(ctx)
	if err == nil && !o.Ended {
		soon, cancel := context.WithTimeout(ctx, soonDone)
		defer cancel()
		if o, err = running.Done(soon); err != nil && soon.Err() != nil && ctx.Err() == nil {
			return v, nil // it goes on
		}
	}
	if err != nil {
		return nil, err
	}
	v.Ended, v.Exit = o.Ended, o.Exit
	if o.Worker != nil {
		v.Status = o.Worker.Status
	}
	return v, nil
}

func texts(list []view.Text) (words []string) {
	for _, t := range list {
		words = append(words, string(t))
	}
	return words
}

// merging is which kind of merge a request asks for.
func merging(r view.DecideRequest) string {
	switch {
	case r.Inside:
		return view.ChooseInside
	case r.WhenClean:
		return view.ChooseWait
	}
	return view.ChooseMerge
}

func chosen(name string) func(view.DecideRequest) string {
	return func(view.DecideRequest) string { return name }
}

// comment adds a comment on lines of a result.
func (s *Server) comment(r *http.Request, who token.Token) (view.Object, error) {
	var body view.CommentRequest
	if err := read(r, &body); err != nil {
		return nil, err
	}
	if body.Blob == "" {
		return nil, bad("a comment names the content that was shown: blob")
	}
	site, err := s.Desk.Open(r.Context())
	if err != nil {
		return nil, err
	}
	w, err := query.Find(site, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	on := remark.On{Path: string(body.Path), Side: body.Side, From: body.From, To: body.To, Blob: body.Blob}
	if _, err := remark.Add(r.Context(), site.Site, w, on, body.Text, s.Orders.Who+" via api:"+who.Name); err != nil {
		return nil, err
	}
	return s.Desk.Comments(r.Context(), r.PathValue("id"))
}
