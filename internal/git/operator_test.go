package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The operator's own files count, those of the repository only for plain values, and
// those in a tree for nothing.
func TestOperator(t *testing.T) {
	r, _ := host(t, map[string]string{"a": "a"})
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, ".gitconfig"))
	inTree := filepath.Join(r.Top, "shared.inc")
	write(t, inTree, "[core]\n\teditor = in-tree\n[user]\n\tname = In Tree\n")
	write(t, filepath.Join(home, "work.inc"), "[user]\n\temail = work@example.com\n")
	write(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = Me\n[core]\n\teditor = mine\n[include]\n\tpath = "+inTree+
		"\n[includeIf \"gitdir:"+r.Dir+"\"]\n\tpath = work.inc\n")
	write(t, filepath.Join(r.Dir, "config"), read(t, filepath.Join(r.Dir, "config"))+"[user]\n\tsigningkey = KEY\n[core]\n\teditor = repository\n")
	o, err := r.Operator(t.Context(), []string{r.Top})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"user.name": "Me", "user.email": "work@example.com", "user.signingkey": "KEY"} {
		if got := o.Value(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	for _, name := range []string{"GIT_EDITOR", "VISUAL", "EDITOR"} {
		t.Setenv(name, "")
	}
	if got := o.editor(); got != "mine" {
		t.Errorf("the editor is %q", got)
	}
	t.Setenv("GIT_EDITOR", "first")
	if got := o.editor(); got != "first" {
		t.Errorf("the editor is %q", got)
	}
}

func TestEditorInTree(t *testing.T) {
	r, _ := host(t, map[string]string{"a": "a"})
	o := Operator{trees: []string{r.Top}}
	program := filepath.Join(r.Top, "edit")
	write(t, program, "#!/bin/sh\nfor f; do :; done\necho ran >\"$f\"\n")
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "message")
	for _, editor := range []string{program, program + " --wait", link, "env X=1 " + program, "sh " + program, "'" + program + "'"} {
		write(t, file, "as it was")
		t.Setenv("GIT_EDITOR", editor)
		if err := o.Edit(t.Context(), file, nil); err == nil || !strings.Contains(err.Error(), "lies in a tree") || read(t, file) != "as it was" {
			t.Errorf("%s: %v, %q", editor, err, read(t, file))
		}
		if err := (Operator{}).Edit(t.Context(), file, nil); err != nil || read(t, file) != "ran\n" { // the control
			t.Errorf("%s: %v, %q", editor, err, read(t, file))
		}
	}
	t.Setenv("PATH", r.Top+":"+os.Getenv("PATH"))
	t.Setenv("GIT_EDITOR", "edit")
	if err := o.Edit(t.Context(), file, nil); err == nil {
		t.Error("an editor that PATH finds in the tree was run")
	}
	t.Setenv("GIT_EDITOR", "false")
	if err := o.Edit(t.Context(), file, nil); err == nil || !strings.Contains(err.Error(), `"false" failed`) {
		t.Error(err)
	}
}
