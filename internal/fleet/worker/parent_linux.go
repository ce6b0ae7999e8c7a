package worker

import "syscall"

// endWithParent ends a stage when its node is killed: nobody would hear of its result.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }

// onTerminal does the same for a stage whose standard input is a terminal of its own.
func onTerminal() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setsid: true, Setctty: true}
}
