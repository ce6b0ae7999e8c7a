package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// documented is how much memory SECURITY.md says that cordon uses at most, in MiB.
const documented = 1024

// longPlace goes into 16 directories of 220 bytes each: a path of 3.5 kB.
const longPlace = `x=$(printf '%0220d' 0); for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do mkdir -p $x; cd $x; done; `

// TestMemory lets workers leave what costs them nothing and an auditor much, and
// measures the process that nothing confines.
func TestMemory(t *testing.T) {
	t.Parallel()
	many := func(n int) string { return fmt.Sprintf(`i=0; while [ $i -lt %d ]; do : >f$i; i=$((i+1)); done`, n) }
	flips := `one=$(git rev-parse HEAD^{tree}); (cd src; ` + longPlace + many(2000) + `); git add -A; two=$(git write-tree)
		at=$(git rev-parse HEAD)
		for i in $(seq 200); do at=$(git commit-tree -p $at -m x $two); at=$(git commit-tree -p $at -m x $one); done
		git update-ref HEAD $at; git reset -q --hard`
	for _, c := range []struct {
		name, script, says string
		code               int
	}{
		{"one file", `echo x >docs/x`, "1 violation", 4}, // the control: the measurement tells small from large
		{"20,000 long names out of the lease", `cd docs; ` + longPlace + many(20_000), "20000 paths, of which 5000 are listed", 4},
		{"20,000 long names in the lease", `cd src; ` + longPlace + many(20_000), "20000 paths, of which 5000 are listed", 4},
		{"100,000 short names out of the lease", `cd docs; for d in $(seq 200); do mkdir $d; cd $d; for f in $(seq 500); do : >$f; done; cd ..; done`, "100000 violations", 4},
		{"commits of 800,000 long names", flips, "longer than 48 MiB", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			policy := s.write("policy.yaml", "version: 1\nfilesystem:\n  write_roots: [src]\n")
			o, peak := s.measured("run", "--no-merge", "--policy", policy, "--", "sh", "-c", c.script)
			if o.code != c.code || !strings.Contains(o.out+o.err, c.says) {
				t.Errorf("ended with %d, want %d and %q:\n%s%s", o.code, c.code, c.says, o.out, o.err)
			}
			t.Logf("%d MiB", peak)
			limit := documented
			if c.name == "one file" {
				limit = documented / 8
			}
			if peak > limit || peak < 5 {
				t.Errorf("cordon used %d MiB, and %d are documented", peak, limit)
			}
			id := s.only().Worker
			for _, read := range [][]string{{"ls"}, {"audit", id}} {
				o, peak := s.measured(read...)
				if peak > documented || len(o.out) > 4<<20 {
					t.Errorf("cordon %s used %d MiB and printed %d bytes", read[0], peak, len(o.out))
				}
			}
		})
	}
}

// measured runs cordon and returns the most memory that it had, in MiB.
func (s *site) measured(args ...string) (outcome, int) {
	s.t.Helper()
	cmd := s.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	done := make(chan struct{})
	most := make(chan int)
	go func() {
		peak := 0
		for {
			select {
			case <-done:
				most <- peak
				return
			case <-time.After(5 * time.Millisecond):
				peak = max(peak, highWater(cmd))
			}
		}
	}()
	_ = cmd.Wait() // the outcome has it
	close(done)
	return ended(cmd, out.String(), errs.String()), <-most
}

// highWater reads the kernel's own mark of the most memory that a process has had.
func highWater(cmd *exec.Cmd) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, _ := strconv.Atoi(fields[0])
	return kib >> 10
}
