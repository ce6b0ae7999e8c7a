package confine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/cell"
	"cordon/internal/fault"
	"cordon/internal/follow"
	"cordon/internal/legible"
	"cordon/internal/plainfile"
	"cordon/internal/policy"
	"cordon/internal/state"
	"cordon/internal/worktree"
)

// Written is what a command under cordon exec writes: private layers over directories, which are
// placed into them when it has ended. All of it lies in a directory of cordon's state, with a
// record that the running cordon has locked: when cordon is killed, the next one says that the
// layers are still there.
type Written struct {
	Command []string      `json:"command"`
	Dirs    []string      `json:"dirs"`             // over which its layers lie
	Inodes  []uint64      `json:"inodes,omitempty"` // theirs
	Live    []string      `json:"live,omitempty"`   // those that it writes at once instead
	Typed   bool          `json:"typed,omitempty"`
	Own     string        `json:"own,omitempty"` // the .git entry that is private to it
	Top     string        `json:"top"`
	Home    string        `json:"home"`
	Policy  policy.Policy `json:"policy"`
	Hidden  []string      `json:"hidden,omitempty"`
	Cell    string        `json:"cell,omitempty"` // its first process, with which all others end
	Since   [2]int64      `json:"since"`          // when the command began

	at   string // the directory
	file *os.File
}

// layerOf names the layer of a directory.
func layerOf(i int) string { return fmt.Sprintf("dir-%d", i) }

// open makes the directory and the record. Its lock ends with this process.
func (w *Written) open() error {
	root, err := state.RealRoot()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(root, state.Executions), 0o700); err != nil {
		return err
	}
	if w.at, err = os.MkdirTemp(filepath.Join(root, state.Executions), state.ExecutionPrefix); err != nil {
		return err
	}
	if err := os.Mkdir(w.layers(), 0o700); err != nil {
		return err
	}
	if w.file, err = os.OpenFile(filepath.Join(w.at, state.ExecutionRecord), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return err
	}
	if err := unix.Flock(int(w.file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	return w.write()
}

func (w *Written) layers() string { return filepath.Join(w.at, "layers") }

// id is what the operator calls it by.
func (w *Written) id() string { return strings.TrimPrefix(filepath.Base(w.at), state.ExecutionPrefix) }

// write writes the record. It only ever grows, so that a reader never finds an end of what was there before.
func (w *Written) write() error {
	text, err := json.Marshal(w)
	if err == nil {
		_, err = w.file.WriteAt(text, 0)
	}
	return err
}

// begin records the cell before the command's first instruction. What is changed from now on, by the clock
// of file systems, is changed while the command runs.
func (w *Written) begin(l cell.Launch) error {
	w.Cell = processOf(l.Pid)
	if w.file == nil { // nothing of it lies in layers
		if err := w.open(); err != nil {
			return err
		}
	}
	if err := w.write(); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(w.file.Fd()), &st); err != nil {
		return err
	}
	w.Since, w.Inodes = [2]int64{int64(st.Mtim.Sec), int64(st.Mtim.Nsec)}, inodes(w.Dirs)
	return w.write()
}

// inodes are those of directories; 0 where there is none.
func inodes(dirs []string) []uint64 {
	list := make([]uint64, len(dirs))
	for i, dir := range dirs {
		var st unix.Stat_t
		if unix.Stat(dir, &st) == nil {
			list[i] = st.Ino
		}
	}
	return list
}

// inodeAt is one of them. Records of earlier versions have none.
func inodeAt(list []uint64, i int) uint64 {
	if i < len(list) {
		return list[i]
	}
	return 0
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

// runs reports whether the command may still run: the kernel ends a cell a moment after its cordon.
func (w *Written) runs() bool {
	var pid int
	if _, err := fmt.Sscan(w.Cell, &pid); err != nil {
		return false // it never began
	}
	for range 500 {
		if processOf(pid) != w.Cell {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

// readerGone is the code of a command whose output nobody reads any more: that ends it as it should.
const readerGone = 128 + int(syscall.SIGPIPE)

// End places what a command wrote that ended by itself, and says what was not placed. What another one
// wrote stays in its layers.
func (w *Written) End(exit cell.Exit) string {
	if w.file == nil {
		return ""
	}
	defer w.close()
	empty, err := w.empty()
	switch {
	case err != nil:
		return w.stays(err.Error())
	case empty:
		return w.remove("")
	case exit.Reason != cell.Exited || exit.Killed && exit.Code != readerGone:
		return w.stays("the command did not end by itself")
	}
	return w.place()
}

func (w *Written) close() {
	if w.file != nil {
		w.file.Close() // and gives the lock back
		w.file = nil
	}
}

// remove removes the directory, and adds to a text that it cannot.
func (w *Written) remove(text string) string {
	said, err := w.putBack()
	if text = strings.TrimSpace(text + "\n" + said); err != nil {
		return text
	}
	if err := state.EraseExecution(w.at); err != nil {
		text = strings.TrimSpace(text + "\n" + fmt.Sprintf("%s cannot be removed: %v", w.at, err))
	}
	return text
}

// putBack puts back what made way when cordon was killed, and says what it could not put there.
func (w *Written) putBack() (string, error) {
	kept, err := follow.Layer{Aside: asideIn(filepath.Dir(filepath.Dir(w.at))), Spare: w.spare()}.PutBack()
	lines := keptLines(follow.Placed{Kept: kept})
	if err != nil {
		lines = append(lines, fault.OneLine(err))
	}
	return strings.Join(lines, "\n"), err
}

// said is what the command wrote, for a person.
func (w *Written) said() string {
	return fmt.Sprintf("what %s wrote in %s", legible.Line(w.Command[0]), legible.Line(strings.Join(w.Dirs, ", ")))
}

// stays says what is to be typed about layers that were not placed.
func (w *Written) stays(why string) string {
	return fmt.Sprintf("%s was not placed: %s. To place it: cordon exec --place %s; to drop it: cordon exec --drop %s", w.said(), why, w.id(), w.id())
}

func (w *Written) empty() (bool, error) {
	for i := range w.Dirs {
		empty, err := w.layer(i).Empty()
		if err != nil || !empty {
			return false, err
		}
	}
	return true, nil
}

// layer is the layer of one of the directories.
func (w *Written) layer(i int) follow.Layer {
	return follow.Layer{
		Upper: worktree.Upper(w.layers(), layerOf(i)), Into: w.Dirs[i], Inode: inodeAt(w.Inodes, i),
		Since: unix.NsecToTimespec(w.Since[0]*int64(time.Second) + w.Since[1]), Aside: asideIn(filepath.Dir(filepath.Dir(w.at))), Spare: w.spare(),
	}
}

// spare is where makes way what the command removed.
func (w *Written) spare() string { return filepath.Join(w.at, "spare") }

// asideIn is a new place in cordon's state for what is kept aside.
func asideIn(root string) string {
	return filepath.Join(root, "aside", time.Now().UTC().Format("20060102T150405.000000"))
}

// place places all layers and says what was not placed.
func (w *Written) place() string {
	rules, err := policy.Compile(w.Policy, policy.Location{Worktree: w.Top, Home: filepath.Clean(w.Home)})
	if err != nil {
		return w.stays(err.Error())
	}
	j, err := newJudge(context.Background(), judged{
		dirs: w.Dirs, typed: w.Typed, own: w.Own, top: w.Top, rules: rules, denies: true, hidden: w.Hidden,
	})
	if err != nil {
		return w.stays(fault.OneLine(err))
	}
	var all follow.Placed
	for i := range w.Dirs {
		placed, failed := j.place(w.layer(i))
		all.Kept, all.More = append(all.Kept, placed.Kept...), all.More+placed.More
		err = errors.Join(err, failed)
	}
	lines := append(keptLines(all), j.careful()...)
	if err != nil {
		lines = append(lines, w.stays(fault.OneLine(err)))
		return strings.Join(lines, "\n")
	}
	return w.remove(strings.Join(lines, "\n"))
}

// keptLines say what was not placed.
func keptLines(p follow.Placed) []string {
	const most = 20
	var lines []string
	for _, k := range p.Kept[:min(most, len(p.Kept))] {
		lines = append(lines, keptLine(k))
	}
	if n := len(p.Kept) - len(lines) + p.More; n > 0 {
		lines = append(lines, fmt.Sprintf("and %d more of these", n))
	}
	return lines
}

func keptLine(k follow.Kept) string {
	if k.At == "" {
		return fmt.Sprintf("did not remove %s: %s", legible.Line(k.Path), legible.Line(k.Why))
	}
	return fmt.Sprintf("kept %s aside as %s: %s", legible.Line(k.Path), legible.Line(k.At), legible.Line(k.Why))
}

// Unplaced says what commands wrote that did not end by themselves, and removes what is left of those that
// wrote nothing.
func Unplaced() string {
	var lines []string
	for _, w := range unplaced() {
		if text := w.settle(); text != "" {
			lines = append(lines, text)
		}
		w.close()
	}
	return strings.Join(lines, "\n")
}

// settle says what there is to decide; "" for nothing.
func (w *Written) settle() string {
	back, _ := w.putBack() // it says what failed
	empty, err := w.empty()
	switch {
	case err != nil:
		back += "\n" + w.stays(err.Error())
	case empty:
		back = w.remove(back)
	default:
		back += "\n" + w.stays("the command or cordon was killed")
	}
	return strings.TrimSpace(back)
}

// unplaced takes the records of commands that no cordon looks after any more.
func unplaced() []*Written {
	var list []*Written
	for _, at := range state.ExecutionsNow() {
		if w := take(at); w != nil {
			list = append(list, w)
		}
	}
	return list
}

// take locks the record of a command that has ended; nil for one that runs, or was dealt with.
func take(at string) *Written {
	f, err := plainfile.Open(filepath.Join(at, state.ExecutionRecord), os.O_RDWR)
	if err != nil {
		removeDraft(at)
		return nil
	}
	w := &Written{at: at, file: f}
	var there os.FileInfo
	mine, err := f.Stat()
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err == nil {
		there, err = os.Lstat(f.Name())
	}
	if err == nil {
		if err = json.NewDecoder(f).Decode(w); err != nil {
			removeDraft(at)
		}
	}
	if err != nil || !os.SameFile(mine, there) || len(w.Command) == 0 || w.runs() {
		w.close()
		return nil
	}
	return w
}

// removeDraft removes what a cordon made that was killed before its command began. What is younger than a minute
// may be made at this moment. Where a command wrote something, it stays, whatever became of the record.
func removeDraft(at string) {
	layers, err := os.ReadDir((&Written{at: at}).layers())
	if len(layers) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	if fi, err := os.Lstat(at); err == nil && time.Since(fi.ModTime()) > time.Minute {
		_ = state.EraseExecution(at) // the next cordon tries again
	}
}

// Settle places or drops what a command wrote that did not end by itself.
func Settle(id string, place bool) (string, error) {
	list := unplaced()
	defer func() {
		for _, w := range list {
			w.close()
		}
	}()
	i := slices.IndexFunc(list, func(w *Written) bool { return w.id() == id })
	switch {
	case i < 0:
		return "", fault.Refuse("cordon keeps nothing under the name %s: --place and --drop take a name that cordon has told you", id)
	case place:
		return strings.TrimSpace("placing " + list[i].said() + "\n" + list[i].place()), nil
	}
	return strings.TrimSpace("dropping " + list[i].said() + "\n" + list[i].remove("")), nil
}
