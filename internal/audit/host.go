package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
	"cordon/internal/legible"
	"cordon/internal/plainfile"
)

// HostState is the state of the host repository at one moment: the baseline of
// the tripwire, and what it is compared with.
type HostState struct {
	Refs      []git.Ref         `json:"refs"`
	Control   map[string]string `json:"control"` // file in the git directory → what it is
	Checkouts []CheckoutState   `json:"checkouts"`
	Brief     bool              `json:"brief,omitempty"` // files and indexes of the checkouts were not looked at
	// Settings are those of git's configuration: name among Control → key → digest of the
	// values, which may be secret. They name a change and decide nothing.
	Settings map[string]map[string]string `json:"+settings,omitempty"`
}

// CheckoutState is one working tree of the host, linked worktrees of other
// tools included.
type CheckoutState struct {
	git.Checkout
	Entries []StatusEntry `json:"status"`
	Hidden  []string      `json:"hidden,omitempty"`
	Partial bool          `json:"partial,omitempty"` // too much to hash: the rest is compared by name only
	Present bool          `json:"present"`
	Dot     string        `json:"dot"` // what its .git is
	// Stats are the tracked files as the file system sees them: a file whose
	// numbers changed is compared with the index, whatever git status says. They are
	// taken where a worker could have written the files and the index.
	Stats map[string]string `json:"stats,omitempty"`
}

// StatusEntry is a path that differs from HEAD, with its content.
type StatusEntry struct {
	Code    string `json:"code"`
	Path    Path   `json:"path"`
	Content string `json:"content,omitempty"`
}

const (
	maxHashed     = 5000
	maxHashedSize = 64 << 20
)

// controlFiles are the parts of a git directory that decide what git does or
// runs. Directories are read whole. info/refs is none: the operator's gc writes
// it.
var controlFiles = []string{
	"config", "config.worktree", "hooks", "shallow", "description",
	"info/attributes", "info/exclude", "info/grafts", "info/sparse-checkout",
	"objects/info/alternates", "objects/info/http-alternates",
	"commondir", "gitdir", "HEAD", "remotes", "branches",
	"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply", "sequencer",
	"logs/refs/stash",
}

// Depth says how much of the host is looked at.
type Depth int

// Shallow believes the host's index, as far as git does. Deep looks at every tracked
// file. Brief looks at refs and control files only: it will do where no worker can write,
// because a change is then the operator's own.
const (
	Shallow Depth = iota
	Deep
	Brief
)

// Depth is how much was looked at.
func (s *HostState) Depth() Depth {
	if s.Brief {
		return Brief
	}
	for _, c := range s.Checkouts {
		if c.Stats != nil {
			return Deep
		}
	}
	return Shallow
}

// CaptureHost reads the state of the host repository.
func CaptureHost(ctx context.Context, host git.Host, depth Depth) (*HostState, error) {
	if err := checkHost(host.Dir); err != nil {
		return nil, err
	}
	if depth != Brief {
		host = host.Fresh() // a worker could have written what git reads
	}
	s := &HostState{Control: map[string]string{}, Settings: map[string]map[string]string{}, Brief: depth == Brief}
	var err error
	if s.Refs, err = host.Refs(ctx); err != nil {
		return nil, err
	}
	for i := range s.Refs {
		s.Refs[i].Name = encodable(s.Refs[i].Name)
	}
	checkouts, err := host.Checkouts(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.control(ctx, host, checkouts); err != nil {
		return nil, err
	}
	for _, c := range checkouts {
		cs, err := captureCheckout(ctx, host, c, depth)
		if err != nil {
			return nil, err
		}
		s.Checkouts = append(s.Checkouts, cs)
	}
	return s, nil
}

// control records what decides about git in the repository, in the private
// parts of its worktrees and in its submodules.
func (s *HostState) control(ctx context.Context, host git.Host, checkouts []git.Checkout) error {
	dirs, err := gitDirs(host.Dir)
	if err != nil {
		return err
	}
	for _, d := range dirs {
		for _, f := range controlFiles {
			if err := s.record(filepath.Join(host.Dir, d, f), filepath.Join(d, f), 0); err != nil {
				return err
			}
		}
	}
	for _, c := range checkouts {
		if err := s.steering(ctx, host, c); err != nil {
			return err
		}
	}
	return nil
}

// steering records what lies outside the git directory and steers git in a
// checkout: the hooks it is told to take, the configuration it is told to read.
func (s *HostState) steering(ctx context.Context, host git.Host, c git.Checkout) error {
	obeyed, err := host.Steering(ctx, c)
	if err != nil {
		return err
	}
	if obeyed.Hooks != "" {
		if err := s.record(obeyed.Hooks, obeyed.Hooks, 0); err != nil {
			return err
		}
	}
	for _, f := range obeyed.Files {
		name := f
		if rel, err := filepath.Rel(host.Dir, f); err == nil && filepath.IsLocal(rel) {
			name = rel // as it is called among the control files
		}
		if err := s.record(f, name, 0); err != nil {
			return err
		}
		s.Settings[Path(name).String()] = digestEach(obeyed.Values[f])
	}
	return nil
}

// digestEach describes the values of settings without telling them.
func digestEach(values map[string]string) map[string]string {
	digests := map[string]string{}
	for key, value := range values {
		sum := sha256.Sum256([]byte(value))
		digests[Path(key).String()] = hex.EncodeToString(sum[:8])
	}
	return digests
}

// maxLevels is how deep a directory of control files is read.
const maxLevels = 20

// record notes a file, a link with what it leads to, or every file below a
// directory. A file that is not there is noted by its absence.
func (s *HostState) record(path, name string, level int) error {
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	key := Path(name).String() // the state is kept as JSON, which has no room for other bytes
	if fi.Mode()&fs.ModeSymlink == 0 && !fi.IsDir() {
		s.Control[key] = fmt.Sprintf("%v %s", fi.Mode(), contentOf(path))
		return nil
	}
	if !fi.IsDir() {
		to, err := os.Readlink(path)
		if err != nil {
			return err
		}
		s.Control[key] = "link to " + Path(to).String() + " " + contentOf(path)
		if fi, err := os.Stat(path); err != nil || !fi.IsDir() {
			return nil
		}
	}
	return s.recordAll(path, name, level+1)
}

func (s *HostState) recordAll(path, name string, level int) error {
	if level > maxLevels {
		return fmt.Errorf("%s: more than %d directories deep", legible.Line(name), maxLevels)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := s.record(filepath.Join(path, e.Name()), filepath.Join(name, e.Name()), level); err != nil {
			return err
		}
	}
	return nil
}

// contentOf describes the content of a file of the operator's: its SHA-256, or
// why there is none.
func contentOf(path string) string {
	f, err := plainfile.OpenLinked(path)
	if errors.Is(err, plainfile.ErrKind) {
		return "not a regular file"
	}
	if err != nil {
		return "unreadable"
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return "unreadable"
	}
	if fi.Size() > maxHashedSize {
		return fmt.Sprintf("%d bytes, %s", fi.Size(), statOf(path))
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxHashedSize+1)); err != nil { // it may grow
		return "unreadable"
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func captureCheckout(ctx context.Context, host git.Host, c git.Checkout, depth Depth) (CheckoutState, error) {
	cs := CheckoutState{Checkout: c}
	cs.Top, cs.GitDir = encodable(c.Top), encodable(c.GitDir)
	if _, err := os.Stat(c.Top); errors.Is(err, fs.ErrNotExist) {
		return cs, nil
	}
	cs.Present, cs.Dot = true, dotGit(c)
	if depth == Brief {
		return cs, nil
	}
	var index map[string]git.Entry
	var err error
	if depth == Deep { // before git looks
		if index, err = host.Index(ctx, c); err != nil {
			return cs, err
		}
		cs.Stats = statAll(c.Top, index)
	}
	changes, err := host.Status(ctx, c, true)
	if err != nil {
		return cs, err
	}
	if index == nil && slices.ContainsFunc(changes, git.Change.Staged) {
		if index, err = host.Index(ctx, c); err != nil {
			return cs, err
		}
	}
	for i, ch := range changes {
		e := StatusEntry{Code: ch.Code, Path: Path(ch.Path)}
		if i < maxHashed {
			e.Content = linkOrContent(filepath.Join(c.Top, ch.Path))
		}
		if staged, ok := index[ch.Path]; ok && ch.Staged() {
			e.Content += " staged " + staged.Mode.String() + " " + staged.OID.Short()
		}
		cs.Entries = append(cs.Entries, e)
	}
	cs.Partial = len(changes) > maxHashed
	hidden, err := host.HiddenBits(ctx, c)
	for _, h := range hidden {
		cs.Hidden = append(cs.Hidden, Path(h).String())
	}
	return cs, err
}

// dotGit is what a checkout's .git entry is: the operator's git follows it.
func dotGit(c git.Checkout) string {
	path := filepath.Join(c.Top, ".git")
	if fi, err := os.Lstat(path); err == nil && fi.IsDir() {
		return "directory"
	}
	return linkOrContent(path)
}

// statAll describes every tracked file without reading it.
func statAll(top string, index map[string]git.Entry) map[string]string {
	stats := make(map[string]string, len(index))
	for p, e := range index {
		if e.Mode != git.Gitlink && utf8.ValidString(p) {
			stats[p] = statOf(filepath.Join(top, p))
		}
	}
	return stats
}

// statOf are the numbers of a file that change when it is written. The time of
// the last change of its inode cannot be set by a program.
func statOf(path string) string {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return "absent"
	}
	return fmt.Sprintf("%d %o %d %d %d", st.Ino, st.Mode, st.Size, st.Mtim.Nano(), st.Ctim.Nano())
}

// encodable is a name as JSON can keep it.
func encodable(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return Path(name).String()
}

func linkOrContent(path string) string {
	if to, err := os.Readlink(path); err == nil {
		return "link to " + Path(to).String()
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return "absent"
	}
	return contentOf(path)
}
