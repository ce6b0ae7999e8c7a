package cell

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestConfinedWrites(t *testing.T) {
	r := newRoom(t)
	r.sh("mkdir -p a/b && echo x >a/b/c && mv a z && ln z/b/c z/b/d && rm z/b/c && chmod 700 z/b/d")
	if got := r.read(filepath.Join(r.tree, "z/b/d")); got != "x\n" {
		t.Errorf("what was written inside is %q", got)
	}
	r.put(filepath.Join(r.outside, "f"), "theirs")
	for _, line := range []string{`echo x >"$OUTSIDE/new"`, `echo x >>"$OUTSIDE/f"`, `mkdir "$OUTSIDE/dir"`, `chmod 600 "$OUTSIDE/f"`,
		`touch -d 2001-01-01 "$OUTSIDE/f"`, `ln -s x "$OUTSIDE/link"`, `mv "$OUTSIDE/f" "$OUTSIDE/g"`, `rm "$OUTSIDE/g"`} {
		r.refused(line, "")
	}
	r.put(filepath.Join(r.outside, "f"), "theirs")
	r.refused(`echo x >>"$OUTSIDE/f"`, "Read-only file system")
}

// A directory of the machine's that nothing has been said about.
func TestConfinedWritesElsewhere(t *testing.T) {
	dir, err := os.MkdirTemp(cmp.Or(os.Getenv("CORDON_TEST_PLACE"), "/var/lib"), "cordon-test-")
	if err != nil {
		t.Skipf("this user writes nowhere outside of /tmp: %v", err)
	}
	defer os.RemoveAll(dir)
	r := newRoom(t)
	r.put(filepath.Join(dir, "f"), "theirs")
	r.command.Env = append(r.command.Env, "ELSEWHERE="+dir)
	if out := r.sh(`cat "$ELSEWHERE/f"`); out != "theirs" {
		t.Errorf("it reads %q", out)
	}
	r.refused(`echo x >"$ELSEWHERE/new"`, "Read-only file system")
	r.refused(`chmod 600 "$ELSEWHERE/f"`, "Read-only file system")
	// The positive side of capture: the same write succeeds, and nothing comes of it.
	r.order.Capture, r.order.Layers = true, t.TempDir()
	r.sh(`echo mine >"$ELSEWHERE/f"; echo x >"$ELSEWHERE/captured"; cat "$ELSEWHERE/f" | grep mine`)
	if _, err := os.Lstat(filepath.Join(dir, "captured")); err == nil || r.read(filepath.Join(dir, "f")) != "theirs" {
		t.Error("a captured write came to be on the host")
	}
	var found []string
	_ = filepath.WalkDir(r.order.Layers, func(p string, _ os.DirEntry, err error) error {
		if err == nil && filepath.Base(p) == "captured" {
			found = append(found, p)
		}
		return nil
	})
	if len(found) != 1 {
		t.Errorf("captured is kept at %v", found)
	}
}

// Tools find their caches and can write them, privately.
func TestConfinedHome(t *testing.T) {
	r := newRoom(t)
	r.put(filepath.Join(r.home, ".cache/warm"), "warm\n")
	r.put(filepath.Join(r.home, "notes/note"), "nobody's business\n")
	r.order.Over = []Over{{At: r.home + "/.cache", Below: []string{r.home + "/.cache"}, Layer: HomePart(".cache"), Spare: true}}
	out := r.sh(`cat ~/.cache/warm; echo cold >~/.cache/warm; echo x >~/.cache/new; rm -f ~/.profile; mkdir -p ~/.npm/x; mv ~/.cache/new ~/.npm/; cat ~/.cache/warm ~/.npm/new`)
	if out != "warm\ncold\nx\n" {
		t.Errorf("%q", out)
	}
	if got := r.read(filepath.Join(r.home, ".cache/warm")); got != "warm\n" {
		t.Errorf("the host's cache is %q", got)
	}
	if list, err := os.ReadDir(r.home); err != nil || len(list) != 2 {
		t.Errorf("the host's home has %v, %v", list, err)
	}
	if out := r.sh(`cat ~/.cache/warm; ls -A ~`); out != "warm\n.cache\n" {
		t.Errorf("without a place to keep it, it is kept: %q", out)
	}
	r.order.Layers = t.TempDir()
	r.sh(`echo mine >~/.cache/mine`)
	if out := r.sh(`cat ~/.cache/mine ~/.cache/warm`); out != "mine\nwarm\n" {
		t.Errorf("with a place to keep it, it is gone: %q", out)
	}
}

func TestConfinedSecrets(t *testing.T) {
	r := newRoom(t)
	r.order.Read = []string{"/", r.home}
	secrets := []string{".ssh/id", ".netrc", ".config/gh/hosts.yml"}
	for _, s := range secrets {
		r.put(filepath.Join(r.home, s), "secret")
	}
	r.put(filepath.Join(r.home, ".config/other"), "plain")
	r.put(filepath.Join(r.outside, "key"), "secret")
	r.put(filepath.Join(r.tree, "sub/key"), "secret")
	r.order.Hide = []string{r.home + "/.ssh", r.home + "/.netrc", r.home + "/.config/gh", r.home + "/.aws", r.home + "/.kube/config",
		r.outside + "/key", r.tree + "/sub/key"}
	r.order.Canaries = []string{r.home + "/.ssh/id", r.outside + "/key"}
	for _, line := range []string{`cat ~/.ssh/id`, `cat ~/.netrc`, `cat ~/.config/gh/hosts.yml`, `ls ~/.ssh`, `cat "$OUTSIDE/key"`,
		`cat sub/key`, `ls -d ~/.netrc`} {
		r.refused(line, "")
	}
	if out := r.sh(`cat ~/.config/other; ls -A ~ ~/.config; mkdir ~/.ssh && ls -A ~/.ssh && echo made >~/.ssh/own && cat ~/.ssh/own`); strings.Contains(out, "secret") || strings.Contains(out, "id") || !strings.Contains(out, "plain") || !strings.Contains(out, "made") {
		t.Errorf("%q", out)
	}
}

// What the operator puts there while the cell runs stays unseen as well.
func TestConfinedSecretsThatComeLater(t *testing.T) {
	r := newRoom(t)
	r.order.Read = []string{"/", r.home}
	r.put(filepath.Join(r.home, ".kube/cache"), "x")
	r.order.Hide = []string{r.home + "/.aws", r.home + "/.kube/config"}
	b := r.beginShell(`echo 1 >ready; until test -e put; do sleep 0.01; done; ls -A ~ ~/.kube; cat ~/.aws/credentials ~/.kube/config ~/.seen 2>/dev/null; true`)
	r.appears(b, "ready")
	for _, p := range []string{".aws/credentials", ".kube/config", ".seen"} {
		r.put(filepath.Join(r.home, p), "secret")
	}
	r.put(filepath.Join(r.tree, "put"), "")
	exit, out, err := b.end()
	if err != nil || !exit.OK() {
		t.Fatalf("%+v, %v %q", exit, err, out)
	}
	if strings.Contains(out, ".aws") || strings.Contains(out, "config") || strings.Count(out, "secret") > 1 {
		t.Errorf("%q", out)
	}
}

// What is written in a layer over a directory is written to none of the other names of its files.
func TestConfinedHardLinks(t *testing.T) {
	r := newRoom(t)
	r.put(filepath.Join(r.outside, "f"), "theirs")
	inside := filepath.Join(r.tree, "f")
	if err := os.Link(filepath.Join(r.outside, "f"), inside); err != nil {
		t.Fatal(err)
	}
	r.order.Write, r.order.Over = nil, []Over{{At: r.tree, Below: []string{r.tree}, Layer: "tree"}}
	r.sh("echo x >>f && chmod 600 f && touch -d 2001-01-01 f && mv f g && mv g f")
	text, err := os.ReadFile(filepath.Join(r.outside, "f"))
	if fi, serr := os.Stat(inside); err != nil || serr != nil || string(text) != "theirs" || fi.Mode().Perm() == 0o600 || fi.ModTime().Year() == 2001 {
		t.Errorf("%q, %v, %v", text, err, serr)
	}
}

// What is pinned is written and stays where it is.
func TestConfinedPinned(t *testing.T) {
	r := newRoom(t)
	r.put(filepath.Join(r.tree, ".git/config"), "x")
	r.order.Pinned = []string{filepath.Join(r.tree, ".git")}
	for _, line := range []string{"mv .git g && mv g .git", "rm -r .git && cp -r ../outside .git",
		"mkdir -p n && mv -T n .git/x/.. || mv .git away && mv away .git", "ln -sfn / .git && test -L .git && rm .git && mkdir .git"} {
		r.put(filepath.Join(r.tree, ".git/config"), "x")
		exit, out, err := r.run("sh", "-c", line)
		fi, lerr := os.Lstat(filepath.Join(r.tree, ".git"))
		if err != nil || lerr != nil || !fi.IsDir() || exit.OK() && !strings.HasPrefix(line, "ln") {
			t.Errorf("%q: %+v, %v %q, %v", line, exit, err, out, lerr)
		}
	}
	if exit, out, err := r.free("sh", "-c", "mv .git g && mv g .git"); err != nil || !exit.OK() {
		t.Errorf("the control: %+v, %v %s", exit, err, out)
	}
	r.sh("echo y >.git/config && mkdir -p .git/refs && rm -r .git/refs")
}

func TestConfinedLinksOut(t *testing.T) {
	r := newRoom(t)
	r.put(filepath.Join(r.outside, "f"), "theirs")
	for name, to := range map[string]string{"file": r.outside + "/f", "dir": r.outside, "proc": "/proc/self/root" + r.outside, "up": "../outside"} {
		if err := os.Symlink(to, filepath.Join(r.tree, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"echo x >>file", "echo x >dir/new1", "echo x >proc/new2", "echo x >up/new3"} {
		r.refused(line, "Read-only file system")
	}
}

func TestConfinedLeavesNothingBehind(t *testing.T) {
	r := newRoom(t)
	r.order.Read = []string{"/", r.home}
	r.order.Hide = []string{r.home + "/.ssh", r.tree + "/absent", r.tree + "/also/absent"}
	r.sh("true")
	for _, dir := range []string{r.tree, r.home, r.outside} {
		if list, err := os.ReadDir(dir); err != nil || len(list) != 0 {
			t.Errorf("%s has %v, %v", dir, list, err)
		}
	}
}

func TestConfinedDevices(t *testing.T) {
	r := newRoom(t)
	own := fmt.Sprintf("cordon-test-%d", time.Now().UnixNano())
	r.command.Env = append(r.command.Env, "NAME="+own)
	want := []string{"fd", "full", "mqueue", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom", "zero"}
	if got := strings.Fields(r.sh("ls -A /dev")); !slices.Equal(got, want) {
		t.Errorf("/dev has %v", got)
	}
	r.sh(`echo x >/dev/null && head -c 4 /dev/urandom >/dev/null && echo x >/dev/shm/$NAME && echo x >/tmp/$NAME && echo x >/var/tmp/$NAME && echo x >/run/$NAME && test -z "$(ls /dev/mqueue)"`)
	for _, dir := range []string{"/dev/shm", "/tmp", "/var/tmp", "/run"} {
		if _, err := os.Lstat(filepath.Join(dir, own)); err == nil {
			t.Errorf("%s/%s is on the host", dir, own)
		}
	}
	name := filepath.Join("/dev/shm", own)
	if err := os.WriteFile(name, []byte("x"), 0o666); err != nil {
		t.Skipf("the control cannot be made: %v", err)
	}
	defer os.Remove(name)
	r.refused("cat "+name, "No such file")
	r.refused("cat "+r.put(filepath.Join(t.TempDir(), "theirs"), "x"), "No such file")
}

// A socket that is seen through an overlay is not the one that somebody listens
// on.
func TestConfinedSockets(t *testing.T) {
	r := newRoom(t)
	r.order.Read = []string{"/", r.home}
	probe := r.probe()
	path := filepath.Join(r.home, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skipf("no socket at %s: %v", path, err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	if exit, out, err := r.free(probe, "connect", path); err != nil || !exit.OK() {
		t.Fatalf("the control: %+v, %v %s", exit, err, out)
	}
	if out := r.sh("ls ~"); out != "s\n" {
		t.Errorf("the socket is not seen, which shows nothing: %q", out)
	}
	if exit, out, err := r.run(probe, "connect", path); err != nil || exit.OK() {
		t.Errorf("it was reached from the cell: %+v, %v %s", exit, err, out)
	}
	// A socket of the cell's own works.
	own := filepath.Join(r.tree, "own")
	if exit, out, err := r.run("sh", "-c", `./probe connect `+own+` 2>&1 | grep -q 'no such file'`); err != nil || !exit.OK() {
		t.Errorf("%+v, %v %s", exit, err, out)
	}
}
