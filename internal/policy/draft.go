package policy

import (
	"fmt"
	"strings"

	"cordon/internal/strictyaml"
)

// Draft is a policy file for a person to finish: every key with its comment and
// its default, some lists filled in, others only suggested. Draft decides
// nothing about what fits a repository; it only knows how a policy is written.
type Draft struct {
	Head  []string         // paragraphs of the comment at the top
	Lists map[string]Entry // by key, with its section: filesystem.scratch
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
	if w.used != len(d.Lists) {
		return nil, &Error{Problem: "the draft fills in a key that is not a list of a policy"}
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

func (w *drafter) section(fields []field, prefix, indent string) {
	for _, f := range fields {
		if indent == "" {
			w.out.WriteByte('\n')
		}
		path := prefix + f.Key
		switch {
		case f.Fields != nil:
			w.prose(indent, f.Doc)
			w.setting(w.holds(path+"."), indent, f.Key+":")
			w.section(f.Fields, path+".", indent+"  ")
		case f.Show(Default()).IsList:
			w.list(f, path, indent)
		default:
			value := f.Show(Default()).Scalar
			w.prose(indent, f.Doc+" Default: "+value+".")
			w.setting(path == "version", indent, f.Key+": "+value)
		}
	}
}

// holds reports whether anything in a section is set.
func (w *drafter) holds(prefix string) bool {
	for path, e := range w.draft.Lists {
		if strings.HasPrefix(path, prefix) && len(e.Set) > 0 {
			return true
		}
	}
	return false
}

func (w *drafter) list(f field, path, indent string) {
	e, found := w.draft.Lists[path]
	if found {
		w.used++
	}
	usual := f.Show(Default())
	plain := len(e.Set) == 0 && len(e.Offer) == 0
	if w.prose(indent, f.Doc+" Default: "+showDefault(usual, plain)+"."); plain {
		e.Offer = usual.List
	}
	if len(e.Set) == 0 && len(e.Offer) == 0 {
		w.setting(false, indent, f.Key+": []")
		return
	}
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

// showDefault is the default of a list in a line of text.
func showDefault(v strictyaml.Shown, below bool) string {
	if below && len(v.List) > 1 {
		return "the list below"
	}
	quoted := make([]string, 0, len(v.List))
	for _, s := range v.List {
		quoted = append(quoted, v.Entry(s))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
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
