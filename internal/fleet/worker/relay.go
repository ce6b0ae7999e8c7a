package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"cordon/internal/fleet/node"
	"cordon/internal/fleet/protocol"
	"cordon/internal/lease"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

// relay tells the home what a stage prints, what it asks and which rate limits it meets while it runs, and tells its worker what the operator
// answers.
type relay struct {
	bench *Bench
	hold  *node.Hold
	stage string
	log   *os.File // everything that cordon and the worker print
	fills *worksite.Bounded
	mu    sync.Mutex    // of fills
	more  chan struct{} // something was printed
	sent  int64
	asked []protocol.Question
	told  map[int]bool // questions whose answers the worker has

	limits   []string // rate limits that the worker has met
	reported int      // of them
}

const (
	reportEvery = time.Second
	askEvery    = 4 * time.Second       // a look at the worker's questions
	drawEvery   = 30 * time.Millisecond // of what somebody watches, at most
	maxPiece    = 256 << 10
)

func (b *Bench) newRelay(h *node.Hold, stage string) (*relay, error) {
	f, err := os.OpenFile(filepath.Join(b.Dir, "stages", stage+".log"), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	fills := &worksite.Bounded{To: f, Room: worksite.TranscriptRoom}
	return &relay{bench: b, hold: h, stage: stage, log: f, fills: fills, more: make(chan struct{}, 1), told: map[int]bool{}}, err
}

// Write takes what the stage prints.
func (r *relay) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case r.more <- struct{}{}:
	default:
	}
	return r.fills.Write(p)
}

// start reports until it is stopped, and then once more. What the home cannot be told is not worth a stage. What a
// person may watch is reported at once.
func (r *relay) start(ctx context.Context, watched bool) (stop func(ran view.OneWorker)) {
	over := make(chan view.OneWorker, 1)
	more := r.more
	if !watched {
		more = nil
	}
	var done sync.WaitGroup
	done.Go(func() {
		for looked := (time.Time{}); ; {
			select {
			case <-ctx.Done():
				return
			case ran := <-over:
				r.hear(ran)
				_ = r.report(ctx)
				return
			case <-more:
				time.Sleep(drawEvery) // for the rest of what is drawn
			case <-time.After(reportEvery):
			}
			if time.Since(looked) >= askEvery {
				r.look(ctx)
				looked = time.Now()
			}
			_ = r.report(ctx)
		}
	})
	return func(ran view.OneWorker) {
		over <- ran
		done.Wait()
		r.log.Close()
		os.Remove(r.log.Name())
	}
}

// report sends what is new, until nothing is.
func (r *relay) report(ctx context.Context) error {
	for {
		piece := make([]byte, maxPiece)
		n, err := r.log.ReadAt(piece, r.sent)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if n == 0 && len(r.told) == len(r.asked) && r.reported == len(r.limits) {
			return nil // nothing is new, and nobody waits for an answer
		}
		next, answers, err := r.hold.Report(ctx, r.sent, piece[:n], r.asked, r.limits)
		if err != nil {
			return err
		}
		r.sent, r.reported = next, len(r.limits)
		if err := r.hand(ctx, answers); err != nil || n < maxPiece {
			return err
		}
	}
}

// worker is the name of the stage's worker on this machine: the first thing that cordon says.
func (r *relay) worker() string {
	lines := bufio.NewScanner(io.NewSectionReader(r.log, 0, maxPiece))
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) > 1 && words[1] == "leased" && lease.ID(words[0]).Valid() {
			return words[0]
		}
	}
	return ""
}

// look finds new questions and rate limits. Each question is listed until it has an answer, and answers come only from here.
func (r *relay) look(ctx context.Context) {
	var w view.OneWorker
	id := r.worker()
	if id == "" || r.bench.cordon(ctx, &w, "show", id) != nil {
		return
	}
	for _, q := range w.Questions {
		if number := len(r.asked) + 1; q.ID == questionName(number) {
			r.asked = append(r.asked, protocol.Question{Text: q.Text, Options: q.Options})
		}
	}
	r.hear(w)
}

// hear takes the rate limits that a worker has met.
func (r *relay) hear(w view.OneWorker) {
	if w.Client != nil {
		r.limits = w.Client.Limits
	}
}

func questionName(number int) string { return fmt.Sprintf("q%d", number) }

// hand gives answers to the worker.
func (r *relay) hand(ctx context.Context, answers []string) error {
	for i, text := range answers {
		if text == "" || r.told[i] {
			continue
		}
		if err := r.bench.cordon(ctx, nil, "answer", "--", r.worker(), questionName(i+1), text); err != nil {
			return err
		}
		r.told[i] = true
	}
	return nil
}
