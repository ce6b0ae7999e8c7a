package warrant

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"cordon/internal/guard"
	"cordon/internal/hook"
)

// Call is a line of cordon check --batch.
type Call struct {
	ID      json.RawMessage `json:"id"`
	Tool    string          `json:"tool"`
	Command *string         `json:"command"`
	Cwd     string          `json:"cwd"`
}

// batchAnswer is the line that answers one.
type batchAnswer struct {
	ID       json.RawMessage `json:"id"`
	Decision guard.Verdict   `json:"decision"`
	Reason   string          `json:"reason"`
}

// JudgeLines answers line by line; def has the tool and the directory of a line without one.
// A line that is no call is denied: whoever counts the answers must not take a mistake for a
// yes.
func JudgeLines(s *guard.Scope, in io.Reader, out io.Writer, def Call) error {
	lines := bufio.NewReader(in)
	enc := json.NewEncoder(out) // one write a line: whoever asks may wait for the answer
	enc.SetEscapeHTML(false)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := enc.Encode(judgeLine(s, def, line)); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func judgeLine(s *guard.Scope, def Call, line []byte) batchAnswer {
	var c Call
	if err := json.Unmarshal(line, &c); err != nil {
		return batchAnswer{json.RawMessage("null"), guard.Deny, "the line is not a JSON object with a call: " + err.Error()}
	}
	ans := batchAnswer{ID: c.ID, Decision: guard.Deny}
	if ans.ID == nil {
		ans.ID = json.RawMessage("null")
	}
	if c.Command == nil {
		ans.Reason = "the line has no command"
		return ans
	}
	if c.Tool == "" {
		c.Tool = def.Tool
	}
	if c.Cwd == "" {
		c.Cwd = def.Cwd
	}
	d := guard.Decide(s, hook.Typed(c.Tool, *c.Command, c.Cwd))
	ans.Decision, ans.Reason = d.Verdict, d.Reason
	return ans
}
