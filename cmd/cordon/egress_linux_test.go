package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/egress/record"
	"cordon/internal/testnet"
)

func init() {
	programs["testnet"] = func() { os.Exit(testnet.Enter(os.Args[1:])) }
	programs["probe"] = func() { os.Exit(probe(os.Args[1:])) }
}

// internet runs a test in a network of its own that leads nowhere else. Outside of
// it the test starts itself again there, and is what became of that.
func internet(t *testing.T, body func(*testing.T, *testnet.Net)) {
	t.Helper()
	if testnet.Inside() {
		n, err := testnet.Open()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Close)
		n.Names.Set("allowed.example.com", "93.184.216.34", "2606:2800:220:1::34")
		n.Names.Set("also.example.com", "93.184.216.35", "2606:2800:220:1::35")
		n.Names.Set("refused.example.net", "93.184.216.66", "2606:2800:220:1::66")
		body(t, n)
		return
	}
	t.Parallel()
	dir := t.TempDir()
	defer func() { _ = os.Chmod(filepath.Join(dir, "work/work"), 0o700) }() // the kernel leaves it so that nobody can remove it
	cmd := testnet.Command("testnet", dir, "cordon.test", "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=15m")
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil:
		t.Fatalf("in a network of its own: %v\n%s", err, out)
	case !bytes.Contains(out, []byte("--- PASS: "+t.Name())):
		t.Skipf("in a network of its own:\n%s", out)
	case bytes.Contains(out, []byte("--- SKIP")) || testing.Verbose():
		t.Logf("\n%s", out)
	}
}

// need skips a test of a program that this machine does not have.
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed: what it does in a cell is not shown", program)
	}
	return path
}

// policyText is a policy with a network section; the section is written in lines
// that follow "network:".
func policyText(lines ...string) string {
	text := "version: 1\n"
	if len(lines) > 0 {
		text += "network:\n  " + strings.Join(lines, "\n  ") + "\n"
	}
	return text
}

// allowing is the section that allows domains.
func allowing(domains ...string) string {
	quoted, err := json.Marshal(domains)
	if err != nil {
		panic(err)
	}
	return "allowed_domains: " + string(quoted)
}

// visit is one run of a worker in a cell with a network.
type visit struct {
	site *site
	id   string
	code int    // of cordon
	out  string // what the worker wrote
	said string // what cordon wrote
	took time.Duration
}

// dispatch runs a worker under a policy, to its end, without a merge.
func (s *site) dispatch(policy string, command ...string) visit {
	s.t.Helper()
	file := s.write("policy.yaml", policy)
	start := time.Now()
	o := s.try(s.command(append([]string{"run", "--no-merge", "--policy", file, "--"}, command...)...))
	v := visit{site: s, code: o.code, said: o.out + o.err, took: time.Since(start)}
	m := workerName.FindStringSubmatch(o.err)
	if m == nil {
		s.t.Fatalf("no worker: %+v", o)
	}
	v.id = m[1]
	v.out = s.cordon([]int{0}, "logs", v.id).out
	return v
}

// records are what was kept of its network.
func (v visit) records() []record.Record {
	v.site.t.Helper()
	var told struct{ Decisions []record.Record }
	v.site.parse(v.site.cordon([]int{0}, "logs", "--net", "--json", v.id).out, &told)
	return told.Decisions
}

// wants checks that a pattern is in a text.
func wants(t *testing.T, what, text, pattern string) {
	t.Helper()
	if !regexp.MustCompile(pattern).MatchString(text) {
		t.Errorf("%s is not /%s/:\n%s", what, pattern, text)
	}
}

// recorded checks that a decision was kept: of a name or an address, at a port, with
// a verdict and a reason that matches.
func (v visit) recorded(whom string, port uint16, verdict record.Verdict, reason string) {
	v.site.t.Helper()
	re := regexp.MustCompile(reason)
	all := v.records()
	if !slices.ContainsFunc(all, func(r record.Record) bool {
		return (r.Name == whom || r.Address == whom) && (port == 0 || r.Port == port) && r.Verdict == verdict && re.MatchString(r.Reason)
	}) {
		text, _ := json.Marshal(all)
		v.site.t.Errorf("no record of %s at %d, %s, /%s/ in\n%s", whom, port, verdict, reason, text)
	}
}

// outside runs a program in the same network and environment without a cell: the
// control of what a cell refuses, and of what it allows.
func (s *site) outside(command ...string) outcome {
	s.t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = s.repo, s.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return ended(cmd, out.String(), errs.String())
}

// asProbe runs acts of the probe outside of a cell.
func (s *site) asProbe(acts []act) []finding {
	s.t.Helper()
	o := s.outside(testnet.Probe, scriptOf(acts))
	return findings(s.t, o.out+o.err, acts)
}

// probeCell runs acts of the probe in a cell.
func (s *site) probeCell(policy string, acts []act) (visit, []finding) {
	s.t.Helper()
	v := s.dispatch(policy, testnet.Probe, scriptOf(acts))
	return v, findings(s.t, v.out, acts)
}

func scriptOf(acts []act) string {
	b, err := json.Marshal(acts)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// findings reads what a probe wrote: one line for each act, in order.
func findings(t *testing.T, text string, acts []act) []finding {
	t.Helper()
	var list []finding
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, findingMark); ok {
			var f finding
			if err := json.Unmarshal([]byte(rest), &f); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			list = append(list, f)
		}
	}
	if len(list) != len(acts) {
		t.Fatalf("%d findings of %d acts:\n%s", len(list), len(acts), text)
	}
	return list
}

// The internet of the tests is there, and leads nowhere: the names, the addresses
// and the servers that every other test relies on.
func TestEgressInternet(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		s := newSite(t)
		for _, a := range []struct {
			act  act
			want string
		}{
			{act{"https", "allowed.example.com:443", "allowed.example.com"}, "hello from allowed.example.com"},
			{act{"https", "93.184.216.34:443", "another.example.com"}, "hello from another.example.com"},
			{act{"https", "[2606:2800:220:1::34]:443", "another.example.com"}, "hello from"},
			{act{"http", "169.254.169.254:80", "169.254.169.254"}, "hello from 169.254.169.254"},
			{act{"ask", "8.8.8.8:53", "udp", "a.b.refused.example.net", "A"}, "NameError"},
			{act{"ask", "[2001:4860:4860::8888]:53", "udp", "allowed.example.com", "AAAA"}, "2606:2800:220:1::34"},
			{act{"ask", "127.0.0.1:53", "tcp", "allowed.example.com", "A"}, "93.184.216.34"},
			{act{"tcp", "93.184.216.34:8443", ""}, "refused"},
			{act{"ping", "93.184.216.34"}, "answered"},
		} {
			f := s.asProbe([]act{a.act})[0]
			wants(t, strings.Join(a.act, " "), f.String(), a.want)
		}
		if n.Web.Visited("allowed.example.com") == 0 || n.Names.AskedBelow("refused.example.net") != 1 {
			t.Errorf("not kept: %v %v", n.Web.Visits(), n.Names.Asked())
		}
		if _, err := os.Stat(filepath.Join(testnet.Etc, "ca.pem")); err != nil {
			t.Error(err)
		}
	})
}
