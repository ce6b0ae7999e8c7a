package policy

import (
	"fmt"
	"strings"
)

// Draft is a policy file for a person to finish: some keys filled in, lists also only
// suggested. Keys about which it says nothing are left out, and have their defaults. Draft
// decides nothing about what fits a repository; it only knows how a policy is written.
type Draft struct {
	Head  []string         // paragraphs of the comment at the top
	Lists map[string]Entry // by key, with its section: filesystem.scratch
	Words map[string]Entry // the same for keys with one value, which is the only one in Set
}

// Entry is what a draft says about one list.
type Entry struct {
	Set   []string // entries that hold; none: the key stays at its default
	Why   string   // what to say above them
	Offer []string // entries written as comments
	Note  string   // what to say above the offers
}

// draftWidth is where the comments of a draft are broken.
const draftWidth = 80

// YAML writes the draft. A setting that does not hold stands behind a # without
// a blank, so that deleting this one character makes it hold; text stands behind
// a # with one. A draft that Parse would refuse is an error.
func (d Draft) YAML() ([]byte, error) {
	w := drafter{draft: d}
	for i, paragraph := range d.Head {
		if i > 0 {
			w.out.WriteString("#\n")
		}
		w.prose("", paragraph)
	}
	w.section(fieldTable(), "", "")
	said := 0
	for _, e := range d.Lists {
		if e.says() {
			said++
		}
	}
	if w.used != said+len(d.Words) {
		return nil, &Error{Problem: "the draft fills in a key that a policy does not have so"}
	}
	text := []byte(w.out.String())
	if _, err := Parse("draft", text); err != nil {
		return nil, err
	}
	return text, nil
}

type drafter struct {
	draft Draft
	out   strings.Builder
	used  int // entries of Lists that were met
}

func (e Entry) says() bool { return len(e.Set)+len(e.Offer) > 0 }

func (w *drafter) section(fields []field, prefix, indent string) {
	for _, f := range fields {
		path := prefix + f.Key
		switch {
		case f.Fields != nil:
			if w.any(path+".", Entry.says) {
				w.setting(w.holds(path+"."), indent, f.Key+":")
				w.section(f.Fields, path+".", indent+"  ")
			}
		case f.Show(Default()).IsList:
			w.list(f, path, indent)
		case path == "version":
			w.setting(true, indent, f.Key+": "+f.Show(Default()).Scalar)
		default:
			w.word(f, w.draft.Words[path], indent)
		}
	}
}

// any reports whether an entry of a section is as asked.
func (w *drafter) any(prefix string, is func(Entry) bool) bool {
	for _, entries := range []map[string]Entry{w.draft.Lists, w.draft.Words} {
		for path, e := range entries {
			if strings.HasPrefix(path, prefix) && is(e) {
				return true
			}
		}
	}
	return false
}

// word writes a key with one value, if the draft has it.
func (w *drafter) word(f field, e Entry, indent string) {
	if len(e.Set) != 1 {
		return
	}
	w.used++
	w.prose(indent, e.Why)
	w.setting(true, indent, f.Key+": "+e.Set[0])
}

// holds reports whether anything in a section is set.
func (w *drafter) holds(prefix string) bool {
	return w.any(prefix, func(e Entry) bool { return len(e.Set) > 0 })
}

func (w *drafter) list(f field, path, indent string) {
	e := w.draft.Lists[path]
	if !e.says() {
		return
	}
	w.used++
	usual := f.Show(Default())
	w.setting(len(e.Set) > 0, indent, f.Key+":")
	indent += "  "
	if e.Why != "" && len(e.Set) > 0 {
		w.prose(indent, e.Why)
	}
	for _, s := range e.Set {
		w.setting(true, indent, "- "+usual.Entry(s))
	}
	if e.Note != "" && len(e.Offer) > 0 {
		w.prose(indent, e.Note)
	}
	for _, s := range e.Offer {
		w.setting(false, indent, "- "+usual.Entry(s))
	}
}

func (w *drafter) setting(holds bool, indent, text string) {
	if !holds {
		text = "#" + text
	}
	fmt.Fprintf(&w.out, "%s%s\n", indent, text)
}

// prose writes a comment, broken between words.
func (w *drafter) prose(indent, text string) {
	line := indent + "#"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > draftWidth && line != indent+"#" {
			w.out.WriteString(line + "\n")
			line = indent + "#"
		}
		line += " " + word
	}
	w.out.WriteString(line + "\n")
}
