package cellnet

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"cordon/internal/cell"
	"cordon/internal/paths"
)

// nameServer is where a cell's programs ask for names. Port 53 of every address is
// answered; this one is the cell's own.
const nameServer = "198.18.0.1"

// nameFiles writes what programs are told about names into a directory and returns
// how it is put into a cell. The operator's own files name servers and hosts that
// mean nothing there, and ways to ask that lead to sockets.
//
// What the machine does not have is not made: without a resolv.conf programs ask
// the loopback, which is answered as well.
func nameFiles(dir string, o cell.Order) ([]cell.Bind, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	var binds []cell.Bind
	for _, f := range []struct {
		name string
		text func() []byte
	}{
		{"resolv.conf", resolvConf}, {"hosts", hostsFile}, {"nsswitch.conf", nsswitchConf},
	} {
		at, ok := placeFor(filepath.Join("/etc", f.name), o)
		if !ok {
			continue
		}
		from := filepath.Join(dir, f.name)
		if err := writeOnce(from, f.text()); err != nil {
			return nil, err
		}
		binds = append(binds, cell.Bind{From: from, At: at})
	}
	return binds, nil
}

func resolvConf() []byte {
	return []byte("# cordon answers; a refused name gets an address that says so.\nnameserver " + nameServer + "\noptions timeout:2 attempts:2\n")
}

// hostsFile names the cell itself, which has the machine's name.
func hostsFile() []byte {
	own := ""
	if name, err := os.Hostname(); err == nil && hostName(name) && name != "localhost" {
		own = " " + name
	}
	return []byte("127.0.0.1 localhost" + own + "\n::1 localhost ip6-localhost ip6-loopback" + own + "\n")
}

func hostName(s string) bool {
	for _, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return s != ""
}

// maxSwitch bounds what is read of the machine's nsswitch.conf.
const maxSwitch = 64 << 10

// nsswitchConf is the machine's, but for how names of hosts are found.
func nsswitchConf() []byte {
	const hosts = "hosts: files dns\n"
	text, err := os.ReadFile("/etc/nsswitch.conf")
	if err != nil || len(text) > maxSwitch {
		return []byte("passwd: files\ngroup: files\n" + hosts)
	}
	return append(withoutHosts(text), hosts...)
}

// withoutHosts leaves out every line about hosts: the last one may count, or the
// first.
func withoutHosts(text []byte) []byte {
	var kept bytes.Buffer
	for line := range bytes.Lines(text) {
		key, _, _ := bytes.Cut(line, []byte(":"))
		if string(bytes.TrimSpace(key)) != "hosts" {
			kept.Write(line)
		}
	}
	if b := kept.Bytes(); len(b) > 0 && b[len(b)-1] != '\n' {
		kept.WriteByte('\n')
	}
	return kept.Bytes()
}

// maxLinks is how many links are followed to a file.
const maxLinks = 16

// followLinks is where the links of a path lead, also when nothing is there; "" when
// they lead in a circle.
func followLinks(path string) string {
	for range maxLinks {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return path // nothing is there
		}
		path = filepath.Join(dir, filepath.Base(path))
		to, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		path = filepath.Clean(to)
	}
	return ""
}

// placeFor is where a file of the machine's is covered. One whose links lead to what
// is the cell's own, or to no file, is left alone: whatever server it names, its
// port 53 is answered.
func placeFor(path string, o cell.Order) (at string, ok bool) {
	at = followLinks(path)
	fi, err := os.Lstat(at)
	return at, err == nil && fi.Mode().IsRegular() && !ofTheCell(at, o)
}

// ofTheCell reports whether a path lies where a cell has files of its own: a mount
// there would be in the way of somebody's work, and what a link of the machine's
// leads to there is not the machine's.
func ofTheCell(path string, o cell.Order) bool {
	own := slices.Concat(o.Write, o.Scratch, []string{o.Home, "/tmp", "/var/tmp", "/dev", "/proc", "/sys"})
	for _, c := range o.Over {
		own = append(own, c.At)
	}
	for _, b := range o.Bind {
		own = append(own, b.At)
	}
	return slices.ContainsFunc(own, func(dir string) bool { return paths.Within(path, dir) })
}

// writeOnce writes a file that a cell reads, unless it is there. Another cell may
// have it mounted: it is replaced and not changed.
func writeOnce(path string, text []byte) error {
	have, err := os.ReadFile(path)
	if err == nil && bytes.Equal(have, text) {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(0o444), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		if rerr := os.Remove(f.Name()); !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}
