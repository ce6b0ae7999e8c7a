package agent

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cordon/internal/agent/clean"
)

// Source says whose a part is.
type Source string

const (
	FromUser    Source = "user"    // the operator's own
	FromProject Source = "project" // the repository's, at the base commit
)

// Item is one skill, agent or command, as the text that a worker gets.
type Item struct {
	Part    Part
	Name    string // with the directories that it lies in
	From    Source
	Files   []File   // by names below the folder of the part
	Removed []string // what was taken out of it, for a person
	Raw     []byte   // a command that is no Markdown, as it was found
}

// Found is a skill, agent or command as it was found: files by their names below a folder.
type Found struct {
	Part   Part
	Name   string
	From   Source
	Folder Folder
	Files  []File
}

// Group makes parts of the files below a folder. Files that belong to none are left alone.
func (f Folder) Group(part Part, from Source, files []File) []Found {
	var list []Found
	at := map[string]int{}
	for _, file := range files {
		if name, main, ok := f.Named(file.Name); ok && main {
			at[name] = len(list)
			list = append(list, Found{Part: part, Name: name, From: from, Folder: f, Files: []File{file}})
		}
	}
	for _, file := range files {
		name, main, ok := f.Named(file.Name)
		if i, there := at[name]; ok && !main && there {
			list[i].Files = append(list[i].Files, file)
		}
	}
	return list
}

// itemName is a name that can be a path on every machine, and that no client takes for
// something else. Directories are separated with slashes.
var itemName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\pL\pN_][\pL\pN_.: -]*(/[\pL\pN_][\pL\pN_.: -]*)*$`)
})

// Clean makes an item of what was found, or says why it cannot.
func (a *Adapter) Clean(f Found) (Item, error) {
	item := Item{Part: f.Part, Name: f.Name, From: f.From}
	if !itemName().MatchString(f.Name) {
		return item, fmt.Errorf("its name is not plain")
	}
	for _, file := range f.Files {
		_, main, _ := f.Folder.Named(file.Name)
		switch {
		case main && f.Folder.Ext == ".toml":
			text, removed, err := a.CleanCommand(file.Text)
			if err != nil {
				return item, err
			}
			item.Files, item.Raw = append([]File{{Name: file.Name, Text: text}}, item.Files...), file.Text
			item.Removed = append(item.Removed, removed...)
		case main:
			cleaned, err := clean.Markdown(path.Base(f.Name), file.Text, a.Fronts[f.Part])
			if err != nil {
				return item, err
			}
			item.Files = append([]File{{Name: file.Name, Text: cleaned.Text}}, item.Files...)
			item.Removed = append(item.Removed, cleaned.Removed...)
		case besides(file.Name):
			item.Files = append(item.Files, file)
		default:
			item.Removed = append(item.Removed, path.Base(file.Name))
		}
	}
	slices.Sort(item.Removed)
	item.Removed = slices.Compact(item.Removed)
	return item, nil
}

// besides says whether a file beside SKILL.md goes in: one that a client could obey does
// not. That is a hidden one, a skill in a skill, and what says what a skill needs to run.
func besides(name string) bool {
	for i, part := range strings.Split(name, "/") {
		if !itemName().MatchString(part) || i > 0 && (strings.EqualFold(part, skillFile) || strings.EqualFold(part, "agents")) {
			return false
		}
	}
	switch strings.ToLower(path.Base(name)) {
	case "plugin.json", "hooks.json", "mcp.json", "openai.yaml", "openai.yml":
		return false
	}
	return true
}

// ItemsDir is where the items lie in the place of the kit.
const ItemsDir = "parts"

// AddItems adds the items of a part below a directory of the kit, and returns the names of
// the entries there: those of skills, and files and directories of the others.
func (k *Kit) AddItems(o Order, part Part, dir string) []string {
	var entries []string
	for _, item := range o.Items {
		if item.Part != part {
			continue
		}
		for _, f := range item.Files {
			k.AddFile(path.Join(dir, f.Name), f.Text)
			first, _, _ := strings.Cut(f.Name, "/")
			entries = append(entries, first)
		}
	}
	slices.Sort(entries)
	return slices.Compact(entries)
}

// LinkItems adds the items of a part, and links to them below the client's state.
func (k *Kit) LinkItems(o Order, part Part, below string) {
	for _, entry := range k.AddItems(o, part, path.Join(ItemsDir, string(part))) {
		k.Links = append(k.Links, Link{Name: path.Join(below, entry), To: path.Join(o.Place, ItemsDir, string(part), entry)})
	}
}

// LinkFolder adds the items of a part, and a link to the folder with all of them: a client
// may pass over links in a folder.
func (k *Kit) LinkFolder(o Order, part Part, name string) {
	dir := path.Join(ItemsDir, string(part))
	if len(k.AddItems(o, part, dir)) > 0 {
		k.Links = append(k.Links, Link{Name: name, To: path.Join(o.Place, dir)})
	}
}

// ShowItems adds the items of a part, and shows them at a place of the machine.
func (k *Kit) ShowItems(o Order, part Part, at string) {
	for _, entry := range k.AddItems(o, part, path.Join(ItemsDir, string(part))) {
		k.Shown = append(k.Shown, Shown{Name: path.Join(ItemsDir, string(part), entry), At: path.Join(at, entry)})
	}
}

// withMemory is the briefing with the operator's own instructions behind it.
func (o Order) withMemory() string {
	if o.Memory == "" {
		return o.Briefing
	}
	return strings.TrimRight(o.Briefing, "\n") + "\n\n# The operator's own instructions, for all their projects\n\n" + o.Memory
}
