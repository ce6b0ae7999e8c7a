package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
)

// loopback is a service of the operator's: for each file that it is given it answers
// HTTP at a free port of the loopback, and writes the port into the file. An interrupt ends
// it, also where the tests were started with that signal ignored, as nohup and shells do.
func loopback() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt)
	for _, file := range os.Args[1:] {
		if err := serveLoopback(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	<-ended
}

func serveLoopback(file string) error {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "this is "+filepath.Base(file)+"\n") // a client that went away needs none
	})
	go http.Serve(l, answer)
	text := fmt.Sprintln(l.Addr().(*net.TCPAddr).Port)
	if err := os.WriteFile(file+".new", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
