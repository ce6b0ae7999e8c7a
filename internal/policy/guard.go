package policy

import "fmt"

// Guard says how a worker's tool calls are judged before they run. The zero Guard
// is what a lease says that was sealed before there was this section: it enforces,
// with the default answers. Its keys must stay absent when such a lease is encoded
// again.
type Guard struct {
	Mode        GuardMode `json:"mode,omitempty"`
	UnknownRead Answer    `json:"unknown_read,omitempty"`
	OpaqueCode  Answer    `json:"opaque_code,omitempty"`
}

// Reading is the answer to a read of a path that only running the command would
// tell. Strict mode does not let it pass.
func (g Guard) Reading() Answer {
	if g.Mode.IsStrict() {
		return g.UnknownRead.atLeast(AnswerAsk)
	}
	return g.UnknownRead.atLeast(AnswerAllow)
}

// Opaque is the answer to inline code of another language that cannot be judged.
// Where a cell holds what the guard lets pass, the policy's word counts; without
// one the guard is the only wall, and allow is read as ask.
func (g Guard) Opaque(confined bool) Answer {
	switch {
	case g.Mode.IsStrict():
		return AnswerDeny
	case !confined:
		return g.OpaqueCode.atLeast(AnswerAsk)
	}
	return g.OpaqueCode.atLeast(AnswerAllow)
}

// GuardMode says what becomes of a judgement. The empty string is GuardEnforce;
// anything else that is not a weaker word behaves as GuardStrict.
type GuardMode string

const (
	GuardStrict  GuardMode = "strict"  // ask and opaque code become deny, and so does a cd out of the worktree
	GuardEnforce GuardMode = "enforce" // deny and ask are refusals
	GuardWarn    GuardMode = "warn"    // everything is allowed, told and journalled
)

// GuardModes lists the words a policy may use, strictest first.
func GuardModes() []GuardMode { return []GuardMode{GuardStrict, GuardEnforce, GuardWarn} }

// IsStrict reports whether nothing that is in doubt may pass.
func (m GuardMode) IsStrict() bool { return m != "" && m != GuardEnforce && m != GuardWarn }

// Warns reports whether a refusal is only told and journalled.
func (m GuardMode) Warns() bool { return m == GuardWarn }

// String gives the word: "enforce" for none, and "strict" for anything unknown.
func (m GuardMode) String() string {
	switch {
	case m.Warns():
		return string(GuardWarn)
	case m.IsStrict():
		return string(GuardStrict)
	}
	return string(GuardEnforce)
}

func (m GuardMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText refuses a word it does not know.
func (m *GuardMode) UnmarshalText(text []byte) error {
	for _, known := range GuardModes() {
		if string(text) == string(known) {
			*m = known
			return nil
		}
	}
	return fmt.Errorf("guard mode %q is not enforce, warn or strict", text)
}

// Answer is what the guard says to something it cannot know. The empty string is
// AnswerAllow, the default of every key that holds one; anything else that is not
// a weaker word behaves as AnswerDeny.
type Answer string

const (
	AnswerDeny  Answer = "deny"
	AnswerAsk   Answer = "ask"
	AnswerAllow Answer = "allow"
)

// Answers lists the words a policy may use, strictest first.
func Answers() []Answer { return []Answer{AnswerDeny, AnswerAsk, AnswerAllow} }

// atLeast is the stricter of two answers, as one of the known words.
func (a Answer) atLeast(floor Answer) Answer {
	for _, known := range Answers() {
		if a.String() == string(known) || floor.String() == string(known) {
			return known
		}
	}
	return AnswerDeny
}

// String gives the word: "allow" for none, and "deny" for anything unknown.
func (a Answer) String() string {
	switch a {
	case "", AnswerAllow:
		return string(AnswerAllow)
	case AnswerAsk:
		return string(AnswerAsk)
	}
	return string(AnswerDeny)
}

func (a Answer) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText refuses a word it does not know.
func (a *Answer) UnmarshalText(text []byte) error {
	for _, known := range Answers() {
		if string(text) == string(known) {
			*a = known
			return nil
		}
	}
	return fmt.Errorf("answer %q is not allow, ask or deny", text)
}
