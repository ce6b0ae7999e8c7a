package notify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"cordon/internal/config"
	"cordon/internal/errand"
	"cordon/internal/git"
)

// patience is how long one way of notifying may take.
const patience = 20 * time.Second

// Sender knows the ways to the operator.
type Sender struct {
	Own     config.Loaded
	Screen  io.Writer // the operator's terminal; nil: there is none
	Dir     string    // where their command runs
	Written []string  // directories in which workers write
	Now     func() time.Time
}

// Send tells the operator on all the ways that they chose, and returns what did not get
// through.
func (s Sender) Send(ctx context.Context, m Message) error {
	if s.Screen != nil && s.Own.Notify.Terminal {
		_, _ = io.WriteString(s.Screen, sequence(m.Text(), os.Getenv)) // nobody looks at a terminal that is gone
	}
	var ways []func() error
	if s.Own.Notify.Desktop {
		ways = append(ways, func() error { return s.desktop(ctx, m) })
	}
	if len(s.Own.Notify.Command) > 0 {
		ways = append(ways, func() error { return s.command(ctx, s.Own.Notify.Command, m, m.Text()) })
	}
	if s.Own.Notify.Webhook.URL != "" {
		ways = append(ways, func() error { return s.webhook(ctx, m) })
	}
	failed := make([]error, len(ways))
	var wait sync.WaitGroup
	for i, way := range ways {
		wait.Go(func() { failed[i] = way() })
	}
	wait.Wait()
	return errors.Join(failed...)
}

// desktop shows a notification where there is a program for that.
func (s Sender) desktop(ctx context.Context, m Message) error {
	if _, err := git.Program("notify-send", s.Written...); err != nil {
		return nil
	}
	return s.command(ctx, []string{"notify-send", "--app-name=cordon", "cordon", "$CORDON_MESSAGE"}, m, unmarked(m.Text()))
}

// unmarked is a text without markup: a desktop would show links, and load images.
func unmarked(text string) string { return strings.NewReplacer("<", "‹", ">", "›").Replace(text) }

func (s Sender) command(ctx context.Context, argv []string, m Message, text string) error {
	r := errand.Errand{
		Argv: argv, Dir: s.Dir, Written: s.Written, Limit: patience,
		Vars: []errand.Var{
			{Name: "CORDON_ID", Value: m.Worker}, {Name: "CORDON_STATE", Value: m.State},
			{Name: "CORDON_MESSAGE", Value: text}, {Name: "CORDON_REPOSITORY", Value: s.Dir},
		},
	}.Run(ctx)
	if r.OK() {
		return nil
	}
	return fmt.Errorf("notify: %s %s", strings.Join(argv, " "), r.How())
}
