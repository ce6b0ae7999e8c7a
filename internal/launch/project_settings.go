package launch

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/agent"
	"cordon/internal/agent/clean"
	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/overlay"
	"cordon/internal/plainfile"
	"cordon/internal/worksite"
	"cordon/internal/workspace"
)

// checkProjectSettings refuses to start a client in a tree with a file that it would obey over
// its guard, whatever it is told. The tree is looked at as it is now: an earlier
// launch may have left the file there.
func checkProjectSettings(ctx context.Context, s *worksite.Site, w *ledger.Worker, a *agent.Adapter, interactive bool) error {
	if len(a.Project) == 0 {
		return nil
	}
	tree, err := workspace.OpenTree(ctx, s, w)
	if err != nil {
		return err
	}
	defer tree.Close()
	for _, pattern := range a.Project {
		names, err := matching(tree, pattern)
		if err != nil {
			return fault.Refuse("%s cannot be started in this tree: %s: %v", a.Name, pattern, err)
		}
		for _, name := range names {
			text, err := readPlainIn(tree, name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err == nil {
				err = a.Object(interactive, text)
			}
			if err != nil {
				return fault.Refuse("%s cannot be started in this tree: %s: %v", a.Name, name, err)
			}
		}
	}
	return nil
}

// matching are the files of a tree that a pattern names. A name without a star is itself.
func matching(tree *overlay.Dir, pattern string) ([]string, error) {
	if !strings.Contains(pattern, "*") {
		return []string{pattern}, nil
	}
	dir, err := tree.Sub(path.Dir(pattern))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.Entries()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if ok, err := path.Match(path.Base(pattern), e.Name); ok && err == nil {
			names = append(names, path.Join(path.Dir(pattern), e.Name))
		}
	}
	return names, nil
}

// leaveOutServers leaves the MCP servers out that files of the tree name and that a client would start: those of
// the project in a terminal, and those of its agents. A repository starts nothing by itself.
func leaveOutServers(ctx context.Context, s *worksite.Site, w *ledger.Worker, o *clientSetup, interactive bool) error {
	a := o.adapter
	if len(a.ProjectServers)+len(a.ProjectAgents) == 0 {
		return nil
	}
	tree, err := workspace.OpenTree(ctx, s, w)
	if err != nil {
		return err
	}
	defer tree.Close()
	names, err := agentServers(tree, a)
	if err == nil && interactive {
		var more []string
		more, err = projectServers(tree, a)
		names = append(names, more...)
	}
	if err != nil {
		return err
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return nil
	}
	var args []string
	for _, name := range names {
		if slices.ContainsFunc(o.servers, func(mine string) bool { return strings.EqualFold(mine, name) }) {
			return fault.Refuse("%s cannot be started in this tree: the project has an MCP server %s, and so have you: give yours another name",
				a.Name, legible.Line(name))
		}
		args = append(args, a.WithoutServer(name))
	}
	o.kit.Argv = slices.Insert(o.kit.Argv, 1, args...)
	s.Voice.Step(w.ID, "setup", legible.Line("left out: the project's MCP servers "+strings.Join(names, ", ")+"; to give them: cordon run --mcp FILE"))
	return nil
}

// projectServers are the names of the servers in the project's own files for them.
func projectServers(tree *overlay.Dir, a *agent.Adapter) ([]string, error) {
	var names []string
	for _, file := range a.ProjectServers {
		text, err := readPlainIn(tree, file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var all map[string]any
		if err == nil {
			all, err = agent.JSONObject(text)
		}
		if err != nil {
			return nil, fault.Refuse("%s cannot be started in this tree: %s: %v", a.Name, file, err)
		}
		for _, servers := range []any{all, all["mcpServers"], all["servers"]} { // whichever form it takes
			table, _ := servers.(map[string]any)
			names = slices.AppendSeq(names, maps.Keys(table))
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "mcpServers" || name == "servers" }), nil
}

// agentServers are the names of the servers in agents of the tree that the client reads as they are.
func agentServers(tree *overlay.Dir, a *agent.Adapter) ([]string, error) {
	var names []string
	for _, pattern := range a.ProjectAgents {
		files, err := matching(tree, pattern)
		if err != nil {
			return nil, fault.Refuse("%s cannot be started in this tree: %s: %v", a.Name, pattern, err)
		}
		for _, file := range files {
			text, err := readPlainIn(tree, file)
			var found []string
			if err == nil {
				found, err = clean.Servers(text)
			}
			if err != nil {
				return nil, fault.Refuse("%s cannot be started in this tree: %s: %v", a.Name, file, err)
			}
			names = append(names, found...)
		}
	}
	return names, nil
}

// maxProject bounds a file of settings in a tree.
const maxProject = 1 << 20

// readPlainIn reads a plain file of a tree. What is a link, or too large for settings, is
// not read: a client would, and nobody knows what it finds.
func readPlainIn(tree *overlay.Dir, name string) ([]byte, error) {
	dir := tree
	if parent := path.Dir(name); parent != "." {
		sub, err := tree.Sub(parent)
		if err != nil {
			return nil, err
		}
		defer sub.Close()
		dir = sub
	}
	e, err := dir.Entry(path.Base(name))
	if err != nil {
		return nil, err
	}
	if e.Kind() != unix.S_IFREG {
		return nil, errors.New("it is not a plain file")
	}
	f, err := e.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return plainfile.Bounded(f, maxProject)
}
