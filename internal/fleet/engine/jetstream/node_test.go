package jetstream

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
)

// TestPulls: nodes open their pulls to the home's own engine rarely and not in step, and get one sign of life during each.
func TestPulls(t *testing.T) {
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	n := &node{link: Link{Key: key}, queues: map[string]jetstream.Consumer{}}
	check := func(least, most time.Duration) {
		t.Helper()
		first := n.openFor(AnyClass)
		same := true
		for range 100 {
			open := n.openFor(AnyClass)
			same = same && open == first
			sent := open - time.Second // by when the client asks the server to end it
			if sign := n.signs(open); open < least || open > most || 2*sign > sent || 3*sign < sent {
				t.Errorf("open for %s, with a sign every %s", open, sign)
			}
		}
		if same {
			t.Errorf("all are open for %s", first)
		}
	}
	check(ownShort, ownShort+ownPullFor)
	n.queues[AnyClass] = struct{ jetstream.Consumer }{}
	check(ownPullFor*7/10, ownPullFor*13/10)
	if short := n.signs(3 * time.Second); short != time.Second {
		t.Errorf("in a pull of three seconds, a sign comes after %s", short)
	}
	n.link.Key = nil
	if open := n.openFor(AnyClass); open != pullFor || n.signs(open) != lives || n.untilLook() != unwoken {
		t.Errorf("with other servers: open for %s, with a sign every %s", open, n.signs(open))
	}
}
