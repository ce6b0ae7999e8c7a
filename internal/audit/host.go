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
	"sort"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
)

// HostState is the state of the host repository at one moment: the baseline of
// the tripwire, and what it is compared with.
type HostState struct {
	Refs      []git.Ref         `json:"refs"`
	Control   map[string]string `json:"control"` // file in the git directory → what it is
	Checkouts []CheckoutState   `json:"checkouts"`
}

// CheckoutState is one working tree of the host, linked worktrees of other
// tools included.
type CheckoutState struct {
	git.Checkout
	Entries []StatusEntry `json:"status"`
	Hidden  []string      `json:"hidden,omitempty"`
	Partial bool          `json:"partial,omitempty"` // too much to hash: the rest is compared by name only
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
// runs. Directories are read whole.
var controlFiles = []string{
	"config", "config.worktree", "hooks", "info", "shallow", "description",
	"objects/info/alternates", "objects/info/http-alternates",
	"commondir", "gitdir", "HEAD",
}

// CaptureHost reads the state of the host repository.
func CaptureHost(ctx context.Context, host git.Host) (*HostState, error) {
	s := &HostState{Control: map[string]string{}}
	var err error
	if s.Refs, err = host.Refs(ctx); err != nil {
		return nil, err
	}
	if err := s.control(ctx, host); err != nil {
		return nil, err
	}
	checkouts, err := host.Checkouts(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range checkouts {
		cs, err := captureCheckout(ctx, host, c)
		if err != nil {
			return nil, err
		}
		s.Checkouts = append(s.Checkouts, cs)
	}
	return s, nil
}

func (s *HostState) control(ctx context.Context, host git.Host) error {
	dirs := []string{"."}
	entries, err := os.ReadDir(filepath.Join(host.Dir, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		dirs = append(dirs, filepath.Join("worktrees", e.Name()))
	}
	for _, d := range dirs {
		for _, f := range controlFiles {
			if err := s.record(filepath.Join(host.Dir, d, f), filepath.Join(d, f)); err != nil {
				return err
			}
		}
	}
	hooks, ok, err := host.ConfigValue(ctx, "core.hooksPath")
	if err != nil || !ok {
		return err
	}
	if !filepath.IsAbs(hooks) && host.Top != "" {
		hooks = filepath.Join(host.Top, hooks)
	}
	return s.record(hooks, "core.hooksPath")
}

// record notes a file, a link with what it leads to, or every file below a
// directory. A file that is not there is noted by its absence.
func (s *HostState) record(path, name string) error {
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case fi.IsDir():
		entries, err := os.ReadDir(path)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := s.record(filepath.Join(path, e.Name()), filepath.Join(name, e.Name())); err != nil {
				return err
			}
		}
		return nil
	case fi.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		if err != nil {
			return err
		}
		s.Control[name] = "link to " + to + " " + contentOf(path)
		return nil
	}
	s.Control[name] = fmt.Sprintf("%v %s", fi.Mode(), contentOf(path))
	return nil
}

// contentOf describes the content of a file of the operator's: its SHA-256, or
// why there is none.
func contentOf(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return "unreadable"
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() {
		return "not a regular file"
	}
	if fi.Size() > maxHashedSize {
		return fmt.Sprintf("%d bytes, %v", fi.Size(), fi.ModTime().UTC())
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "unreadable"
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func captureCheckout(ctx context.Context, host git.Host, c git.Checkout) (CheckoutState, error) {
	cs := CheckoutState{Checkout: c}
	if _, err := os.Stat(c.Top); errors.Is(err, fs.ErrNotExist) {
		return cs, nil
	}
	changes, err := host.Status(ctx, c, true)
	if err != nil {
		return cs, err
	}
	for i, ch := range changes {
		e := StatusEntry{Code: ch.Code, Path: Path(ch.Path)}
		if i < maxHashed {
			e.Content = linkOrContent(filepath.Join(c.Top, ch.Path))
		}
		cs.Entries = append(cs.Entries, e)
	}
	cs.Partial = len(changes) > maxHashed
	cs.Hidden, err = host.HiddenBits(ctx, c)
	return cs, err
}

func linkOrContent(path string) string {
	if to, err := os.Readlink(path); err == nil {
		return "link to " + to
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return "absent"
	}
	return contentOf(path)
}

// Expected says which changes of the host are accounted for.
type Expected struct {
	Landed        map[string][]git.OID // ref → values that cordon itself gave it meanwhile
	Workers       map[string]bool      // workers with journal entries meanwhile: cordon wrote their refs
	OwnRef        string               // of an adopted worktree: the branch it is on
	OwnGitDir     string               // of an adopted worktree: its private part, relative to the git directory
	OwnTop        string               // of an adopted worktree
	Committer     string               // the address in every commit of this worker
	OperatorWorks bool                 // the operator said that changes of their own are to be expected
}

// CompareHost lists what changed in the host and is not accounted for.
func CompareHost(ctx context.Context, host git.Repo, before, after *HostState, x Expected) []Finding {
	t := &tripwire{ctx: ctx, host: host, x: x}
	t.control(before.Control, after.Control)
	t.refs(before.Refs, after.Refs)
	t.checkouts(before.Checkouts, after.Checkouts)
	return t.found
}

type tripwire struct {
	ctx   context.Context
	host  git.Repo
	x     Expected
	found []Finding
}

const (
	byWorker  = "made by this worker, whose address its commits carry"
	byUnknown = "cannot be attributed: an unconfined worker, you or another program"
)

// report adds a finding. What nobody can be named for is a violation unless the
// operator said that they work there themselves.
func (t *tripwire) report(name, detail, who string, grave bool) {
	f := Finding{Class: Violation, Rule: who}
	f.Change = Change{Path: Path(name), Kind: HostChange, Source: "host", Detail: detail}
	if t.x.OperatorWorks && !grave {
		f.Class = Note
	}
	t.found = append(t.found, f)
}

// control files decide what the operator's git runs, so a change of one is
// grave whoever made it. HEAD is a ref and compared with them.
func (t *tripwire) control(before, after map[string]string) {
	for _, name := range keys(before, after) {
		b, a := before[name], after[name]
		if b == a || t.x.OwnGitDir != "" && strings.HasPrefix(name, t.x.OwnGitDir+"/") {
			continue
		}
		if strings.HasPrefix(name, "worktrees/") && b == "" && !strings.HasSuffix(name, "config.worktree") {
			t.report(".git/"+name, "appeared", byUnknown, false)
			continue
		}
		grave := filepath.Base(name) != "HEAD" && filepath.Base(name) != "gitdir"
		t.report(".git/"+name, describe(b, a), byUnknown, grave)
	}
}

func describe(before, after string) string {
	switch {
	case before == "":
		return "appeared: " + after
	case after == "":
		return "vanished: was " + before
	}
	return before + " → " + after
}

func (t *tripwire) refs(before, after []git.Ref) {
	b, a := refMap(before), refMap(after)
	for _, name := range keys(b, a) {
		if b[name] == a[name] || name == t.x.OwnRef || t.ours(name) || t.landed(name, a[name]) {
			continue
		}
		who, grave := t.author(b[name], a[name])
		t.report(name, describe(short(b[name]), short(a[name])), who, grave)
	}
}

// ours reports whether cordon wrote a ref of its own for a worker that did
// something meanwhile.
func (t *tripwire) ours(name string) bool {
	rest, ok := strings.CutPrefix(name, "refs/cordon/")
	if !ok {
		return false
	}
	parts := strings.Split(rest, "/")
	return len(parts) > 1 && t.x.Workers[parts[1]]
}

func (t *tripwire) landed(name, value string) bool {
	for _, oid := range t.x.Landed[name] {
		if string(oid) == value {
			return true
		}
	}
	return false
}

// author looks for the worker's address among the commits that a ref gained.
func (t *tripwire) author(before, after string) (string, bool) {
	if after == "" {
		return byUnknown, false
	}
	emails, err := t.host.Committers(t.ctx, git.OID(before), git.OID(after))
	if err != nil {
		return byUnknown + fmt.Sprintf(" (%v)", err), false
	}
	for _, e := range emails {
		if e == t.x.Committer {
			return byWorker, true
		}
	}
	return byUnknown, false
}

func refMap(refs []git.Ref) map[string]string {
	m := map[string]string{}
	for _, r := range refs {
		m[r.Name] = string(r.OID)
		if r.Symref != "" {
			m[r.Name] = r.Symref
		}
	}
	return m
}

func short(value string) string {
	if oid, err := git.ParseOID(value); err == nil {
		return oid.Short()
	}
	return value
}

func (t *tripwire) checkouts(before, after []CheckoutState) {
	was := map[string]CheckoutState{}
	for _, c := range before {
		was[c.Top] = c
	}
	for _, c := range after {
		b, ok := was[c.Top]
		delete(was, c.Top)
		if ok && c.Top != t.x.OwnTop {
			t.status(b, c)
		}
	}
	for _, top := range keys(was, nil) {
		t.report("worktree "+top, "vanished", byUnknown, false)
	}
}

func (t *tripwire) status(before, after CheckoutState) {
	b, a := statusMap(before), statusMap(after)
	for _, p := range keys(b, a) {
		if b[p] != a[p] {
			t.report(filepath.Join(after.Top, p), describe(b[p], a[p]), byUnknown, false)
		}
	}
	if strings.Join(before.Hidden, "\x00") != strings.Join(after.Hidden, "\x00") {
		t.report(after.Top+" (index)", "entries are hidden from git status: "+Path(strings.Join(after.Hidden, ", ")).String(), byUnknown, true)
	}
}

func statusMap(c CheckoutState) map[string]string {
	m := map[string]string{}
	for _, e := range c.Entries {
		m[string(e.Path)] = strings.TrimSpace(e.Code + " " + e.Content)
	}
	return m
}

// keys are the names of two maps, sorted.
func keys[V any](a, b map[string]V) []string {
	var list []string
	for k := range a {
		list = append(list, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			list = append(list, k)
		}
	}
	sort.Strings(list)
	return list
}
