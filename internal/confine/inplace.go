package confine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/cell"
	"cordon/internal/git"
	"cordon/internal/legible"
	"cordon/internal/plainfile"
	"cordon/internal/state"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// InPlace is what has to be looked at when a command that wrote directories in place has
// ended. It is kept in a file that the running cordon has locked: when cordon is killed,
// the next one finds the file without a lock, and looks.
type InPlace struct {
	Write   []string            `json:"write"`   // the directories
	Known   []string            `json:"known"`   // repositories that were there
	Partial map[string][]string `json:"partial"` // see worktree.Hazards
	Absent  []absent            `json:"absent"`  // what git would run or obey, and was not there
	Cell    string              `json:"cell"`    // its first process, with which all others end
	Worker  string              `json:"worker,omitempty"`
	Log     string              `json:"log,omitempty"` // a file for what is moved aside

	root   string // of cordon's state
	file   *os.File
	every  []git.Setting // what the operator's git obeys in any repository
	opened []string      // what the command may write although git obeys it
}

// absent is a path that did not exist.
type absent struct {
	Dir   string `json:"dir"`  // the directory that is written
	Rest  string `json:"rest"` // from there
	Why   string `json:"why"`
	Alias bool   `json:"alias"` // runs only when the operator types a name
}

func (a absent) path() string { return filepath.Join(a.Dir, filepath.FromSlash(a.Rest)) }

// draftPrefix begins the name of a record while it is written.
const draftPrefix = "new-"

// begin writes the file before the command's first instruction.
func (p *InPlace) begin(l cell.Launch) error {
	p.Cell = processOf(l.Pid)
	return p.open()
}

// open writes the file. Its lock ends with this process; the first process of the cell
// may outlive it by a moment.
func (p *InPlace) open() error {
	var err error
	if p.root, err = state.RealRoot(); err != nil {
		return err
	}
	dir := filepath.Join(p.root, state.Executions)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, draftPrefix+"*")
	if err != nil {
		return err
	}
	err = p.write(f)
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, execName(f)))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()), f.Close())
	}
	p.file = f
	return nil
}

// Started adds the first process of a cell to the file.
func (p *InPlace) Started(l cell.Launch) error {
	if p == nil || p.file == nil {
		return nil
	}
	p.Cell = processOf(l.Pid)
	return p.write(p.file)
}

// write writes what is known. It only ever grows, so that a reader never finds an end of
// what was there before.
func (p *InPlace) write(f *os.File) error {
	text, err := json.Marshal(p)
	if err == nil {
		_, err = f.WriteAt(text, 0)
	}
	return err
}

// execName is the name of a file that is written completely.
func execName(draft *os.File) string {
	return state.ExecutionPrefix + strings.TrimPrefix(filepath.Base(draft.Name()), draftPrefix)
}

// processOf is a process that another one with the same number is not: its number and
// the time of its start. It is "" when the process is gone.
func processOf(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if err != nil || len(fields) < 20 {
		return ""
	}
	return fmt.Sprintf("%d %s", pid, fields[19])
}

// ended waits for the end of a cell whose cordon was killed.
func (p *InPlace) ended() bool {
	var pid int
	if _, err := fmt.Sscan(p.Cell, &pid); err != nil {
		return true // it never began
	}
	for range 500 {
		if processOf(pid) != p.Cell {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// End looks at what the command left, disarms it, and says so.
func (p *InPlace) End() string {
	if p == nil || p.file == nil {
		return ""
	}
	text := p.sweep()
	_ = os.Remove(filepath.Join(p.root, state.Executions, execName(p.file))) // it is looked at once more otherwise
	p.file.Close()
	p.file = nil
	return text
}

// sweep disarms. What an alias names is only spoken of: it may be what a build makes,
// and it runs only when the operator says so.
func (p *InPlace) sweep() string {
	s := worktree.Sweep{
		Known: p.Known, Partial: p.Partial,
		Note:   p.note,
		Obeyed: ObeyedAnywhere(p.every, p.Write),
		Aside:  filepath.Join(p.root, "aside", fmt.Sprintf("%s-%d", time.Now().UTC().Format("20060102T150405"), os.Getpid())),
	}
	for _, dir := range p.Write {
		s.Directory(dir)
	}
	var lines []string
	for _, a := range p.Absent {
		if !a.Alias {
			s.Place(a.Dir, a.Rest, "your git would run or obey it ("+a.Why+")")
		} else if worksite.Exists(a.path()) {
			lines = append(lines, fmt.Sprintf("CAREFUL: the command created %s, which your git runs or reads (%s): "+
				"inspect it before you use git here", legible.Line(a.path()), a.Why))
		}
	}
	for _, m := range s.Moved {
		lines = append(lines, fmt.Sprintf("moved %s aside to %s: the command created it, and %s", legible.Line(m.From), legible.Line(m.To), legible.Line(m.Why)))
	}
	var blind []string // first, so that many others do not hide them
	for _, b := range s.Blind {
		blind = append(blind, "CAREFUL: not searched for repositories: "+legible.Line(b))
	}
	return strings.Join(append(firstLines(blind, 100, s.MoreBlind), firstLines(lines, 20, s.MoreMoved)...), "\n")
}

// note writes down what is moved aside, before that is done.
func (p *InPlace) note(m worktree.Moved) error {
	if p.Log == "" {
		return nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	f, err := plainfile.Open(p.Log, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}

// firstLines keeps the first lines, and counts the others and those that there are besides.
func firstLines(lines []string, most, besides int) []string {
	if len(lines)+besides <= most {
		return lines
	}
	most = min(most, len(lines))
	return append(lines[:most:most], fmt.Sprintf("and %d more of these", len(lines)-most+besides))
}

// SweepKilled looks at what commands left whose cordon was killed.
func SweepKilled() string {
	root, err := state.RealRoot()
	if err != nil {
		return ""
	}
	removeDrafts(root, time.Now())
	found, err := filepath.Glob(filepath.Join(root, state.Executions, state.ExecutionPrefix+"*"))
	if err != nil {
		return ""
	}
	var lines []string
	for _, name := range found {
		if text := sweepOne(root, name); text != "" {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n")
}

// removeDrafts removes files that a killed cordon had not finished: no command ran yet.
// One that is younger than a minute may be written at this moment.
func removeDrafts(root string, now time.Time) {
	found, err := filepath.Glob(filepath.Join(root, state.Executions, draftPrefix+"*"))
	if err != nil {
		return
	}
	for _, name := range found {
		if fi, err := os.Lstat(name); err == nil && now.Sub(fi.ModTime()) > time.Minute {
			_ = os.Remove(name) // the next cordon tries again
		}
	}
}

// hasName reports whether a file still is what a name leads to.
func hasName(name string, file os.FileInfo) bool {
	now, err := os.Lstat(name)
	return err == nil && os.SameFile(now, file)
}

func sweepOne(root, name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return "" // it runs
	}
	if mine, err := f.Stat(); err != nil || !hasName(name, mine) {
		return "" // it ended while the file was opened
	}
	p := InPlace{root: root}
	if err := json.NewDecoder(f).Decode(&p); err != nil {
		return fmt.Sprintf("%s cannot be read (%v): look for new repositories where it ran, then remove the file", name, err)
	}
	if !p.ended() {
		return "" // the kernel is still ending it: the next cordon looks
	}
	bin, err := git.Located(append(state.Written(), p.Write...)...)
	if !errors.Is(err, git.ErrNoGit) {
		if err == nil {
			p.every, _, err = bin.Settings(context.Background())
		}
		if err != nil {
			return fmt.Sprintf("your git configuration cannot be read, so nothing was searched yet: %v", err)
		}
	}
	text := p.sweep()
	_ = os.Remove(name)
	if text == "" {
		return ""
	}
	if p.Worker != "" {
		return p.Worker + " was killed together with cordon: " + text
	}
	return "a command under cordon exec was killed together with cordon: " + text
}
