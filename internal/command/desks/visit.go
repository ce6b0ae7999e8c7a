package desks

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

// visit is cordon shell in the terminal of the desk.
type visit struct {
	a           *Console
	dir, worker string
}

// The visit has the terminal itself, not what a desk reads and writes.
func (visit) SetStdin(io.Reader)  {}
func (visit) SetStdout(io.Writer) {}
func (visit) SetStderr(io.Writer) {}

// Run runs the visit until its shell ends. What a visit says that failed can be read before the desk comes back.
func (v visit) Run() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	how := os.ProcAttr{Dir: v.dir, Env: os.Environ(), Files: []*os.File{v.a.In, os.Stdout, os.Stderr}}
	p, err := os.StartProcess(self, []string{"cordon", "shell", v.worker}, &how)
	if err != nil {
		return err
	}
	ended, err := p.Wait()
	if err != nil || ended.Success() {
		return err
	}
	fmt.Fprintf(os.Stdout, "\ncordon: the visit ended with %d; enter goes back to the desk ", ended.ExitCode())
	_, err = bufio.NewReader(v.a.In).ReadString('\n')
	return err
}
