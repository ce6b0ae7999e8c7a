package draft

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/git"
)

// survey gathers what the draft is made from. It reads the operator's checkout
// and its commit, and changes nothing. policyName is the file that the draft becomes.
func Survey(ctx context.Context, host git.Host, policyName string) (Project, error) {
	p := Project{top: map[string]bool{}, tracked: map[string]bool{}, Ignored: map[string]bool{}, text: map[string]string{}}
	if err := p.lookAround(host.Top); err != nil {
		return p, err
	}
	commit, err := host.HeadCommit(ctx)
	if err == nil {
		err = p.lookIn(ctx, host, commit)
	}
	if err != nil && !errors.Is(err, git.ErrNoRef) { // before the first commit nothing is tracked
		return p, err
	}
	ask := []string{policyName}
	for _, dir := range p.candidates() {
		if !throughLink(host.Top, dir) { // git refuses to answer for what a link stands in for
			ask = append(ask, dir+"/x") // a rule for directories holds for what is in them
		}
	}
	ignored, err := host.CheckIgnore(ctx, host.Top, ask)
	for path := range ignored {
		p.Ignored[strings.TrimSuffix(path, "/x")] = true
	}
	return p, err
}

// lookAround notes what is at the top of the checkout.
func (p *Project) lookAround(top string) error {
	root, err := os.OpenRoot(top)
	if err != nil {
		return err
	}
	defer root.Close()
	entries, err := os.ReadDir(top)
	if err != nil {
		return err
	}
	for _, e := range entries {
		p.top[e.Name()] = true
		if e.IsDir() {
			p.dirs = append(p.dirs, e.Name())
		}
	}
	for _, name := range slices.Concat(telling, serviceFiles) {
		if p.top[name] {
			p.text[name] = readSmall(root, name)
		}
	}
	p.ports = servicePorts(p.text)
	return nil
}

// lookIn notes what a commit tracks.
func (p *Project) lookIn(ctx context.Context, host git.Host, commit git.OID) error {
	files, err := host.Tree(ctx, commit)
	if err != nil {
		return err
	}
	p.dirs = nil
	for _, f := range files {
		p.track(f.Path)
	}
	return nil
}

// maxTelling bounds what is read of a file that tells about the project.
const maxTelling = 1 << 20

// readSmall returns the beginning of a regular file inside root. One that
// cannot be read tells nothing.
func readSmall(root *os.Root, name string) string {
	if fi, err := root.Stat(name); err != nil || !fi.Mode().IsRegular() {
		return ""
	}
	f, err := root.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTelling))
	if err != nil {
		return ""
	}
	return string(text)
}

// throughLink reports whether a part of a path below top is a symbolic link.
func throughLink(top, path string) bool {
	for p := path; p != "."; p = filepath.Dir(p) {
		if fi, err := os.Lstat(filepath.Join(top, p)); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}
