package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/client"
)

// Without cordon every kind of tool of every client does what a script asks for, in
// a directory of the operator's that is none of the client's business: what cordon
// refuses elsewhere would have happened, and the words of the table are the clients'
// own.
func TestClientsByThemselves(t *testing.T) {
	t.Parallel()
	for _, name := range tested() {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			for _, patching := range []bool{false, true} {
				byItself(t, name, patching)
			}
		})
	}
}

// byItself lets a client do every kind of deed that it has a tool for, with the model
// that has a tool for patches or with the other.
func byItself(t *testing.T, name client.Name, patching bool) {
	t.Helper()
	deeds, want := bareDeeds(name, patching)
	if len(deeds) == 0 {
		return
	}
	s := busySite(t, name, patching, deeds)
	o := s.bare()
	if !strings.Contains(o.out+o.err, lastWords) {
		t.Errorf("the model's last words are missing:\n%s%s", o.out, o.err)
	}
	for file, text := range want {
		if b, err := os.ReadFile(filepath.Join(s.repo, file)); err != nil || !strings.Contains(string(b), text) {
			t.Errorf("%s is %q (%v), want %q\nresults: %+v", file, b, err, text, s.model.Results())
		}
	}
	if call, ok := spoken(name, deed{kind: readTool}); ok && !patching && !strings.Contains(s.result(call.Tool, 0).Text, "old") {
		t.Errorf("read %+v", s.result(call.Tool, 0))
	}
}

// busySite is a site with what the deeds of bareDeeds need.
func busySite(t *testing.T, name client.Name, patching bool, deeds []deed) *staged {
	t.Helper()
	key := ""
	if !patching {
		key = "HELP-1"
	}
	s := agentSite(t, name, playing(t, name, deeds, key, deed{kind: shellTool, command: "echo sub >sub.txt"}))
	s.write("repo/edited.txt", "old\n")
	s.write("repo/n.ipynb", `{"cells":[{"cell_type":"code","id":"c1","metadata":{},"source":["1"],"outputs":[],"execution_count":null}],"metadata":{},"nbformat":4,"nbformat_minor":5}`)
	if patching {
		s.patching()
	}
	if slices.ContainsFunc(deeds, func(d deed) bool { return d.kind == mcpTool }) {
		s.mcp()
	}
	return s
}

// bareDeeds are deeds of a client, and what must be in which file after them.
func bareDeeds(name client.Name, patching bool) ([]deed, map[string]string) {
	if patching {
		if _, ok := spoken(name, deed{kind: patchTool}); !ok {
			return nil, nil
		}
		return []deed{{kind: patchTool, path: "patched.txt", text: "new"}, {kind: patchTool, path: "edited.txt", old: "old", text: "patched"}},
			map[string]string{"patched.txt": "new", "edited.txt": "patched"}
	}
	all := []struct {
		deed
		file string
		text string
	}{
		{deed{kind: shellTool, command: "echo sh >sh.txt"}, "sh.txt", "sh"},
		{deed{kind: writeTool, path: "written.txt", text: "written"}, "written.txt", "written"},
		{deed{kind: readTool, path: "edited.txt"}, "", ""},
		{deed{kind: editTool, path: "edited.txt", old: "old", text: "edited"}, "edited.txt", "edited"},
		{deed{kind: readTool, path: "n.ipynb"}, "", ""},
		{deed{kind: notebookTool, path: "n.ipynb", text: "2+2"}, "n.ipynb", "2+2"},
		{deed{kind: mcpTool, path: "mcp.txt", text: "mcp"}, "mcp.txt", "mcp"},
		{deed{kind: monitorTool, command: "echo mon >monitored.txt"}, "monitored.txt", "mon"},
		{deed{kind: subTool, prompt: "HELP-1: help with it"}, "sub.txt", "sub"},
	}
	var deeds []deed
	want := map[string]string{}
	for _, a := range all {
		if _, ok := spoken(name, a.deed); !ok {
			continue
		}
		deeds = append(deeds, a.deed)
		if a.file != "" {
			want[a.file] = a.text
		}
	}
	return deeds, want
}
