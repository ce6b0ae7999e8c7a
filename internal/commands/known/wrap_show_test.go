package known

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// wrapWords splits a line of a test as env -S does: quotes, no expansion. Marks are
// written as they are shown.
func wrapWords(line string) []string {
	line = markNames.Replace(line)
	return argtext.SplitWords(line, func(string) string { return mark.Any })
}

var (
	markNames = strings.NewReplacer("«any»", mark.Any, "«atom»", mark.Atom, "«in»", mark.Inside, "«out»", mark.Outside, "«tmp»", mark.Scratch, "«sys»", mark.System)
	markShown = strings.NewReplacer(mark.Any, "«any»", mark.Atom, "«atom»", mark.Inside, "«in»", mark.Outside, "«out»", mark.Scratch, "«tmp»", mark.System, "«sys»", "\n", "⏎", "\x00", "␀")
)

// showUse writes a use on one line: accesses, runs, findings, what it prints.
//
//	R W E X T   an access, by its role
//	>  a command    $  a line of shell    <  a file that is run
func showUse(u commands.Use) string {
	var parts []string
	for _, a := range u.Access {
		parts = append(parts, "RWEXT"[a.Role:a.Role+1]+" "+a.Path+inDir(a.Dir))
	}
	for _, r := range u.Runs {
		parts = append(parts, showWrapRun(r))
	}
	for _, f := range u.Findings {
		parts = append(parts, [...]string{"ask", "deny"}[f.Weight])
	}
	if u.Out != "" && u.Out != mark.Any {
		parts = append(parts, "= "+u.Out)
	}
	return markShown.Replace(strings.Join(parts, " | "))
}

func inDir(dir string) string {
	if dir == "" {
		return ""
	}
	return " @" + dir
}

func showWrapRun(r commands.Run) string {
	var text string
	switch {
	case r.File != "":
		text = "< " + r.File
	case len(r.Args) > 0:
		text = "> " + strings.Join(r.Args, " ")
	default:
		text = "$ " + r.Code
	}
	if r.Lang != commands.Shell {
		text += " (" + string(r.Lang) + ")"
	}
	if len(r.Params) > 0 {
		text += " [" + strings.Join(r.Params, " ") + "]"
	}
	text += inDir(r.Dir)
	for _, v := range r.Env {
		text += " +" + v
	}
	for _, v := range r.Unset {
		text += " -" + v
	}
	for _, flag := range []struct {
		on   bool
		text string
	}{{r.Clean, " clean"}, {r.Fed, " fed"}, {r.Later, " later"}} {
		if flag.on {
			text += flag.text
		}
	}
	return text
}
