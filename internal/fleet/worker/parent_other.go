//go:build !linux

package worker

import "syscall"

// endWithParent has no meaning here: the next start of the node ends what was left.
func endWithParent() *syscall.SysProcAttr { return nil }

// onTerminal is for a stage whose standard input is a terminal of its own.
func onTerminal() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true, Setctty: true} }
