package hookrun

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"cordon/internal/hook"
	"cordon/internal/post"
)

// deliver takes a decision to where the warrant says: to the supervisor, or to a
// file.
func deliver(r hook.Reply) error {
	switch {
	case r.Post != "":
		return sendRecord(r)
	case r.Journal != "":
		return r.Record.Append(r.Journal)
	}
	return nil
}

func sendRecord(r hook.Reply) error {
	b, err := json.Marshal(r.Record.Short())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), hookDeadline)
	defer cancel()
	_, err = TellPost(ctx, r.Post, post.Request{Verb: post.Decided, Record: b, Said: r.Said})
	return err
}

// tellPost is a call whose refusal is an error.
func TellPost(ctx context.Context, dir string, r post.Request) (post.Reply, error) {
	reply, err := post.Call(ctx, dir, r)
	if err == nil && reply.Error != "" {
		err = errors.New(reply.Error)
	}
	return reply, err
}

// passOn asks the operator what an agent wants to know, waits for the answers until
// end, and tells what came of it.
func passOn(r hook.Reply, end time.Time) hook.Reply {
	ctx, cancel := context.WithDeadline(context.Background(), end)
	defer cancel()
	var told []hook.Told
	for _, q := range r.Asked {
		t := hook.Told{Asked: q}
		var reply post.Reply
		reply, t.Err = TellPost(ctx, r.Post, post.Request{Verb: post.Ask, Text: q.Text, Options: q.Options, By: r.Record.Tool})
		t.ID = reply.Question
		told = append(told, t)
	}
	for i := range told {
		awaitAnswer(ctx, r.Post, &told[i])
	}
	return hook.Tell(r, told)
}

// awaitAnswer waits for an answer. An answer that does not come in time is none.
func awaitAnswer(ctx context.Context, dir string, t *hook.Told) {
	end, _ := ctx.Deadline()
	left := time.Until(end) - time.Second/2
	if t.Err != nil || left < 0 {
		return
	}
	seconds := int(left / time.Second)
	if reply, err := TellPost(ctx, dir, post.Request{Verb: post.Await, Question: t.ID, Wait: seconds}); err == nil {
		t.Answered, t.Answer = reply.Answered, reply.Answer
	}
}
