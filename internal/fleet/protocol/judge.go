package protocol

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"sync"
	"time"

	"cordon/internal/fleet/trial"
)

// Member is a node, as the home's journal has it.
type Member struct {
	Name     string
	Key      string
	Draining bool
	Removed  bool
}

// Stage is what the home's journal says of a stage.
type Stage struct {
	Lease     string
	Hash      string // of its terms
	Base      string
	On        string // the name of the node that the operator chose; "": any
	Needs     Needs
	Trial     *trial.Order // what is to be tested; nil: the stage runs a command
	Withdrawn bool
	Over      bool   // its result was taken
	Result    string // the hash of the manifest that was taken
	Grant     Grant  // the newest
}

// Grant is a stage in the hands of a node. The zero value is in nobody's.
type Grant struct {
	Fence   uint64 // the number of the event that recorded it
	Node    string // key
	Hash    string // of the terms that the node was offered; "": those of the stage
	Renewed time.Time
	Beats   uint64 // the newest beat of the node
}

// Home is what a home decides from.
type Home struct {
	Fleet   string
	Program string
	Member  func(key string) (Member, bool)
	Named   func(name string) bool // whether a node has this name
	Stage   func(lease string) (Stage, bool)
	Ticket  func(id string) (Ticket, bool)
	Room    func(key string, c Can, s Stage) bool // whether the limits let a node have a stage now; nil: they do
	Now     time.Time
	Lost    time.Duration // a grant without a beat for so long may be given to another node
	MaxPack int64
}

// Judgement is what a home thinks of a question. Exactly one of the messages is set if the
// verdict lets the node go on, and none for Hello.
type Judgement struct {
	Verdict Verdict
	Key     string // of the sender, proven
	Kind    Kind   // of the question, if its signature is right
	Program string // what the sender says that it runs
	To      string // the hash of the question
	Lease   string // of the stage that a result is said to be of
	Can     *Can   // what the sender says of itself, with Ask and Hello
	Fence   uint64 // of the grant that the node has already; 0: append one, whose number is the fence
	Ask     *Ask
	Beat    *Beat
	Result  *Result
	Again   bool // the same result was taken before: there is nothing to do
	Join    *Join
	Want    *Want
	Fetch   *Fetch
	Put     *Put
	Report  *Report
	Listen  *Listen
}

// Judge decides about a question that came in the name of sender. It decides on nothing but
// its arguments: the caller appends what is granted or taken before it answers, on the
// condition that the journal still says the same.
func (h Home) Judge(raw []byte, sender string) Judgement {
	j := Judgement{To: Digest(raw)}
	o, err := open(raw)
	switch {
	case err == errUnsigned:
		j.Verdict = Unsigned
		return j
	case err != nil:
		j.Verdict = Malformed
		return j
	}
	j.Key, j.Kind, j.Program = o.key, o.Kind, o.Program
	for _, check := range []func(opened, string) Verdict{h.checkSender, h.checkVersion, h.checkMember} {
		if j.Verdict = check(o, sender); j.Verdict != "" {
			return j
		}
	}
	j.Verdict = h.judgeKind(o, &j)
	return j
}

func (h Home) checkSender(o opened, sender string) Verdict {
	switch {
	case o.key != sender:
		return OtherSender
	case o.Fleet != h.Fleet:
		return OtherFleet
	}
	return ""
}

func (h Home) checkVersion(o opened, _ string) Verdict {
	switch {
	case o.Version < Version:
		return Outdated
	case o.Version > Version:
		return Newer
	}
	return ""
}

// checkMember refuses strangers, who may only join.
func (h Home) checkMember(o opened, _ string) Verdict {
	m, known := h.Member(o.key)
	switch {
	case m.Removed:
		return Removed
	case !known && o.Kind != JoinKind:
		return Unknown
	}
	return ""
}

func (h Home) judgeKind(o opened, j *Judgement) Verdict {
	switch o.Kind {
	case AskKind:
		return read(o, &j.Ask, func(a Ask) Verdict { return h.judgeAsk(o.key, a, j) })
	case BeatKind:
		return read(o, &j.Beat, func(b Beat) Verdict { return h.judgeBeat(o.key, b, j) })
	case ResultKind:
		return read(o, &j.Result, func(r Result) Verdict { return h.judgeResult(o.key, r, j) })
	case WantKind:
		return read(o, &j.Want, func(m Want) Verdict { return h.judgeWant(o.key, m) })
	case FetchKind:
		return read(o, &j.Fetch, func(m Fetch) Verdict { return h.judgePack(o.key, m.Lease, m.Fence, m.Pack, m.Offset) })
	case PutKind:
		return read(o, &j.Put, func(m Put) Verdict { return h.judgePut(o.key, m) })
	case ReportKind:
		return read(o, &j.Report, func(m Report) Verdict { return h.judgeReport(o.key, m) })
	case ListenKind:
		return read(o, &j.Listen, func(m Listen) Verdict { return h.working(o.key, m.Lease, m.Fence) })
	case HelloKind:
		return read(o, new(*Hello), func(m Hello) Verdict { return h.judgeHello(o.key, m, j) })
	case JoinKind:
		return read(o, &j.Join, func(m Join) Verdict { return h.judgeJoin(o.key, m) })
	}
	return Malformed
}

// read reads a message of a kind and judges it. The message is kept only if the verdict lets
// the node go on.
func read[T any](o opened, to **T, judge func(T) Verdict) Verdict {
	var message T
	if strict(o.body, &message) != nil {
		return Malformed
	}
	v := judge(message)
	switch v {
	case Granted, Go, Taken, Joined:
		*to = &message
	}
	return v
}

func (h Home) judgeAsk(key string, a Ask, j *Judgement) Verdict {
	if !a.Can.sane() {
		return Malformed
	}
	j.Can = &a.Can
	s, ok := h.Stage(a.Lease)
	m, _ := h.Member(key)
	alive := s.Grant.Node != "" && h.Now.Sub(s.Grant.Renewed) < h.Lost
	switch {
	case !ok:
		return NoStage
	case s.Withdrawn:
		return Withdrawn
	case s.Over:
		return Over
	case alive && s.Grant.Node == key && s.granted() == a.Hash: // the answer was lost
		j.Fence = s.Grant.Fence
		return Granted
	case s.Hash != a.Hash:
		return OtherTerms
	case s.On != "" && s.On != m.Name:
		return NotForYou
	case s.Trial != nil && !s.Trial.MayTest(key):
		return OwnWork
	case alive:
		return Held
	case m.Draining:
		return Draining
	case a.Can.Lacks(s.Needs) != "":
		return Unfit
	case h.Room != nil && !h.Room(key, a.Can, s):
		return AtLimit
	}
	return Granted
}

// granted is the hash of the terms under which a node has the stage. Those of the stage itself may be others by now: they
// tell what the operator has answered.
func (s Stage) granted() string { return cmp.Or(s.Grant.Hash, s.Hash) }

// holds judges whether a node still has a stage.
func (s Stage) holds(key string, fence uint64) Verdict {
	switch {
	case s.Grant.Node != key || s.Grant.Fence != fence || fence == 0:
		return OldFence
	case s.Withdrawn:
		return Withdrawn
	}
	return ""
}

func (h Home) judgeBeat(key string, b Beat, j *Judgement) Verdict {
	s, ok := h.Stage(b.Lease)
	if !ok {
		return NoStage
	}
	if v := s.holds(key, b.Fence); v != "" {
		return v
	}
	switch {
	case s.Over:
		return Over
	case b.Count <= s.Grant.Beats:
		return Replayed
	}
	j.Fence = b.Fence
	return Go
}

// working judges whether a node has a stage that is not over.
func (h Home) working(key, lease string, fence uint64) Verdict {
	s, ok := h.Stage(lease)
	if !ok {
		return NoStage
	}
	if v := s.holds(key, fence); v != "" {
		return v
	}
	if s.Over {
		return Over
	}
	return Go
}

// maxHave bounds the commits that a node says it has.
const maxHave = 64

func (h Home) judgeWant(key string, m Want) Verdict {
	for _, oid := range m.Have {
		if len(m.Have) > maxHave || !isHex(oid, 40, 64) {
			return Malformed
		}
	}
	return h.working(key, m.Lease, m.Fence)
}

func (h Home) judgePack(key, lease string, fence uint64, p Pack, offset int64) Verdict {
	if !isHex(p.Sum, 64) || p.Size <= 0 || offset < 0 || offset >= p.Size {
		return Malformed
	}
	return h.working(key, lease, fence)
}

func (h Home) judgePut(key string, m Put) Verdict {
	v := h.judgePack(key, m.Lease, m.Fence, m.Pack, m.Offset)
	s, _ := h.Stage(m.Lease)
	switch {
	case v != Go:
		return v
	case s.Trial != nil:
		return Malformed // its result is a verdict
	case m.Pack.Size > h.MaxPack:
		return TooBig
	case len(m.Piece) == 0 || int64(len(m.Piece)) > m.Pack.Size-m.Offset:
		return Malformed
	}
	return Go
}

// The bounds of a report.
const (
	maxPiece     = 256 << 10
	maxQuestions = 50
	maxQuestion  = 8 << 10 // bytes of a text
	maxLimits    = 100
	maxLimit     = 1 << 10
	maxOptions   = 20
)

func (h Home) judgeReport(key string, m Report) Verdict {
	if m.Offset < 0 || len(m.Piece) > maxPiece || len(m.Questions) > maxQuestions {
		return Malformed
	}
	if len(m.Limits) > maxLimits || slices.ContainsFunc(m.Limits, func(text string) bool { return len(text) > maxLimit }) {
		return Malformed
	}
	for _, q := range m.Questions {
		if q.Text == "" || len(q.Options) > maxOptions {
			return Malformed
		}
		for _, text := range append([]string{q.Text}, q.Options...) {
			if len(text) > maxQuestion {
				return Malformed
			}
		}
	}
	return h.working(key, m.Lease, m.Fence)
}

func (h Home) judgeResult(key string, r Result, j *Judgement) Verdict {
	j.Lease = r.Lease
	s, ok := h.Stage(r.Lease)
	if !ok {
		return NoStage
	}
	if s.Trial != nil && !s.Trial.MayTest(key) {
		return OwnWork
	}
	if v := s.holds(key, r.Fence); v != "" {
		return v
	}
	switch {
	case r.Hash != s.granted():
		return OtherTerms
	case r.Base != s.Base:
		return OtherBase
	case s.Over && s.Result == j.To: // the answer was lost
		j.Again, j.Fence = true, r.Fence
		return Taken
	case s.Over:
		return Over
	case r.Pack.Size < 0 || r.Pack.Size > h.MaxPack:
		return TooBig
	case (r.Commit == "") != (r.Pack == Pack{}) || r.Commit != "" && (!isHex(r.Commit, 40, 64) || !isHex(r.Pack.Sum, 64)):
		return Malformed
	}
	if v := s.judgeVerdict(key, r); v != "" {
		return v
	}
	j.Fence = r.Fence
	return Taken
}

// judgeVerdict refuses a verdict about anything but what was to be tested. A command has none, and a trial has no commit.
func (s Stage) judgeVerdict(key string, r Result) Verdict {
	switch {
	case s.Trial == nil && r.Verdict != nil, s.Trial != nil && r.Commit != "":
		return Malformed
	case r.Verdict == nil:
		return ""
	}
	switch err := s.Trial.Check(key, *r.Verdict); {
	case errors.Is(err, trial.ErrAuthor):
		return OwnWork
	case errors.Is(err, trial.ErrTree):
		return OtherTree
	case err != nil:
		return NoVerdict
	}
	return ""
}

func (h Home) judgeHello(key string, m Hello, j *Judgement) Verdict {
	if !m.Can.sane() {
		return Malformed
	}
	j.Can = &m.Can
	if m, _ := h.Member(key); m.Draining {
		return Draining
	}
	return Go
}

var names = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`) })

func (h Home) judgeJoin(key string, m Join) Verdict {
	if known, ok := h.Member(key); ok && known.Name == m.Name {
		return Joined // the answer was lost
	}
	t, ok := h.Ticket(m.Ticket)
	switch {
	case !ok || t.Used || !h.Now.Before(t.Expires) || !t.proves(key, m):
		return NoTicket
	case !names().MatchString(m.Name) || h.Named(m.Name):
		return BadName
	}
	return Joined
}

// Answer is the answer to a judgement. Fence is that of a grant that was appended.
func (h Home) Answer(j Judgement, fence uint64) Answer {
	if fence == 0 {
		fence = j.Fence
	}
	if j.Verdict != Granted {
		fence = 0
	}
	return Answer{
		Header: Header{Version: Version, Program: h.Program, Fleet: h.Fleet, Kind: AnswerKind},
		To:     j.To, Verdict: j.Verdict, Say: j.Verdict.Say(), Fence: fence,
	}
}

func isHex(s string, lengths ...int) bool {
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	for _, n := range lengths {
		if len(s) == n {
			return true
		}
	}
	return false
}
