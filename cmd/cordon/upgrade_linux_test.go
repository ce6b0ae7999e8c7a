package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The archives in testdata/upgrade are state directories that older versions of cordon
// left, with the repository beside them and what that version said about its workers.
// make.sh there made them. Leases hold absolute paths and are hashed, so an archive is
// unpacked anywhere and seen at the one path that it was made at.
const upgradePlace = "/mnt"

// upgrades are the archives, named by the commit of the program that made them.
var upgrades = []string{"8cd0008"}

func init() { programs["at-place"] = atPlace }

// atPlace is a program of the test binary: "at-place DIR PROGRAM ARG..." runs a program
// that sees DIR at upgradePlace. It is started in a mount namespace of its own.
func atPlace() {
	err := errors.Join(
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount(os.Args[1], upgradePlace, "", unix.MS_BIND, ""),
		unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0),
		os.Chdir(filepath.Join(upgradePlace, "repo")),
	)
	path, lerr := exec.LookPath(os.Args[2])
	if err = errors.Join(err, lerr); err == nil {
		err = syscall.Exec(path, os.Args[2:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "at-place:", err)
	os.Exit(125)
}

// upgraded is a site that an older cordon left.
type upgraded struct {
	*site
	id map[string]string // the workers, by the names that make.sh gave them
}

// unpackSite makes a site of an archive.
func unpackSite(t *testing.T, archive string) *upgraded {
	t.Helper()
	dir := t.TempDir()
	unpack(t, filepath.Join("testdata", "upgrade", archive+".tar.gz"), dir)
	u := &upgraded{&site{t: t, home: upgradePlace + "/home", repo: filepath.Join(dir, "repo"), sources: new(sources)}, map[string]string{}}
	u.env = append(os.Environ(), "HOME="+u.home, "XDG_STATE_HOME="+upgradePlace+"/state", "GIT_CONFIG_NOSYSTEM=1", "CORDON_TREE=")
	names, err := os.ReadFile(u.place("names"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(names)) {
		id, word, _ := strings.Cut(strings.TrimSpace(line), " ")
		u.id[word] = id
	}
	u.wrap = u.at
	return u
}

// at has a command run where it sees the site at its place.
func (u *upgraded) at(cmd *exec.Cmd) *exec.Cmd {
	seen := exec.Command("at-place", append([]string{filepath.Dir(u.repo)}, cmd.Args...)...)
	seen.Env = cmd.Env
	seen.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	if uid := os.Getuid(); uid != 0 {
		seen.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWNS | unix.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
			AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN},
		}
	}
	return seen
}

// unpack extracts an archive with the attributes and whiteouts of overlays.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var after []func() error // directories get their modes and times when they are full
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = unpackOne(r, h, filepath.Join(dir, h.Name), &after)
		}
		if err != nil {
			t.Fatalf("%s: %v", archive, err)
		}
	}
	for _, act := range slices.Backward(after) {
		if err := act(); err != nil {
			t.Fatal(err)
		}
	}
}

func unpackOne(r io.Reader, h *tar.Header, path string, after *[]func() error) (err error) {
	mode := h.FileInfo().Mode().Perm()
	dated := func() error { return os.Chtimes(path, h.ModTime, h.ModTime) }
	switch h.Typeflag {
	case tar.TypeDir:
		err = os.MkdirAll(path, 0o700)
		*after = append(*after, func() error { return errors.Join(os.Chmod(path, mode), dated()) })
	case tar.TypeReg:
		var b []byte
		if b, err = io.ReadAll(r); err == nil {
			err = errors.Join(os.WriteFile(path, b, 0o600), os.Chmod(path, mode), dated())
		}
	case tar.TypeSymlink:
		err = os.Symlink(h.Linkname, path)
	case tar.TypeLink:
		return os.Link(filepath.Join(strings.TrimSuffix(path, h.Name), h.Linkname), path)
	case tar.TypeChar:
		err = unix.Mknod(path, unix.S_IFCHR, int(unix.Mkdev(uint32(h.Devmajor), uint32(h.Devminor))))
	default:
		err = fmt.Errorf("%s is of the type %c", h.Name, h.Typeflag)
	}
	for key, value := range h.PAXRecords {
		if name, ok := strings.CutPrefix(key, "SCHILY.xattr."); ok && err == nil {
			err = unix.Lsetxattr(path, name, []byte(value), 0)
		}
	}
	return err
}

// TestUpgradeReads asserts that this version says of an older state what the version
// said that made it.
func TestUpgradeReads(t *testing.T) {
	t.Parallel()
	for _, archive := range upgrades {
		u := unpackSite(t, archive)
		u.says("ls.json", "ls", "--all-states", "--json")
		u.says("inbox.json", "inbox", "--json")
		u.says("quarantine.json", "quarantine", "ls", "--json")
		u.says("log.json", "log", "--json")
		u.says("verify.json", "log", "verify", "--json")
		for word, id := range u.id {
			u.says("show-"+word+".json", "show", "--json", id)
		}
		u.cordon([]int{0}, "policy", "check", "cordon.yaml")
	}
}

// says compares what a command prints with what it printed then. It may say more now.
func (u *upgraded) says(file string, args ...string) {
	u.t.Helper()
	text, err := os.ReadFile(u.place("said/" + file))
	if err != nil {
		u.t.Fatal(err)
	}
	var then, now any
	u.parse(string(text), &then)
	u.parse(u.cordon([]int{0}, args...).out, &now)
	for _, difference := range missing("", then, now) {
		u.t.Errorf("cordon %s: %s", strings.Join(args, " "), difference)
	}
}

// missing lists what of one JSON value another does not have. What a tree takes on the
// disk depends on the disk.
func missing(at string, then, now any) (list []string) {
	switch then := then.(type) {
	case map[string]any:
		now, _ := now.(map[string]any)
		for key, value := range then {
			if key != "disk" {
				list = append(list, missing(at+"."+key, value, now[key])...)
			}
		}
		return list
	case []any:
		now, _ := now.([]any)
		if len(now) == len(then) {
			for i, value := range then {
				list = append(list, missing(fmt.Sprintf("%s[%d]", at, i), value, now[i])...)
			}
			return list
		}
	}
	if !reflect.DeepEqual(then, now) {
		was, _ := json.Marshal(then)
		is, _ := json.Marshal(now)
		list = append(list, fmt.Sprintf("%s was %s, is %s", at, was, is))
	}
	return list
}

// TestUpgradeLands asserts that workers which an older version left land.
func TestUpgradeLands(t *testing.T) {
	t.Parallel()
	u := unpackSite(t, upgrades[len(upgrades)-1])
	u.goesOn("finished", "merge")
	u.goesOn("lost-auto", "resume")
	u.goesOn("releasable", "quarantine", "release", "--write", "torelease.txt", "--reason", "reviewed")
	u.sound()
}

// TestUpgradeLandsAll has every worker that can go on do so.
func TestUpgradeLandsAll(t *testing.T) {
	t.Parallel()
	for _, archive := range upgrades {
		u := unpackSite(t, archive)
		for _, word := range []string{"finished", "history", "plain", "branched", "degraded", "adopted", "waiting"} {
			u.goesOn(word, "merge")
		}
		u.cordon([]int{0}, "answer", u.id["asks"], "--option", "1")
		for _, word := range []string{"asks", "answered"} { // they were started with --no-merge
			u.cordon([]int{0}, "resume", u.id[word])
			u.goesOn(word, "merge")
		}
		for _, word := range []string{"lost-auto", "lost-copy", "leased", "ready", "ready-copy", "intended"} {
			u.goesOn(word, "resume")
		}
		u.goesOn("releasable", "quarantine", "release", "--write", "torelease.txt", "--reason", "reviewed")
		u.cordon([]int{5}, "merge", u.id["conflict"])
		u.cordon([]int{6}, "resume", u.id["failed"])
		for _, word := range []string{"quarantined", "rejected", "conflict", "failed"} {
			u.cordon([]int{0}, "discard", "--yes", u.id[word])
		}
		run := []string{"run", "--merge", "--", "sh", "-c", "echo new >src/new.txt"}
		o := u.cordon([]int{3}, run...) // older versions asked nobody whether the policy may open so much
		_, line, _ := strings.Cut(o.err, "for this repository: cordon ")
		u.cordon([]int{0}, strings.Fields(line)...)
		u.cordon([]int{0}, run...)
		u.cordon([]int{0}, "gc", "--yes")
		for _, w := range u.workers() {
			if !slices.Contains([]string{"merged", "no change", "discarded"}, w.Status) {
				t.Errorf("%s is %s", w.Worker, w.Status)
			}
		}
		u.sound()
	}
}

// goesOn does what takes a worker to main, and wants it there once.
func (u *upgraded) goesOn(word string, args ...string) {
	u.t.Helper()
	id := u.id[word]
	if n := u.landed(id); n != 0 {
		u.t.Fatalf("%s (%s) is on main before", id, word)
	}
	u.cordon([]int{0}, append(args, id)...)
	if n := u.landed(id); n != 1 {
		u.t.Errorf("%s (%s) is on main %d times", id, word, n)
	}
}
