package client

import (
	"errors"
	"strings"
)

// patchMarks begin the lines of a patch that name a file.
var patchMarks = [...]string{"*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"}

// patched takes the files that a patch names. A patch that came in the words of a
// shell, which may change directory before, is a command as well.
func (r *Request) patched(texts []string) error {
	text := strings.Join(texts, "\n")
	names := patchNames(text)
	if len(names) == 0 {
		names = diffNames(text)
	}
	if len(names) == 0 {
		return errors.New("the patch names no file")
	}
	for _, name := range names {
		r.Paths = append(r.Paths, Path{name, true})
	}
	switch {
	case len(texts) == 2 && texts[0] == "apply_patch":
	case len(texts) > 1:
		r.Commands = append(r.Commands, quoteAll(texts))
	case inShell(text):
		r.Commands = append(r.Commands, text)
	}
	return nil
}

// patchNames reads the form that starts with *** Begin Patch. Lines that it adds
// or takes away are content, whatever they look like; a line of context that looks
// like a mark is taken for one, since not every parser minds the blank before it.
func patchNames(text string) (names []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, mark := range patchMarks {
			if name, ok := strings.CutPrefix(line, mark); ok {
				names = append(names, strings.TrimSpace(name))
			}
		}
	}
	return names
}

// diffNames reads the form of diff and git.
func diffNames(text string) (names []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for _, mark := range [...]string{"--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to "} {
			name, ok := strings.CutPrefix(line, mark)
			if !ok {
				continue
			}
			name, _, _ = strings.Cut(name, "\t")
			name = strings.TrimPrefix(strings.TrimPrefix(name, "a/"), "b/")
			if name != "/dev/null" && name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// inShell reports whether a patch stands in words of a shell that do more than
// call apply_patch.
func inShell(text string) bool {
	before, _, found := strings.Cut(text, "*** Begin Patch")
	before = strings.TrimSpace(before)
	if before == "" || !found {
		return false
	}
	before = strings.TrimSpace(strings.TrimPrefix(before, "apply_patch"))
	heredoc, ok := strings.CutPrefix(before, "<<")
	return !ok || strings.ContainsAny(heredoc, " \t\n;&|$`(<>")
}
