package policy

import (
	"encoding/json"
	"testing"
)

func TestGuardModeZeroIsEnforce(t *testing.T) {
	for _, c := range []struct {
		mode          GuardMode
		want          string
		strict, warns bool
	}{
		{"", "enforce", false, false},
		{GuardEnforce, "enforce", false, false},
		{GuardWarn, "warn", false, true},
		{GuardStrict, "strict", true, false},
		{"Warn", "strict", true, false},
		{"nonsense", "strict", true, false},
	} {
		if c.mode.String() != c.want || c.mode.IsStrict() != c.strict || c.mode.Warns() != c.warns {
			t.Errorf("%q: %s, strict %v, warns %v", string(c.mode), c.mode, c.mode.IsStrict(), c.mode.Warns())
		}
	}
}

func TestAnswerZeroIsAllow(t *testing.T) {
	for a, want := range map[Answer]string{"": "allow", AnswerAllow: "allow", AnswerAsk: "ask", AnswerDeny: "deny", "Allow": "deny", "nonsense": "deny"} {
		if a.String() != want {
			t.Errorf("%q is %s, want %s", string(a), a, want)
		}
	}
}

func TestGuardDecodesOnlyItsWords(t *testing.T) {
	for _, text := range []string{
		`{"mode":""}`, `{"mode":"off"}`, `{"mode":"Strict"}`, `{"mode":1}`, `{"mode":"allow"}`,
		`{"unknown_read":""}`, `{"unknown_read":"enforce"}`, `{"opaque_code":"Deny"}`, `{"opaque_code":false}`,
	} {
		var g Guard
		if json.Unmarshal([]byte(text), &g) == nil {
			t.Errorf("%s was decoded as %+v", text, g)
		}
	}
	for _, m := range GuardModes() {
		for _, a := range Answers() {
			g, again := Guard{m, a, a}, Guard{}
			text, err := json.Marshal(g)
			if err == nil {
				err = json.Unmarshal(text, &again)
			}
			if err != nil || again != g {
				t.Errorf("%s leads to %+v, %v", text, again, err)
			}
		}
	}
}

// What the section leaves out has its default, and says no more than that.
func TestGuardMissingKeys(t *testing.T) {
	p, err := Parse("p", []byte("guard: {mode: warn}\n"))
	if want := (Guard{GuardWarn, AnswerAllow, AnswerAllow}); err != nil || p.Guard != want {
		t.Errorf("%+v, %v; want %+v", p.Guard, err, want)
	}
	p, err = Parse("p", []byte("guard: {opaque_code: deny}\n"))
	if want := (Guard{GuardEnforce, AnswerAllow, AnswerDeny}); err != nil || p.Guard != want {
		t.Errorf("%+v, %v; want %+v", p.Guard, err, want)
	}
}

func TestReading(t *testing.T) {
	for _, c := range []struct {
		mode         GuardMode
		policy, want Answer
	}{
		{"", "", AnswerAllow},
		{GuardEnforce, AnswerAllow, AnswerAllow},
		{GuardEnforce, AnswerAsk, AnswerAsk},
		{GuardEnforce, AnswerDeny, AnswerDeny},
		{GuardEnforce, "nonsense", AnswerDeny},
		{GuardWarn, AnswerAllow, AnswerAllow},
		{GuardWarn, AnswerDeny, AnswerDeny}, // told as what it would have been
		{GuardStrict, "", AnswerAsk},
		{GuardStrict, AnswerAllow, AnswerAsk},
		{GuardStrict, AnswerAsk, AnswerAsk},
		{GuardStrict, AnswerDeny, AnswerDeny},
	} {
		if got := (Guard{Mode: c.mode, UnknownRead: c.policy}).Reading(); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.mode, c.policy, got, c.want)
		}
	}
}

func TestOpaque(t *testing.T) {
	for _, c := range []struct {
		mode              GuardMode
		policy            Answer
		confined, without Answer
	}{
		{"", "", AnswerAllow, AnswerAsk},
		{GuardEnforce, AnswerAllow, AnswerAllow, AnswerAsk},
		{GuardEnforce, AnswerAsk, AnswerAsk, AnswerAsk},
		{GuardEnforce, AnswerDeny, AnswerDeny, AnswerDeny},
		{GuardEnforce, "nonsense", AnswerDeny, AnswerDeny},
		{GuardWarn, AnswerAllow, AnswerAllow, AnswerAsk},
		{GuardStrict, AnswerAllow, AnswerDeny, AnswerDeny},
		{GuardStrict, AnswerAsk, AnswerDeny, AnswerDeny},
		{"nonsense", "", AnswerDeny, AnswerDeny},
	} {
		g := Guard{Mode: c.mode, OpaqueCode: c.policy}
		if got := g.Opaque(true); got != c.confined {
			t.Errorf("%s, %s, in a cell: %s, want %s", c.mode, c.policy, got, c.confined)
		}
		if got := g.Opaque(false); got != c.without {
			t.Errorf("%s, %s, without a cell: %s, want %s", c.mode, c.policy, got, c.without)
		}
	}
}
