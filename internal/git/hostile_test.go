package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"
)

// trap is a repository in which everything that git can be told to run writes a
// file that says so.
type trap struct {
	t       *testing.T
	marks   string
	host    Host
	main    Checkout
	linked  Checkout
	base    OID // the first commit of main
	tip     OID // the last one
	side    OID // conflicts with main in merged.mrg
	grafted OID // a commit whose parent a graft takes away
	missing OID // an object that only a promisor has
	blob    OID // replaced by another
}

// program makes a program that notes that it ran; one whose name ends like a
// filter's passes its input on, the others fail.
func (tr *trap) program(name string) string {
	tr.t.Helper()
	then := "exit 1"
	if strings.HasSuffix(name, "-clean") || strings.HasSuffix(name, "-smudge") {
		then = "exec cat"
	}
	file := filepath.Join(filepath.Dir(tr.marks), "bin", name)
	write(tr.t, file, fmt.Sprintf("#!/bin/sh\n: >'%s/%s'\n%s\n", tr.marks, name, then))
	if err := os.Chmod(file, 0o755); err != nil {
		tr.t.Fatal(err)
	}
	return file
}

// sprung lists what ran since it was last asked.
func (tr *trap) sprung() []string {
	tr.t.Helper()
	entries, err := os.ReadDir(tr.marks)
	if err != nil {
		tr.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		if err := os.Remove(filepath.Join(tr.marks, e.Name())); err != nil {
			tr.t.Fatal(err)
		}
	}
	return names
}

var everyHook = []string{
	"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg",
	"commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update",
	"proc-receive", "post-receive", "post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc",
	"post-rewrite", "sendemail-validate", "fsmonitor-watchman", "post-index-change",
}

// signed is a commit object with signatures that git would have checked by a
// program.
const signed = `tree %s
parent %s
author Operator <operator@example.com> 1700000000 +0000
committer Operator <operator@example.com> 1700000000 +0000
gpgsig -----BEGIN SSH SIGNATURE-----
 U1NIU0lHAAAAAQ==
 -----END SSH SIGNATURE-----

signed
`

func newTrap(t *testing.T) *trap {
	t.Helper()
	place, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tr := &trap{t: t, marks: filepath.Join(place, "marks")}
	if err := os.Mkdir(tr.marks, 0o755); err != nil {
		t.Fatal(err)
	}
	tr.host, tr.main = host(t, map[string]string{
		"a.txt": "a\n", "equals.dat": "e\n", "wt.wtf": "w\n", "inc.inc": "i\n", "merged.mrg": "1\n", "ignored/.keep": "k\n", ".gitignore": "*.ign\n",
	})
	tr.base = head(t, tr.host.Top)
	tr.history()
	tr.arm()
	return tr
}

// history makes everything the functions are asked about, before the traps are
// set.
func (tr *trap) history() {
	t, top := tr.t, tr.host.Top
	plain(t, top, "checkout", "-q", "-b", "side")
	tr.side = commit(t, top, "side", map[string]string{"merged.mrg": "2\n", "new.txt": "n\n"})
	plain(t, top, "checkout", "-q", "-b", "grafted", "main")
	tr.grafted = commit(t, top, "grafted", nil)
	plain(t, top, "checkout", "-q", "main")
	commit(t, top, "main", map[string]string{"merged.mrg": "3\n", "plain.md": "p\n"})
	object := fmt.Sprintf(signed, plain(t, top, "rev-parse", "HEAD^{tree}"), head(t, top))
	out, err := tryPlain(t, top, object, "hash-object", "-t", "commit", "-w", "--stdin")
	if err != nil {
		t.Fatal(out)
	}
	plain(t, top, "reset", "-q", "--hard", out)
	tr.tip = head(t, top)
	tr.blob = OID(plain(t, top, "rev-parse", "HEAD:a.txt"))
	linked := filepath.Join(filepath.Dir(tr.marks), "linked")
	plain(t, top, "worktree", "add", "-q", linked, "side")
	tr.linked = Checkout{Top: linked, GitDir: filepath.Join(tr.host.Dir, "worktrees", "linked"), Branch: "refs/heads/side"}
	plain(t, top, "replace", string(tr.blob), plain(t, top, "rev-parse", "HEAD:merged.mrg"))
	tr.missing = SHA1.Blob([]byte("nobody has this"))
}

// arm sets the traps.
func (tr *trap) arm() {
	t, dir := tr.t, tr.host.Dir
	for _, h := range everyHook {
		write(t, filepath.Join(dir, "hooks", h), "#!/bin/sh\nexec "+tr.program("hook-"+h)+"\n")
		if err := os.Chmod(filepath.Join(dir, "hooks", h), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "info", "attributes"), strings.Join([]string{
		"*.txt filter=x diff=x", "*.dat filter=a=b", "*.wtf filter=wt", "*.inc filter=inc", "*.mrg merge=x diff=x", "",
	}, "\n"))
	write(t, filepath.Join(dir, "evil.inc"), "[filter \"inc\"]\n\tclean = "+tr.program("included-clean")+"\n\tsmudge = "+tr.program("included-smudge")+"\n")
	for _, kv := range [][2]string{
		{"core.fsmonitor", tr.program("fsmonitor")},
		{"core.pager", tr.program("pager")}, {"pager.status", "true"},
		{"core.editor", tr.program("editor")}, {"core.askPass", tr.program("askpass")},
		{"core.sshCommand", tr.program("ssh")}, {"core.alternateRefsCommand", tr.program("alternate-refs")},
		{"alias.caught", "!" + tr.program("alias")}, {"alias.status", "!" + tr.program("alias-status")},
		{"filter.x.clean", tr.program("filter-clean")}, {"filter.x.smudge", tr.program("filter-smudge")}, {"filter.x.required", "true"},
		{"filter.a=b.clean", tr.program("equals-clean")}, {"filter.a=b.smudge", tr.program("equals-smudge")},
		{"diff.external", tr.program("external-diff")},
		{"diff.x.textconv", tr.program("textconv")}, {"diff.x.command", tr.program("diff-command")},
		{"merge.x.driver", tr.program("merge-driver")},
		{"gpg.program", tr.program("gpg")}, {"gpg.ssh.program", tr.program("gpg-ssh")}, {"gpg.ssh.allowedSignersFile", "/dev/null"},
		{"log.showSignature", "true"}, {"commit.gpgSign", "true"},
		{"credential.helper", "!" + tr.program("credential")},
		{"url.ext::" + tr.program("instead-of") + " .insteadOf", "https://example.invalid/"},
		{"protocol.ext.allow", "always"}, {"protocol.allow", "always"},
		{"core.repositoryFormatVersion", "1"}, {"extensions.partialClone", "evil"},
		{"remote.evil.promisor", "true"}, {"remote.evil.url", "ext::" + tr.program("promisor")},
		{"include.path", filepath.Join(dir, "evil.inc")},
		{"core.commitGraph", "true"}, {"fetch.writeCommitGraph", "true"}, {"gc.auto", "1"},
	} {
		plain(t, "/", "config", "--file", filepath.Join(dir, "config"), kv[0], kv[1])
	}
	for _, h := range everyHook { // git knows these since 2.54
		for key, value := range map[string]string{"event": h, "command": tr.program("configured-" + h), "enabled": "true"} {
			plain(t, "/", "config", "--file", filepath.Join(dir, "evil.inc"), "hook.a=b "+h+"."+key, value)
		}
	}
	// A linked worktree has configuration of its own.
	plain(t, "/", "config", "--file", filepath.Join(dir, "config"), "extensions.worktreeConfig", "true")
	write(t, filepath.Join(tr.linked.GitDir, "config.worktree"),
		"[filter \"wt\"]\n\tclean = "+tr.program("config-worktree-clean")+"\n\tsmudge = "+tr.program("config-worktree-smudge")+"\n")
	write(t, filepath.Join(dir, "info", "grafts"), tr.grafted.line())
	tr.touchAll()
	tr.sprung()
}

func (o OID) line() string { return string(o) + "\n" }

// touchAll makes every file of both checkouts look changed, so that its content
// has to be read, through whatever filter is configured.
func (tr *trap) touchAll() {
	for _, top := range []string{tr.host.Top, tr.linked.Top} {
		for _, name := range []string{"a.txt", "equals.dat", "wt.wtf", "inc.inc", "merged.mrg"} {
			full := filepath.Join(top, name)
			content := read(tr.t, full)
			if err := os.Remove(full); err != nil {
				tr.t.Fatal(err)
			}
			write(tr.t, full, content)
		}
	}
}

// TestTrapsAreSet is the positive control: plain git runs each of the programs.
func TestTrapsAreSet(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	top := tr.host.Top
	sprung := map[string]bool{}
	spring := func(dir, stdin string, args ...string) {
		tr.touchAll()
		_, _ = tryPlain(t, dir, stdin, args...) // most of them fail once their program has run
		for _, name := range tr.sprung() {
			sprung[name] = true
		}
	}
	spring(top, "", "status")
	spring(tr.linked.Top, "", "-c", "core.fsmonitor=false", "status")
	spring(top, "", "-c", "core.fsmonitor=false", "add", "-A", "--renormalize")
	spring(top, "", "-c", "core.fsmonitor=false", "archive", "--worktree-attributes", "HEAD")
	spring(tr.linked.Top, "", "-c", "core.fsmonitor=false", "archive", "--worktree-attributes", "HEAD")
	spring(top, "", "caught")
	spring(top, "", "log", "-1")
	spring(top, "x", "commit-tree", "-S", "HEAD^{tree}")
	spring(top, "", "--paginate", "--version")
	spring(top, "", "diff", string(tr.base), "main", "--", "plain.md")
	spring(top, "", "-c", "diff.external=", "diff", string(tr.base), "main", "--", "merged.mrg")
	spring(top, "", "-c", "diff.external=", "show", string(tr.side), "--", "merged.mrg")
	spring(top, "", "merge-tree", "--write-tree", "main", "side")
	spring(top, "", "cat-file", "blob", string(tr.missing))
	spring(top, "", "ls-remote", "https://example.invalid/x")
	spring(top, "", "ls-remote", "ssh://example.invalid/x")
	spring(top, "protocol=https\nhost=example.invalid\n\n", "credential", "fill")
	spring(top, "", "update-ref", "refs/heads/probe", "HEAD")
	want := []string{
		"fsmonitor", "filter-clean", "filter-smudge", "equals-clean", "equals-smudge", "included-clean", "included-smudge",
		"config-worktree-clean", "config-worktree-smudge", "alias", "gpg", "gpg-ssh", "external-diff", "diff-command",
		"merge-driver", "promisor", "instead-of", "ssh", "credential", "hook-reference-transaction", "hook-post-index-change",
	}
	if !tr.host.bin.Version.Less(Version{2, 54}) {
		want = append(want, "configured-reference-transaction", "configured-post-index-change")
	}
	for _, want := range want {
		if !sprung[want] {
			t.Errorf("plain git did not run %s: the trap proves nothing", want)
		}
	}
	if got := plain(t, top, "cat-file", "blob", string(tr.blob)); got != "3" {
		t.Errorf("plain git shows %q for a replaced blob, want the replacement", got)
	}
	if got := plain(t, top, "-c", "advice.graftFileDeprecated=false", "rev-list", "--count", "grafted"); got != "1" {
		t.Errorf("plain git counts %s commits, want 1 because of the graft", got)
	}
}

// TestNothingRuns calls every exported function on the repository of traps.
func TestNothingRuns(t *testing.T) {
	tr := newTrap(t)
	for name, value := range map[string]string{
		"GIT_DIR": "/nonexistent", "GIT_WORK_TREE": "/nonexistent", "GIT_EXTERNAL_DIFF": tr.program("env-diff"),
		"GIT_SSH_COMMAND": tr.program("env-ssh"), "GIT_PAGER": tr.program("env-pager"), "GIT_EDITOR": tr.program("env-editor"),
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": tr.program("env-config"),
		"GIT_CONFIG_PARAMETERS": "'core.fsmonitor=" + tr.program("env-parameters") + "'",
		"GIT_TRACE":             filepath.Join(tr.marks, "trace"), "GIT_ALLOW_PROTOCOL": "ext", "GIT_INDEX_FILE": "/nonexistent",
		"GIT_TEMPLATE_DIR": tr.host.Dir, "GIT_OBJECT_DIRECTORY": "/nonexistent", "GIT_NAMESPACE": "x", "GIT_REPLACE_REF_BASE": "refs/x",
	} {
		t.Setenv(name, value)
	}
	tests := tr.calls()
	for _, name := range exported(reflect.TypeFor[Host]()) {
		if tests[name] == nil {
			t.Errorf("%s is not called on the repository of traps", name)
		}
	}
	for _, name := range sortedNames(tests) {
		tr.touchAll()
		if err := tests[name](context.Background()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, ran := range tr.sprung() {
			t.Errorf("%s ran %s", name, ran)
		}
	}
}

// Whatever git is here, hooks that a configuration defines are switched off by their names for the
// calls that could run one.
func TestConfiguredHooksAreOff(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _ := host(t, map[string]string{"a": "a\n"})
	config := filepath.Join(h.Dir, "config")
	if off, err := h.withoutHooks(ctx); err != nil || len(off) > 0 {
		t.Errorf("without any: %q, %v", off, err)
	}
	write(t, config, read(t, config)+"[Hook \"x.y=z\"]\n\tevent = update\n\tenabled = true\n[include]\n\tpath = more\n")
	write(t, filepath.Join(h.Dir, "more"), "[hook \"more\"]\n\tcommand = false\n")
	off, err := h.withoutHooks(ctx)
	for _, want := range []string{"hook.x.y=z.enabled", "hook.more.enabled"} {
		if err != nil || !slices.Contains(off, setting{want, "false"}) {
			t.Errorf("%s is not off: %q, %v", want, off, err)
		}
	}
}

func exported(typ reflect.Type) []string {
	var names []string
	for i := range typ.NumMethod() {
		names = append(names, typ.Method(i).Name)
	}
	return names
}

func sortedNames(m map[string]func(context.Context) error) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
