package publish

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// deskName is the socket in the directory of a worker, which no cell sees.
const deskName = "published"

// ErrNone says that nothing is published from there.
var ErrNone = errors.New("nothing is published from there")

// patience is how long one side of the desk waits for the other.
const patience = 15 * time.Second

// desk answers the operator, who asks for addresses.
type desk struct {
	listener net.Listener
	name     string
	work     sync.WaitGroup
}

// openDesk listens in a directory, in the place of a socket that was left there.
func openDesk(dir string, answer func(port int) []Port) (*desk, error) {
	d := &desk{name: filepath.Join(dir, deskName)}
	if err := os.Remove(d.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	short, release, err := shortName(dir)
	if err != nil {
		return nil, err
	}
	defer release()
	l, err := net.Listen("unix", short)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // the short name is nobody's by then
	if err := os.Chmod(d.name, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	d.listener = l
	d.work.Go(func() { d.serve(answer) })
	return d, nil
}

func (d *desk) serve(answer func(int) []Port) {
	for {
		c, err := d.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		d.work.Go(func() {
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(patience)) // without one it is only later
			var asked struct {
				Port int `json:"port"`
			}
			if ofOperator(c.(*net.UnixConn)) != nil || json.NewDecoder(io.LimitReader(c, 1024)).Decode(&asked) != nil {
				return
			}
			_ = json.NewEncoder(c).Encode(answer(asked.Port)) // whoever asked may be gone
		})
	}
}

func (d *desk) close() {
	if d == nil {
		return
	}
	d.listener.Close()
	_ = os.Remove(d.name) // a desk that nobody answers says the same
	d.work.Wait()
}

// Ask asks for the addresses of a worker's published ports, or for that of one port; nothing
// is returned for a port that is not published.
func Ask(dir string, port int) ([]Port, error) {
	short, release, err := shortName(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	defer release()
	c, err := net.DialTimeout("unix", short, patience)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if err := json.NewEncoder(c).Encode(map[string]int{"port": port}); err != nil {
		return nil, err
	}
	var list []Port
	return list, json.NewDecoder(bufio.NewReader(c)).Decode(&list)
}
