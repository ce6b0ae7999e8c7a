// Package mailbox answers the requests that come out of a worker's cell, and gives the
// operator the questions among them. A worker can ask, report and wait. There is no
// request that decides or merges, and none that names another worker. What a verifier or a
// reviewer says is kept as evidence.
package mailbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"cordon/internal/guard"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/post"
	"cordon/internal/worksite"
)

// What one worker may have of cordon. Everything that it sends is kept on the
// operator's disk, and no limit of the worker's counts it.
const (
	MaxQuestions = 50       // of a worker
	MaxWaiting   = 16       // requests of a launch that wait for an answer at once
	MaxClaims    = 20       // of a launch
	MaxDecisions = 64 << 20 // bytes of a launch
	maxPatience  = 24 * time.Hour
)

// Mailbox answers what comes out of the cell of one launch. Whoever writes to it
// is the worker: it takes requests, and there is nothing that it lets be decided.
type Mailbox struct {
	s        *worksite.Site
	w        *ledger.Worker
	ends     time.Time
	Observed func(guard.Record)
	Label    func(guard.Record) guard.Record // says what is kept of a decision; nil: as it is
	Guarded  bool                            // it is a client's, and its guard sees its calls

	mu      sync.Mutex
	Decided int64 // bytes of decisions
	claims  int
	truths  map[int]*votes // by the number of the claim
	reviews votes
	heard   []heard
	casting sync.WaitGroup
	told    map[int]bool // questions whose answer was given out by this one
	asked   askedOf
	waiters waiters
	Waiting atomic.Int32
}

// New is the mailbox of a launch that ends at a time; zero is open. observed
// is called with each decision, one at a time.
func New(s *worksite.Site, w *ledger.Worker, ends time.Time, observed func(guard.Record)) *Mailbox {
	m := &Mailbox{s: s, w: w, ends: ends, Observed: observed, truths: map[int]*votes{}, told: map[int]bool{}, asked: askedOf{s: s, id: w.ID}}
	m.waiters = waiters{file: s.WorkerFile(w.ID, WaitingFile)}
	m.waiters.say() // what a launch that was killed has left there is over
	return m
}

// SomebodyWaits reports whether something in the cell waits for an answer.
func (m *Mailbox) SomebodyWaits() bool { return m.Waiting.Load() > 0 }

// Handle answers one request. There are no other verbs.
func (m *Mailbox) Handle(ctx context.Context, r post.Request) post.Reply {
	var reply post.Reply
	var err error
	switch r.Verb {
	case post.Decided:
		err = m.decide(r)
	case post.Ask:
		reply, err = m.ask(ctx, r)
	case post.Await:
		reply, err = m.await(ctx, r)
	case post.Done:
		err = m.claim(r)
	case post.Look:
		reply, err = m.look()
	case post.Truth, post.Review:
		err = m.answer(r)
	default:
		err = fmt.Errorf("there is no request %.40q", r.Verb)
	}
	if err != nil {
		return post.Reply{Error: err.Error()}
	}
	return reply
}

// decide keeps a decision of the guard. When it was made is known here.
func (m *Mailbox) decide(r post.Request) error {
	record, err := guard.ReadRecord(r.Record)
	if err != nil {
		return err
	}
	record.Time = m.s.Now().UTC()
	b, err := json.Marshal(record)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Decided += int64(len(b)); m.Decided > MaxDecisions {
		return errors.New("there is no room for more decisions")
	}
	if m.Label != nil {
		record = m.Label(record)
	}
	if err := record.Append(m.s.WorkerFile(m.w.ID, worksite.DecisionsFile)); err != nil {
		return err
	}
	if m.Observed != nil {
		m.Observed(record)
	}
	if m.Guarded && m.judges() && record.Verdict == guard.Allow && record.Event == "" {
		m.hear(record, r.Said)
	}
	return nil
}

// ask puts a question to the operator and waits for the answer. Who asks again what
// is open, or was answered and not told yet, has not asked something else: a command
// that is resumed with an answer begins by asking.
func (m *Mailbox) ask(ctx context.Context, r post.Request) (post.Reply, error) {
	q, err := questionOf(r)
	if err != nil {
		return post.Reply{}, err
	}
	number, err := m.record(q)
	if err != nil {
		return post.Reply{}, err
	}
	return m.answerTo(ctx, number, r.Wait)
}

// errAsked ends an append: the question is there.
var errAsked = errors.New("the question is already open")

func (m *Mailbox) record(q ledger.Question) (number int, err error) {
	err = m.s.AppendIf(m.w.ID, ledger.Asked, q, func(now *ledger.Ledger) error {
		w, err := now.Find(string(m.w.ID))
		if err != nil {
			return err
		}
		for _, have := range w.Questions {
			if have.Text == q.Text && slices.Equal(have.Options, q.Options) && !have.Heard {
				number = have.Number
				return errAsked
			}
		}
		if number = len(w.Questions) + 1; number > MaxQuestions {
			return fmt.Errorf("you have asked %d questions, the most that a worker may ask", MaxQuestions)
		}
		return nil
	})
	if errors.Is(err, errAsked) {
		return number, nil
	}
	if err == nil {
		m.s.Voice.Step(m.w.ID, "asks", fmt.Sprintf("q%d: %s (cordon answer %s \"…\")", number, oneText(q.Text), m.w.ID))
		if m.s.OnAsk != nil {
			m.s.OnAsk(m.w.ID, number)
		}
	}
	return number, err
}

// markTold records that the worker hears an answer.
func (m *Mailbox) markTold(q ledger.Inquiry) (answered bool, answer string, err error) {
	if q.Answer == nil {
		return false, "", nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !q.Heard && !m.told[q.Number] {
		if err := m.s.Append(m.w.ID, ledger.Heard, ledger.Hearing{Question: q.Number}); err != nil {
			return false, "", err
		}
		m.told[q.Number] = true
	}
	return true, q.Answer.Text, nil
}

var questionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^q([1-9][0-9]{0,2})$`) })

// ParseQuestion is the number of a question's name.
func ParseQuestion(name string) (int, bool) {
	found := questionName().FindStringSubmatch(name)
	if found == nil {
		return 0, false
	}
	n, err := strconv.Atoi(found[1])
	return n, err == nil
}

// await waits for the answer to a question that was asked before.
func (m *Mailbox) await(ctx context.Context, r post.Request) (post.Reply, error) {
	number, ok := ParseQuestion(r.Question)
	if !ok {
		return post.Reply{}, fmt.Errorf("%.40q is not the name of a question: they are q1, q2, …", r.Question)
	}
	return m.answerTo(ctx, number, r.Wait)
}

// answerTo is the answer to a question, for which it waits so many seconds.
func (m *Mailbox) answerTo(ctx context.Context, number, seconds int) (post.Reply, error) {
	q, err := m.asked.question(number)
	if err != nil {
		return post.Reply{}, err
	}
	if q.Answer == nil && seconds > 0 {
		if q, err = m.waitFor(ctx, q, min(time.Duration(min(seconds, 1<<20))*time.Second, maxPatience)); err != nil {
			return post.Reply{}, err
		}
	}
	reply := post.Reply{Question: q.ID()}
	reply.Answered, reply.Answer, err = m.markTold(q)
	return reply, err
}

// lookEvery is how often the journal is looked at while something waits.
const lookEvery = 250 * time.Millisecond

func (m *Mailbox) waitFor(ctx context.Context, q ledger.Inquiry, patience time.Duration) (ledger.Inquiry, error) {
	if m.Waiting.Add(1) > MaxWaiting {
		m.Waiting.Add(-1)
		return q, fmt.Errorf("%d requests already wait for an answer", MaxWaiting)
	}
	defer m.Waiting.Add(-1)
	defer m.waiters.enter(q.Number)()
	over := time.NewTimer(patience)
	defer over.Stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return q, nil // nobody is there to be told
		case <-over.C:
			return m.asked.question(q.Number)
		case <-tick.C:
		}
		now, err := m.asked.question(q.Number)
		if err != nil || now.Answer != nil {
			return now, err
		}
	}
}

// claim records that the agent says it is done.
func (m *Mailbox) claim(r post.Request) error {
	text := plainText(r.Text)
	if len(text) > maxText {
		return fmt.Errorf("a text of more than %d bytes is too long", maxText)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.claims >= MaxClaims {
		return fmt.Errorf("you have reported %d times that you are done", MaxClaims)
	}
	if err := m.s.Append(m.w.ID, ledger.Claimed, ledger.Claim{Text: text}); err != nil {
		return err
	}
	m.claims++
	m.s.Voice.Step(m.w.ID, "done", "it says: "+oneText(text))
	return nil
}

// look is what a worker may know of itself.
func (m *Mailbox) look() (post.Reply, error) {
	list, err := m.asked.list()
	if err != nil {
		return post.Reply{}, err
	}
	m.mu.Lock()
	done := m.claims > 0
	m.mu.Unlock()
	l := m.w.Lease.Lease()
	st := &post.Status{
		Worker: string(m.w.ID), Branch: l.Branch, Base: string(l.Base), Expires: l.Expires, Ends: m.ends, Done: done,
		Write: orEmpty(m.w.Lease.Rules().Roots()), Domains: reachedBy(l.Policy.Network), Questions: []post.Question{},
	}
	for _, q := range list {
		told := post.Question{ID: q.ID(), Text: q.Text, Options: q.Options}
		if told.Answered, told.Answer, err = m.markTold(q); err != nil {
			return post.Reply{}, err
		}
		st.Questions = append(st.Questions, told)
	}
	return post.Reply{Status: st}, nil
}

// reachedBy is what a policy lets be reached, in words.
func reachedBy(n policy.Network) []string {
	list := orEmpty(slices.Clone(n.AllowedDomains))
	for _, port := range n.HostPorts {
		list = append(list, fmt.Sprintf("localhost:%d", port))
	}
	return list
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
