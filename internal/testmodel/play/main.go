// Command play runs a scripted model by hand: it prints its address, then each tool
// result as a line of JSON, until it is killed. It is for trying a client out; tests
// use the package.
//
//	go run ./internal/testmodel/play -script file.json [-port N] [-requests file]
//	go run ./internal/testmodel/play -mcp
//
// A script is {"turns":[{"calls":[{"tool":"Bash","input":{"command":"id"}}]},{"text":"finished"}],
// "sub":{"marker":[…]}}.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"cordon/internal/testmodel"
)

func main() {
	if err := play(); err != nil {
		fmt.Fprintln(os.Stderr, "play:", err)
		os.Exit(1)
	}
}

func play() error {
	script := flag.String("script", "", "a `file` with the turns")
	port := flag.Int("port", 0, "the `port` to listen at; 0 is any")
	requests := flag.String("requests", "", "append each request to this `file`, as a line of JSON")
	mcp := flag.Bool("mcp", false, "be the MCP server on stdin and stdout instead")
	flag.Parse()
	if *mcp {
		return testmodel.ServeMCP(os.Stdin, os.Stdout)
	}
	text, err := os.ReadFile(*script)
	if err != nil {
		return err
	}
	var s testmodel.Script
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	listen := func(testmodel.Request) {}
	if *requests != "" {
		f, err := os.OpenFile(*requests, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		log := json.NewEncoder(f)
		listen = func(r testmodel.Request) { _ = log.Encode(r) } // best seen when it is missing
	}
	m, err := testmodel.StartAt(s, *port, func(r testmodel.Result) { _ = out.Encode(r) }, listen)
	if err != nil {
		return err
	}
	fmt.Println(m.URL())
	select {}
}
