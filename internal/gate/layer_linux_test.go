package gate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"cordon/internal/audit"
	"cordon/internal/git"
	"cordon/internal/policy"
)

// layer is an upper layer as overlayfs leaves it, over the site's base.
type layer struct {
	*site
	upper string
}

func newLayer(t *testing.T) *layer {
	s := newSite(t)
	for name, content := range map[string]string{
		"src/b.txt": "b\n", "src/deep/c.txt": "c\n", "run": "#!r\n", "was-file": "f\n", "was-dir/a": "1\n", "was-dir/b/c": "2\n", "kept/x": "x\n", "kept/y": "y\n",
	} {
		s.write(filepath.Join(s.host.Top, name), content)
	}
	if err := os.Symlink("src/a.txt", filepath.Join(s.host.Top, "link")); err != nil {
		t.Fatal(err)
	}
	s.git("add", ".")
	s.git("commit", "-q", "-m", "more")
	s.base = s.ref("refs/heads/main")
	return &layer{s, t.TempDir()}
}

func (l *layer) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *layer) at(name string) string { return filepath.Join(l.upper, name) }

// removed is what the kernel leaves where a name was.
func (l *layer) removed(name string) {
	l.t.Helper()
	l.must(os.MkdirAll(filepath.Dir(l.at(name)), 0o755))
	l.must(unix.Mknod(l.at(name), unix.S_IFCHR, 0))
}

// fill makes every kind of change that may land.
func (l *layer) fill() {
	l.t.Helper()
	l.write(l.at("src/a.txt"), "changed\n")
	l.write(l.at("src/new.txt"), "new\n")
	l.removed("src/b.txt")
	l.removed("docs")
	l.write(l.at("was-file/in"), "in\n")
	l.write(l.at("was-dir"), "a file\n")
	l.write(l.at("run"), "#!r\n")
	l.must(os.Chmod(l.at("run"), 0o755))
	l.must(os.Symlink("src/new.txt", l.at("link")))
	l.write(l.at("kept/x"), "x\n")
	if err := unix.Setxattr(l.at("kept"), "user.overlay.opaque", []byte("y"), 0); err != nil {
		l.t.Skipf("this file system has no user attributes: %v", err)
	}
}

// audit says what of the layer may land.
func (l *layer) audit() []audit.Finding {
	l.t.Helper()
	ctx := context.Background()
	base := must(l.host.Listing(ctx, l.base))(l.t)
	defer base.Close()
	rules := must(policy.Compile(policy.Policy{Filesystem: policy.Filesystem{WriteRoots: []string{"."}}}, policy.Location{Worktree: "/w", Home: "/h"}))(l.t)
	list := must(audit.Collect(ctx, audit.Tree{
		Top: l.upper, Layer: true, Format: l.host.Format, Base: base, Rules: rules,
		Ignored: func(context.Context, []string) (map[string]bool, error) { return nil, nil },
	}))(l.t)
	found := audit.Classify(list, rules)
	for _, f := range found {
		if f.Class != audit.Landing {
			l.t.Fatalf("%s is %s %s: %s", f.Path, f.Kind, f.Class, f.Rule)
		}
	}
	return found
}

// What git makes of the audited files of a layer is what the audit said, for
// every kind of change.
func TestLayerAgreesWithGit(t *testing.T) {
	l := newLayer(t)
	l.fill()
	found := l.audit()
	commit := must(l.gate.Snapshot(context.Background(), "x", l.base, l.upper, found))(t)
	var got []string
	for _, f := range must(l.gate.Repo().Tree(context.Background(), commit))(t) {
		got = append(got, f.Mode.String()[3:]+" "+f.Path)
	}
	want := "644 kept/x,000 link,755 run,644 src/a.txt,644 src/deep/c.txt,644 src/new.txt,644 was-dir,644 was-file/in"
	if strings.Join(got, ",") != want {
		t.Errorf("it holds %s", strings.Join(got, ","))
	}
}

// A layer that is not what was audited any more, or an audit that is not what is
// there, makes no snapshot.
func TestDisagreementWithGitIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(l *layer)
		drop  string
		lie   func(f *audit.Finding)
	}{
		"changed":                     {spoil: func(l *layer) { l.write(l.at("src/a.txt"), "chAnged\n") }},
		"longer":                      {spoil: func(l *layer) { l.write(l.at("src/new.txt"), "new and more\n") }},
		"gone":                        {spoil: func(l *layer) { l.must(os.Remove(l.at("src/new.txt"))) }},
		"removed in the layer":        {spoil: func(l *layer) { l.must(os.Remove(l.at("src/a.txt"))); l.removed("src/a.txt") }},
		"a link now":                  {spoil: func(l *layer) { l.must(os.Remove(l.at("run"))); l.must(os.Symlink("/etc/passwd", l.at("run"))) }},
		"a deletion was overlooked":   {drop: "was-dir/a"},
		"a deletion was overlooked 2": {drop: "was-file"},
		"another mode":                {lie: func(f *audit.Finding) { f.New.Mode = git.Regular }},
		"another content":             {lie: func(f *audit.Finding) { f.New.OID = git.SHA1.Blob([]byte("other")) }},
		"a deletion that is none":     {lie: func(f *audit.Finding) { f.Path, f.New = "src/none", git.Entry{} }},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLayer(t)
			l.fill()
			found := l.audit()
			var list []audit.Finding
			for _, f := range found {
				if c.lie != nil && f.Path == "run" {
					c.lie(&f)
				}
				if string(f.Path) != c.drop {
					list = append(list, f)
				}
			}
			if c.spoil != nil {
				c.spoil(l)
			}
			if commit, err := l.gate.Snapshot(context.Background(), "x", l.base, l.upper, list); err == nil {
				t.Errorf("a snapshot was taken: %s", commit)
			}
		})
	}
}

// What an audit does not list does not land, wherever it lies.
func TestWhatIsNotAuditedDoesNotLand(t *testing.T) {
	l := newLayer(t)
	l.fill()
	var list []audit.Finding
	for _, f := range l.audit() {
		if f.Path != "src/new.txt" {
			list = append(list, f)
		}
	}
	commit := must(l.gate.Snapshot(context.Background(), "x", l.base, l.upper, list))(t)
	for _, f := range must(l.gate.Repo().Tree(context.Background(), commit))(t) {
		if f.Path == "src/new.txt" {
			t.Error("a file that the audit did not list is in the snapshot")
		}
	}
}
