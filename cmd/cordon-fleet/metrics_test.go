package main

import (
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var sample = regexp.MustCompile(`^([a-z_]+)(\{[a-z]+="(?:[^"\\]|\\.)*"(?:,[a-z]+="(?:[^"\\]|\\.)*")*\})? (\S+)$`)

// scrape reads the metrics of a process, and refuses what Prometheus would not read.
func scrape(t *testing.T, url string) (values map[string]float64, types map[string]string) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("%v, %s, %v", answer.Status, answer.Header, err)
	}
	values, types = map[string]float64{}, map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if words := strings.Fields(line); strings.HasPrefix(line, "# TYPE ") && len(words) == 4 {
			types[words[2]] = words[3]
			continue
		} else if strings.HasPrefix(line, "# HELP ") {
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil || types[m[1]] == "" {
			t.Fatalf("%q has no type or is no sample", line)
		}
		value, err := strconv.ParseFloat(m[3], 64)
		if _, twice := values[m[1]+m[2]]; err != nil || twice {
			t.Fatalf("%q: %v, there twice: %v", line, err, twice)
		}
		values[m[1]+m[2]] = value
	}
	return values, types
}

// documented are the metrics in the tables of docs/fleet.md, with their types.
func documented(t *testing.T, prefix string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]string{"go_goroutines": "gauge", "process_cpu_seconds_total": "counter", "process_resident_memory_bytes": "gauge"}
	for _, m := range regexp.MustCompile("(?m)^\\| `("+prefix+"[a-z_]+)(?:\\{[a-z,]+\\})?` \\| (gauge|counter) \\|").FindAllStringSubmatch(string(text), -1) {
		types[m[1]] = m[2]
	}
	return types
}

// TestMetrics scrapes a home and a node: they have the metrics that are documented, and no others.
func TestMetrics(t *testing.T) {
	t.Parallel()
	here, one := newHome(t), newMachine(t)
	home, _ := startHome(here, "--listen", "127.0.0.1:0", "--metrics", "0")
	at := func(p *process) string {
		_, url, _ := strings.Cut(p.await("metrics at"), "metrics at ")
		if !strings.HasPrefix(url, "http://127.0.0.1:") {
			t.Fatalf("metrics are at %s", url)
		}
		return url
	}
	homeURL := at(home)
	before, _ := scrape(t, homeURL)
	node := one.start("", "node", "--name", "one", "--slots", "2", "--metrics", "0", here.token())
	nodeURL := at(node)
	node.await("ready")
	after, homeTypes := scrape(t, homeURL)
	own, nodeTypes := scrape(t, nodeURL)
	for prefix, types := range map[string]map[string]string{"cordon_home_": homeTypes, "cordon_node_": nodeTypes} {
		if want := documented(t, prefix); !maps.Equal(types, want) {
			t.Errorf("the metrics are\n%v\nand docs/fleet.md says\n%v", slices.Sorted(maps.Keys(types)), slices.Sorted(maps.Keys(want)))
		}
	}
	for name, want := range map[string][2]float64{
		`cordon_home_nodes{state="ready"}`:                          {0, 1},
		`cordon_home_nodes{state="draining"}`:                       {0, 0},
		`cordon_home_stages{state="waiting"}`:                       {0, 0},
		`cordon_home_engine_up`:                                     {1, 1},
		`cordon_home_questions_total{kind="join",verdict="joined"}`: {0, 1},
		`cordon_home_node_heard_timestamp_seconds{node="one"}`:      {0, after[`cordon_home_node_heard_timestamp_seconds{node="one"}`]},
		`cordon_home_pack_bytes_total{direction="sent"}`:            {0, 0},
	} {
		if got := [2]float64{before[name], after[name]}; got != want {
			t.Errorf("%s was %v and is %v, not %v", name, got[0], got[1], want)
		}
	}
	if own["cordon_node_slots"] != 2 || own["cordon_node_stages_running"] != 0 {
		t.Errorf("the node has %v slots, and %v stages run", own["cordon_node_slots"], own["cordon_node_stages_running"])
	}
	if after[`cordon_home_node_heard_timestamp_seconds{node="one"}`] < 1e9 ||
		own["cordon_node_home_answered_timestamp_seconds"] < 1e9 || own["cordon_node_draining"] != 0 {
		t.Errorf("home and node have not heard each other: %v, %v", after, own)
	}
	here.run("drain", "one")
	eventually(t, "the home says that the node is draining", func() bool {
		now, _ := scrape(t, homeURL)
		return now[`cordon_home_nodes{state="draining"}`] == 1 && now[`cordon_home_nodes{state="ready"}`] == 0
	})
}
