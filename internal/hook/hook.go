// Package hook answers one question of an agent client: may this tool call run?
// It puts the client's dialect (package client) and the guard together.
//
// Falling off the end is a denial: every failure, a panic and a lease that cannot
// be read included, becomes an answer that the client obeys as one. The package
// refuses to read a file, to look at a clock or to exit: its caller does, so that
// the order of what can go wrong is in one place.
package hook

import (
	"errors"
	"fmt"
	"time"

	"cordon/internal/agent/clients"
	"cordon/internal/client"
	"cordon/internal/guard"
)

// Question is everything that an answer depends on.
type Question struct {
	Client      string
	Warrant     []byte
	Input       []byte // the client's hook input
	Now         time.Time
	Interactive bool // a person is there to be asked
}

// Reply is the answer and what is journalled of it.
type Reply struct {
	Answer  client.Answer
	Record  guard.Record
	Journal string   // where to; "" is nowhere
	Post    string   // or the directory of the socket that it is sent to instead
	Asked   []Asked  // what is to be passed on to the operator: see Tell
	Said    []string // the words behind cordon, if the call is one command of cordon's and nothing else
}

// Decide answers. It never fails.
func Decide(q Question) (r Reply) {
	defer func() {
		if p := recover(); p != nil {
			r = Refuse(q, fmt.Errorf("the guard failed: %v", p))
		}
	}()
	r = q.reply()
	w, err := guard.ReadWarrant(q.Warrant)
	if err != nil {
		return r.fail(q, err)
	}
	r.Journal, r.Post = w.Journal, w.Post
	known, err := clients.Of(client.Name(q.Client))
	if err != nil {
		return r.fail(q, err)
	}
	scope, err := w.Scope(q.Now)
	if err != nil {
		return r.fail(q, err)
	}
	req, err := known.Dialect.Decode(q.Input)
	if err != nil {
		return r.fail(q, err)
	}
	return r.judge(q, scope, known.Dialect, req)
}

// Refuse is the answer where something went wrong before the call could be judged.
// It is journalled as far as there is a warrant that says where.
func Refuse(q Question, err error) Reply {
	r := q.reply()
	if w, err := guard.ReadWarrant(q.Warrant); err == nil {
		r.Journal, r.Post = w.Journal, w.Post
	}
	return r.fail(q, err)
}

// reply is what is known before anything was looked at.
func (q Question) reply() Reply {
	return Reply{Record: guard.Record{Time: q.Now.UTC(), Client: q.Client, Verdict: guard.Deny}}
}

// judge asks the guard.
func (r *Reply) judge(q Question, s *guard.Scope, dialect *client.Dialect, req client.Request) Reply {
	r.Record.Session, r.Record.Call, r.Record.Tool = req.Session, req.Call, req.Tool
	if req.Event != client.PreTool {
		r.Record.Verdict, r.Record.Event = guard.Allow, string(req.Event)
		r.Answer = dialect.Encode(client.Verdict{Decision: client.Allow}, req.Event)
		return *r
	}
	c := callOf(req)
	d := guard.Decide(s, c)
	if req.Kind == client.Question && r.Post != "" && !q.Interactive && d.Verdict == guard.Allow {
		return r.passOn(req)
	}
	r.Record.Input, r.Record.Verdict, r.Record.Reason, r.Record.Warned = summary(c), d.Verdict, d.Reason, d.Warned
	r.Record.Lift = d.Lift
	if d.Verdict == guard.Allow {
		r.Said = said(c)
	}
	r.Answer = dialect.Encode(verdictOf(d, q.Interactive), req.Event)
	return *r
}

func verdictOf(d guard.Decision, interactive bool) client.Verdict {
	v := client.Verdict{Decision: client.Deny, Message: d.Message(), Interactive: interactive}
	switch {
	case d.Warned:
		v.Decision = client.Warn
	case d.Verdict == guard.Allow:
		v.Decision = client.Allow
	case d.Verdict == guard.Ask:
		v.Decision = client.Ask
	}
	return v
}

// fail is the denial of a call that could not be judged. What an agent has got
// wrong it can put right; everything else is the operator's.
func (r *Reply) fail(q Question, err error) Reply {
	r.Record.Verdict, r.Record.Reason = guard.Deny, err.Error()
	text := "BLOCKED: the call could not be judged: " + err.Error() + "\nInstead, you should: stop and tell the operator; nothing runs until the guard works\n"
	if slip := (*client.SlipError)(nil); errors.As(err, &slip) {
		r.Record.Tool = slip.Tool
		text = "BLOCKED: " + err.Error() + "\nInstead, you should: " + again + "\n"
	}
	r.Answer = denial(q.Client, text)
	return *r
}

// denial is a refusal in the dialect of a client, or the one that most obey if the
// client is not known.
func denial(name, text string) client.Answer {
	known, err := clients.Of(client.Name(name))
	if err != nil {
		return client.Denial(name, text)
	}
	return known.Dialect.Denial(text)
}

// again is what to do about a call that is wrong in itself.
const again = "repeat the call with every argument that the tool needs; give commands and paths as plain text, and split a long call"
