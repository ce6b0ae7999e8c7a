//go:build !linux

package errand

import "syscall"

// ownSession is that of a command.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// members are the processes of a session, which are not looked for here: the group is told.
func members(int) []int { return nil }
