package record

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cordon/internal/egress/target"
)

// How much a person is told at the end of a run: a screen also holds the rest.
const (
	lineColumns  = 100
	nameColumns  = 45
	failedLines  = 1
	refusedLines = 4
	adviceLines  = 2
)

// Lines are what a person is told of it at the end of a run.
func (t Tally) Lines() []string {
	lines := t.allowed()
	lines = append(lines, t.group(Failed, "failed", failedLines)...)
	lines = append(lines, t.group(Refused, "refused", refusedLines)...)
	lines = append(lines, t.advice()...)
	for i, l := range lines {
		lines[i] = shorten(l, lineColumns)
	}
	return lines
}

// allowed is the line of what left the cell.
func (t Tally) allowed() []string {
	switch {
	case t.Allowed > 0 && t.Resolved > 0:
		return []string{fmt.Sprintf("allowed: %s, %s sent, %s received; %s looked up", several(t.Allowed, "connection"), size(t.Sent), size(t.Received),
			several(t.Resolved, "other name"))}
	case t.Allowed > 0:
		return []string{fmt.Sprintf("allowed: %s, %s sent, %s received", several(t.Allowed, "connection"), size(t.Sent), size(t.Received))}
	case t.Resolved > 0:
		return []string{fmt.Sprintf("allowed: no connection; %s looked up", several(t.Resolved, "name"))}
	}
	return nil
}

// group are the lines of one verdict, in the order of the entries, and one of the
// rest.
func (t Tally) group(v Verdict, word string, limit int) []string {
	var lines []string
	said := Tally{Allowed: t.Allowed, Refused: t.Refused, Failed: t.Failed}
	for _, one := range t.Tried {
		if one.Verdict == v && len(lines) < limit {
			lines = append(lines, fmt.Sprintf("%s: %s %d ×%s: %s", word, one.subject(), one.Count, one.first(), one.why()))
			said.Tried = append(said.Tried, one)
		}
	}
	if more := said.untold(v); more > 0 {
		lines = append(lines, fmt.Sprintf("%s: others %d ×", word, more))
		if v == Refused {
			lines[len(lines)-1] += t.otherNames(len(t.refusedNames()) - len(said.refusedNames()))
		}
	}
	return lines
}

// otherNames says how many names and addresses there are beside those that were said.
func (t Tally) otherNames(unsaid int) string {
	n, than := addInt(t.Left, unsaid), ""
	if t.Crowded {
		than = "more than "
	}
	if n == 0 {
		return ""
	}
	return ": " + than + several(n, "other destination")
}

// first says that a reason is not that of all.
func (t Tried) first() string {
	if t.Various && t.Allow == "" {
		return ", at first"
	}
	return ""
}

// subject is what was tried, as it is called in a policy.
func (t Tried) subject() string {
	switch a, err := netip.ParseAddr(t.Name); {
	case t.Name == "" && t.Kind == Resolve:
		return "names"
	case t.Name == "":
		return "something"
	case t.Port == 0:
		return shorten(t.Name, nameColumns)
	case err == nil:
		return netip.AddrPortFrom(a, t.Port).String()
	}
	return fmt.Sprintf("%s:%d", shorten(t.Name, nameColumns), t.Port)
}

// why is the reason, without what the subject says already.
func (t Tried) why() string {
	_, port := target.PortOfEntry(t.Allow)
	switch {
	case t.Reason == "":
		return "no reason was given"
	case port:
		return "nothing in the cell answered; not in network.host_ports"
	case t.isAway():
		return strings.TrimPrefix(t.Reason, t.Name+" ")
	case t.Allow != "" && t.isAddress():
		return "an address, not in network.allowed_domains"
	case t.Allow != "" && t.Kind == Connect:
		return "not in network.allowed_domains"
	}
	return strings.TrimPrefix(t.Reason, t.subject()+" is ")
}

// advice says what to write into the policy.
func (t Tally) advice() []string {
	var entries, away []string
	for _, e := range t.Suggest() {
		if slices.ContainsFunc(t.Tried, func(one Tried) bool { return one.Allow == e && one.isAway() }) {
			away = append(away, e)
		} else {
			entries = append(entries, e)
		}
	}
	// The lease is sealed: what the policy says from now on is not for this worker.
	lines := yamlList("to allow in a new run: network.allowed_domains: [", entries, adviceLines)
	if last := len(lines) - 1; last >= 0 {
		if more := lines[last] + ofPresets(entries); utf8.RuneCountInString(more) <= lineColumns {
			lines[last] = more
		}
	}
	lines = append(lines, yamlList("if this name should lead into your own network: network.allowed_domains: [", away, 1)...)
	var ports []string
	for _, p := range t.SuggestPorts() {
		ports = append(ports, strconv.Itoa(p))
	}
	lines = append(lines, yamlList("if your own localhost was meant: network.host_ports: [", ports, 1)...)
	if slices.ContainsFunc(t.Tried, func(one Tried) bool { return one.isAddress() && one.Verdict == Refused && target.IsWritable(one.Allow) }) {
		lines = append(lines, "(an address is whoever answers there: where programs can use a name, allow that instead)")
	}
	return lines
}

// ofPresets says which presets have entries that are suggested: who needs one of a
// preset soon needs the others.
func ofPresets(entries []string) string {
	var names []string
	some := ""
	for _, e := range entries {
		switch name := target.PresetOf(e); {
		case name == "":
			some = "some are "
		case !slices.Contains(names, name):
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + some + "part of " + strings.Join(names, ", ") + ")"
}

func (t Tried) isAddress() bool {
	_, err := netip.ParseAddr(t.Name)
	return err == nil
}

// yamlList is a list that can be pasted, over a few lines. It ends with how many
// had no place in it.
func yamlList(prefix string, entries []string, limit int) []string {
	const rest = len("] and 4096 more")
	indent := strings.Repeat(" ", len("to allow: "))
	lines, comma, left := []string{prefix}, "", 0
	for _, e := range entries {
		e = Quoted(e)
		last := &lines[len(lines)-1]
		switch {
		case len(*last)+len(comma)+len(e)+rest <= lineColumns:
			*last += comma + e
		case comma != "" && len(lines) < limit && len(indent)+len(e)+rest <= lineColumns:
			*last += ","
			lines = append(lines, indent+e)
		default:
			left++
			continue
		}
		comma = ", "
	}
	if comma == "" {
		return nil
	}
	lines[len(lines)-1] += "]"
	if left > 0 {
		lines[len(lines)-1] += fmt.Sprintf(" and %d more", left)
	}
	return lines
}

// Quoted is an entry as a list of YAML has it, in quotes where it would be read as
// something else than a text.
func Quoted(entry string) string {
	plain := func(r rune) bool { return isAlphanumeric(r) || strings.ContainsRune("-._:/", r) }
	first, _ := utf8.DecodeRuneInString(entry)
	if isAlphanumeric(first) && strings.TrimFunc(entry, plain) == "" && !strings.HasSuffix(entry, ":") {
		return entry
	}
	return strconv.Quote(entry)
}

func isAlphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// shorten cuts a text for people to so many columns.
func shorten(s string, columns int) string {
	if utf8.RuneCountInString(s) <= columns {
		return s
	}
	runes := []rune(s)
	return string(runes[:columns-1]) + "…"
}

func several(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// size is a number of bytes for people.
func size(n int64) string {
	if n < 1<<10 {
		return strconv.FormatInt(n, 10) + " B"
	}
	f, units := float64(n)/(1<<10), []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	for f >= 1023.5 && len(units) > 1 {
		f, units = f/(1<<10), units[1:]
	}
	if f < 9.95 {
		return fmt.Sprintf("%.1f %s", f, units[0])
	}
	return fmt.Sprintf("%.0f %s", f, units[0])
}
