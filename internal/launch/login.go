package launch

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cordon/internal/cell"
	"cordon/internal/enclosure"
	"cordon/internal/fault"
	"cordon/internal/lease"
	"cordon/internal/plainfile"
	"cordon/internal/policy"
	"cordon/internal/worksite"
)

// login is a file of the operator's that a client signs in with.
type login struct {
	from string // the operator's
	at   string // where the client finds it
	text []byte // as it was when the client was started
	// changed says that commands in it were replaced: it is no login of the operator's any more.
	changed bool
}

// maxLogin bounds a file that a client signs in with.
const maxLogin = 1 << 20

// giveLogins gives the client the files that it signs in with: to read, or as a copy of
// its own. Without one it has only what its variables say.
func giveLogins(l lease.Lease, o *clientSetup, dir string) error {
	how := l.Policy.Agent.Login
	for _, file := range o.adapter.Logins {
		from, at := worksite.RealPath(enclosure.KeptAt(l.Home, file.From)), filepath.Join(o.state, file.At)
		text, err := plainfile.Read(from, maxLogin)
		if errors.Is(err, fs.ErrNotExist) || !how.Given() {
			continue
		}
		if err != nil {
			return fmt.Errorf("the login %s: %w", file.From, err)
		}
		given, err := o.withoutCommands(file.From, text, dir)
		if err == nil {
			err = placeLogin(o.state, at, given)
		}
		if err != nil {
			return fmt.Errorf("the login %s: %w", file.From, err)
		}
		changed := !bytes.Equal(given, text)
		if how == policy.ReadLogin && !changed {
			o.show = append(o.show, cell.Bind{From: from, At: at})
		}
		o.logins = append(o.logins, login{from, at, text, changed})
	}
	return nil
}

// withoutCommands is a login in which files with keys stand in the place of commands that
// print them.
func (o *clientSetup) withoutCommands(from string, text []byte, dir string) ([]byte, error) {
	if o.adapter.LoginText == nil {
		return text, nil
	}
	return o.adapter.LoginText(from, text, o.keys.Files(filepath.Join(dir, keysDir)))
}

// placeLogin writes a copy of a login. An earlier launch of the client has had the
// directory: what lies there may be a link to anywhere, or a directory with others in
// it, and is replaced.
func placeLogin(state, at string, text []byte) error {
	root, err := os.OpenRoot(state)
	if err != nil {
		return err
	}
	defer root.Close()
	rel, err := filepath.Rel(state, at)
	if err != nil {
		return err
	}
	if err := makeDirs(root, filepath.Dir(rel)); err != nil {
		return err
	}
	if err := root.RemoveAll(rel); err != nil {
		return err
	}
	f, err := root.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// makeDirs makes the directories down to one, in place of what is none.
func makeDirs(root *os.Root, dir string) error {
	if dir == "." {
		return nil
	}
	if err := makeDirs(root, filepath.Dir(dir)); err != nil {
		return err
	}
	if fi, err := root.Lstat(dir); err == nil && !fi.IsDir() {
		if err := root.Remove(dir); err != nil {
			return err
		}
	}
	return root.MkdirAll(dir, 0o700)
}

// takeBackLogins takes a login that the client has renewed back to the operator's file, if the
// policy asks for it and nobody else has renewed it meanwhile.
func takeBackLogins(s *worksite.Site, l lease.Lease, o *clientSetup) {
	if !l.Policy.Agent.Refresh || l.Policy.Agent.Login != policy.CopyLogin {
		return
	}
	for _, file := range o.logins {
		if file.changed {
			continue
		}
		fresh, err := readRenewed(o.state, file.at)
		if err != nil || bytes.Equal(fresh, file.text) || len(bytes.TrimSpace(fresh)) == 0 {
			continue
		}
		if err := file.writeBack(fresh); err != nil {
			s.Voice.Step(l.ID, "login", "the renewed "+filepath.Base(file.from)+" is not taken back: "+fault.OneLine(err))
			continue
		}
		s.Voice.Step(l.ID, "login", "the client renewed "+filepath.Base(file.from)+", and your own file now holds the new one")
	}
}

// removeLogins takes the client's logins away when it has ended: the next launch gets them
// again.
func (o *clientSetup) removeLogins() error {
	root, err := os.OpenRoot(o.state)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, file := range o.logins {
		if rel, err := filepath.Rel(o.state, file.at); err == nil {
			if err := root.RemoveAll(rel); err != nil {
				return err
			}
		}
	}
	return nil
}

// readRenewed reads what the client left, through no link.
func readRenewed(state, at string) ([]byte, error) {
	root, err := os.OpenRoot(state)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	rel, err := filepath.Rel(state, at)
	if err != nil {
		return nil, err
	}
	f, err := plainfile.Check(root.OpenFile(rel, os.O_RDONLY|plainfile.Flags, 0))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return plainfile.Bounded(f, maxLogin)
}

func (file login) writeBack(fresh []byte) error {
	now, err := plainfile.Read(file.from, maxLogin)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, file.text) {
		return errors.New("yours has changed too")
	}
	fi, err := os.Stat(file.from)
	if err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(file.from), ".cordon-")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) // gone when it was renamed
	_, err = out.Write(fresh)
	if err = errors.Join(err, out.Chmod(fi.Mode().Perm()), out.Sync(), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), file.from)
}
