package git

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// activity describes how far the processes of a group have come. asleep says that there
// are some and that all of them wait for something. A group that is asleep and has come no
// further since an earlier look has done nothing in between.
func activity(group int) (progress string, asleep bool) {
	var b strings.Builder
	asleep = true
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is sound
	for _, stat := range stats {
		if !inGroup(stat, group) {
			continue
		}
		threads, _ := filepath.Glob(filepath.Join(filepath.Dir(stat), "task/[0-9]*/status"))
		for _, thread := range threads {
			text, _ := os.ReadFile(thread) // it may have ended
			for line := range strings.Lines(string(text)) {
				switch name, value, _ := strings.Cut(line, ":"); {
				case name == "State":
					asleep = asleep && strings.HasPrefix(strings.TrimSpace(value), "S")
				case name == "Pid" || strings.HasSuffix(name, "ctxt_switches"):
					b.WriteString(line)
				}
			}
		}
	}
	return b.String(), asleep && b.Len() > 0
}

// inGroup reports whether the process of a stat file belongs to a process group.
func inGroup(stat string, group int) bool {
	text, _ := os.ReadFile(stat)                                                    // it may have ended
	fields := strings.Fields(string(text[strings.LastIndex(string(text), ")")+1:])) // state, parent, group
	return len(fields) > 2 && fields[2] == strconv.Itoa(group)
}
