// Package usersetup reads what a person has set up for an agent client in their home: memory
// files, skills, agents, commands and MCP servers.
//
// It only reads and names. It refuses to decide what of it a worker gets, to clean it
// (package agent does), and to read more than its bounds allow. A link is followed: the
// home is the operator's own, and many keep these files elsewhere.
package usersetup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"cordon/internal/agent"
	"cordon/internal/enclosure"
	"cordon/internal/plainfile"
)

const (
	// maxFile bounds one file.
	maxFile = 1 << 20
	// maxPart bounds the files of one kind.
	maxPart = 16 << 20
	// mostEntries bounds how many entries of a folder are looked at.
	mostEntries = 4096
	// deepest bounds how far a folder is followed: a link may lead back to it.
	deepest = 8
)

// Look lists what there is for a client, by names. checkout is the operator's, for servers
// that a client keeps for each.
func Look(home, checkout string, a *agent.Adapter) (agent.Inventory, error) {
	var found agent.Inventory
	for _, name := range a.User.Instructions {
		if fi, err := os.Stat(enclosure.KeptAt(home, name)); err == nil && fi.Mode().IsRegular() && fi.Size() > 0 {
			found.Instructions = append(found.Instructions, name)
		}
	}
	for _, one := range []struct {
		part agent.Part
		list *[]string
	}{{agent.Skills, &found.Skills}, {agent.Agents, &found.Agents}, {agent.Commands, &found.Commands}} {
		for _, folder := range a.User.Of(one.part) {
			files, err := below(enclosure.KeptAt(home, folder.At+"/."), folder)
			if err != nil {
				return found, fmt.Errorf("~/%s: %w", folder.At, err)
			}
			for _, f := range files {
				if name, main, ok := folder.Named(f); ok && main && !slices.Contains(*one.list, name) {
					*one.list = append(*one.list, name)
				}
			}
		}
	}
	servers, err := Servers(home, checkout, a)
	for _, s := range servers {
		found.Servers = append(found.Servers, s.Name)
	}
	return found, err
}

// Find reads the parts of a kind that there are for a client. A file that is too large is
// left out of what it belongs to.
func Find(home string, a *agent.Adapter, part agent.Part) ([]agent.Found, error) {
	var list []agent.Found
	for _, folder := range a.User.Of(part) {
		dir := enclosure.KeptAt(home, folder.At+"/.")
		names, err := below(dir, folder)
		if err != nil {
			return nil, fmt.Errorf("~/%s: %w", folder.At, err)
		}
		var files []agent.File
		room := int64(maxPart)
		for _, name := range names {
			text, err := plainfile.ReadLinked(filepath.Join(dir, filepath.FromSlash(name)), min(maxFile, room))
			if err != nil {
				continue
			}
			room -= int64(len(text))
			files = append(files, agent.File{Name: name, Text: text})
		}
		list = append(list, folder.Group(part, agent.FromUser, files)...)
	}
	return list, nil
}

// Memory is the text of the operator's own instructions for a client, and the name of its
// file below the home. There may be none.
func Memory(home string, a *agent.Adapter) (name, text string, err error) {
	for _, name := range a.User.Instructions {
		b, err := plainfile.ReadLinked(enclosure.KeptAt(home, name), maxFile)
		if errors.Is(err, fs.ErrNotExist) || err == nil && len(b) == 0 {
			continue
		}
		if err != nil {
			return "", "", fmt.Errorf("~/%s: %w", name, err)
		}
		return name, string(b), nil
	}
	return "", "", nil
}

// Servers are the operator's own MCP servers, with the values of the variables that they
// name.
func Servers(home, checkout string, a *agent.Adapter) ([]agent.Server, error) {
	files := map[string][]byte{}
	for _, name := range a.ServerFiles {
		text, err := plainfile.ReadLinked(enclosure.KeptAt(home, name), 64*maxFile)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("~/%s: %w", name, err)
		default:
			files[name] = text
		}
	}
	return a.OwnServers(files, checkout, os.LookupEnv)
}

// below lists the files below a folder, with slashes. A folder that is not there has none.
func below(dir string, folder agent.Folder) ([]string, error) {
	var list []string
	seen := 0
	var walk func(rel string, depth int) error
	walk = func(rel string, depth int) error {
		entries, err := os.ReadDir(filepath.Join(dir, rel))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			if seen++; seen > mostEntries {
				return fmt.Errorf("it has more than %d entries", mostEntries)
			}
			name := filepath.Join(rel, e.Name())
			fi, err := os.Stat(filepath.Join(dir, name))
			switch {
			case err != nil: // a link to nothing
			case fi.Mode().IsRegular():
				list = append(list, filepath.ToSlash(name))
			case fi.IsDir() && depth < deepest && (folder.Deep || folder.Ext == ""):
				if err := walk(name, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	err := walk("", 0)
	slices.Sort(list)
	return list, err
}
