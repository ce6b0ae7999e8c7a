package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cordon/internal/background"
	"cordon/internal/testwait"
)

// await waits for a condition. A wait that fails prints what shows print, and the evidence.
func (s *site) await(what string, holds func() bool, shows ...func() string) {
	s.t.Helper()
	testwait.Until(s.t, what, holds, append(shows, s.evidence)...)
}

// sources print what processes and terminals of a site have shown so far.
type sources struct {
	mu   sync.Mutex
	list []func() string
}

func (w *sources) add(show func() string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, show)
}

// all is what they print now.
func (w *sources) all() (texts []string) {
	w.mu.Lock()
	list := w.list
	w.mu.Unlock()
	for _, show := range list {
		texts = append(texts, show())
	}
	return texts
}

// evidence is what a person needs to find out why a wait has failed: what the terminals, the commands and the cordons
// in the background have shown, the workers, the journal and the processes.
func (s *site) evidence() string {
	texts := s.sources.all()
	consoles, _ := filepath.Glob(s.place("state/cordon/*/workers/*/" + background.ConsoleFile))
	for _, name := range consoles {
		text, err := os.ReadFile(name)
		texts = append(texts, fmt.Sprintf("--- %s %s", name, problem(err)), ending(string(text)))
	}
	for _, args := range [][]string{{"ls", "--all-states"}, {"journal"}} {
		texts = append(texts, "--- cordon "+strings.Join(args, " "), ending(s.brief(args...)))
	}
	return strings.Join(append(texts, "--- processes", s.processes()), "\n")
}

// brief is what a command prints that must not hold up a test that has failed.
func (s *site) brief(args ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var out bytes.Buffer
	cmd := s.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Start()
	if err == nil {
		stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() }) // it may have ended
		defer stop()
		err = cmd.Wait()
	}
	return out.String() + problem(err)
}

// cordons are the processes that keep their state at the site.
func (s *site) cordons() []string { return having("XDG_STATE_HOME=" + s.place("state") + "\x00") }

// processes are the cordons and the workers of the site, each with its state, where it waits in the kernel, and its command.
func (s *site) processes() string {
	var list []string
	for _, dir := range append(s.cordons(), having("CORDON_WORKER=", "HOME="+s.home+"\x00")...) {
		stat, _ := os.ReadFile(filepath.Join(dir, "stat")) // it may have ended by now
		_, rest, _ := strings.Cut(string(stat), ") ")
		state, _, _ := strings.Cut(rest, " ")
		where, _ := os.ReadFile(filepath.Join(dir, "wchan"))
		command, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		list = append(list, fmt.Sprintf("%s %s %s %q", filepath.Base(dir), state, where, bytes.ReplaceAll(command, []byte{0}, []byte{' '})))
	}
	return strings.Join(list, "\n")
}

// having are the directories in /proc of the processes that have all of some variables, each with its value.
func having(variables ...string) (dirs []string) {
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range names {
		env, err := os.ReadFile(name) // it may have ended by now, or be another user's
		if err == nil && !slices.ContainsFunc(variables, func(v string) bool { return !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+v)) }) {
			dirs = append(dirs, filepath.Dir(name))
		}
	}
	return dirs
}

// ending is the end of a text.
func ending(text string) string {
	const most = 8 << 10
	return text[max(0, len(text)-most):]
}

func problem(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// printed is what a process has printed so far.
type printed struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}
