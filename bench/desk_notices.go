package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"cordon/internal/ledger"
)

// noticeGoals measure how long it takes from the question of a worker to the operator's command that tells of it.
func (o deskRun) noticeGoals(ctx context.Context, dir, cordon string) ([]goal, error) {
	const rounds = 20
	repo, told := filepath.Join(dir, "asked"), filepath.Join(dir, "told")
	if err := generate(ctx, repo, 100); err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "config", "cordon", "config.yaml")
	text := fmt.Sprintf("notify:\n  terminal: false\n  command: [sh, -c, 'echo $CORDON_ID $(date +%%s%%N) >>%s']\n", told)
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	call := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, cordon, args...)
		cmd.Dir, cmd.Env = repo, append(os.Environ(), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
		out, err := cmd.Output()
		return out, err
	}
	for range rounds { // one asks, waits a moment for its answer, and ends without one
		_, _ = call("run", "--no-merge", "--", "sh", "-c", "cordon ask --no-wait 'left or right?'; sleep 3") // it ends with 5: it needs a person
	}
	out, err := call("journal", "--json")
	if err != nil {
		return nil, err
	}
	times, err := delays(out, told)
	if err != nil {
		return nil, err
	}
	return []goal{{fmt.Sprintf("from a worker's question in the journal to the operator's command that tells of it, p95 of %d", len(times)), "2 s",
		fmt.Sprintf("%s; median %s", short(float64(centile(times, 95))), short(float64(centile(times, 50))))}}, nil
}

// delays reads when questions were asked, and when a command told of the worker first.
func delays(log []byte, told string) (list []time.Duration, err error) {
	var all struct {
		Events []struct {
			Type, Worker string
			Time         time.Time
		}
	}
	if err := json.Unmarshal(log, &all); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(told)
	if err != nil {
		return nil, err
	}
	first := map[string]time.Time{}
	for line := range strings.Lines(string(text)) {
		id, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		ns, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return nil, err
		}
		if first[id].IsZero() {
			first[id] = time.Unix(0, ns)
		}
	}
	for _, e := range all.Events {
		if at := first[e.Worker]; e.Type == ledger.Asked {
			if at.IsZero() {
				return nil, fmt.Errorf("nobody was told of the question of %s", e.Worker)
			}
			list = append(list, at.Sub(e.Time))
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("nobody asked")
	}
	return list, nil
}
