package main

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"cordon/internal/config"
	"cordon/internal/message"
	"cordon/internal/plainfile"
)

// messageFlags are the operator's own words for the commit that lands.
type messageFlags struct {
	text []string
	file string
}

func (m *messageFlags) on(f *pflag.FlagSet) {
	f.StringArrayVarP(&m.text, "message", "m", nil, "use `TEXT` as the message of the commit instead of the agent's words (repeatable: paragraphs)")
	f.StringVarP(&m.file, "file", "F", "", "read the message of the commit from `FILE` (- is the standard input)")
}

// read is the message that the flags give; "" for none.
func (m *messageFlags) read(in io.Reader, detached bool) (string, error) {
	text := strings.Join(m.text, "\n\n")
	switch {
	case m.text == nil && m.file == "":
		return "", nil
	case m.text != nil && m.file != "":
		return "", usage("use -m or -F, not both")
	case m.file == "-" && detached:
		return "", usage("-F - cannot be read in the background: name a file")
	case m.file != "":
		read := readNamed
		if m.file == "-" {
			read = func(string) ([]byte, error) { return io.ReadAll(io.LimitReader(in, plainfile.Text)) }
		}
		content, err := read(m.file)
		if err != nil {
			return "", usage("-F %s: %w", m.file, err)
		}
		text = string(content)
	}
	if _, err := message.Own(text); err != nil {
		return "", usage("%v", err)
	}
	return text, nil
}

const landAsHelp = "`FORM` of the commits that land: squash (one), history (the worker's own, and a merge) or rebase (the worker's own in a line); " +
	"default: land.as of your configuration"

// landForm is the form that the flags ask for; "" for none.
func landForm(as string, history bool) (config.Form, error) {
	switch form := config.Form(as); {
	case history && as != "" && form != config.History:
		return "", usage("--keep-history means --land-as history, not %s", as)
	case history:
		return config.History, nil
	case !slices.Contains([]config.Form{"", config.Squash, config.History, config.Rebase}, form):
		return "", usage("--land-as takes squash, history or rebase, not %q", as)
	default:
		return form, nil
	}
}
