// Package audit finds out what a worker really changed and holds it against the
// lease.
//
// It reads the worker's files itself, from an open directory, component by
// component, following no link, and compares them with the base commit. No git
// process, index, configuration, ignore rule, attribute or git directory of the
// worker's has a say. Beside the tree it reads the commits that the worker left
// (as verified objects, in a repository of cordon's own) and the state of the
// host before and after.
//
// The package refuses to answer "nothing" when it could not look: whatever
// cannot be read is a violation.
package audit

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"cordon/internal/git"
	"cordon/internal/legible"
	"cordon/internal/policy"
)

// Path is a slash-separated path from the top of a tree, or an absolute one of
// something outside, as raw bytes. In JSON
// it is a string where it is valid UTF-8 and {"base64": …} where it is not,
// because an encoder that replaces bytes would make two names one.
type Path string

// MarshalJSON keeps every byte.
func (p Path) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(p)) {
		return json.Marshal(string(p))
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString([]byte(p))})
}

// UnmarshalJSON reads either form.
func (p *Path) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err == nil {
		*p = Path(s)
		return nil
	}
	var o struct {
		Base64 *string `json:"base64"`
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return err
	}
	if o.Base64 == nil {
		return fmt.Errorf("not a path: %s", b)
	}
	raw, err := base64.StdEncoding.DecodeString(*o.Base64)
	*p = Path(raw)
	return err
}

// String is the path for a terminal: quoted when a byte of it could do
// something to one.
func (p Path) String() string {
	unprinted := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
	if strings.ContainsFunc(string(p), unprinted) || legible.Hides(string(p)) || strings.HasPrefix(string(p), `"`) {
		return strconv.QuoteToASCII(string(p))
	}
	return string(p)
}

// Kind says what happened at a path.
type Kind string

// The first group may land. The others never do, whatever the lease allows.
const (
	Added    Kind = "added"
	Modified Kind = "modified"
	Deleted  Kind = "deleted"
	Chmod    Kind = "mode"
	Retyped  Kind = "retyped" // a file became a link, or the reverse

	LinkOut    Kind = "link-out"   // a symbolic link that leads out
	Nested     Kind = "nested"     // a repository inside the tree, or a part of one
	GitlinkHit Kind = "gitlink"    // a submodule's entry, or something inside one
	Special    Kind = "special"    // neither file, directory nor link
	SetID      Kind = "setid"      // a setuid, setgid or sticky bit
	HardLink   Kind = "hard-link"  // a file with a second name somewhere
	BadName    Kind = "name"       // a name that means something to git or a terminal
	Unportable Kind = "unportable" // a name that Windows or macOS cannot have
	Collision  Kind = "collision"  // two names that some file systems take for one
	TooLarge   Kind = "too-large"  // more than cordon reads
	Pointer    Kind = "pointer"    // a Git LFS pointer that the base does not have
	Unreadable Kind = "unreadable" // it could not be looked at
	Commit     Kind = "commit"     // only in a commit of the worker's
	Replaced   Kind = "replace"    // a ref that makes git show other objects than were written
	HostChange Kind = "host"       // in the host repository
	Metadata   Kind = "metadata"   // outside the tree: mode, owner or attributes
	Refused    Kind = "refused"    // a system call that the cell refused
)

// Landable reports whether a change of this kind may land at all.
func (k Kind) Landable() bool {
	switch k {
	case Added, Modified, Deleted, Chmod, Retyped:
		return true
	}
	return false
}

// Change is one path that differs from the base.
type Change struct {
	Path   Path      `json:"path"`
	Kind   Kind      `json:"kind"`
	Old    git.Entry `json:"old"`
	New    git.Entry `json:"new"`
	Size   int64     `json:"size,omitempty"`
	Target Path      `json:"target,omitempty"` // of a symbolic link
	// Ignored: new, and excluded by the base commit's ignore rules.
	Ignored bool   `json:"ignored,omitempty"`
	Source  string `json:"source,omitempty"` // the commit or host part it was seen in; "" is the tree
	Detail  string `json:"detail,omitempty"`
	// Of what was written outside the tree: its hash, and where it is kept, from
	// the directory of the worker's layers.
	SHA256 string `json:"sha256,omitempty"`
	Kept   Path   `json:"kept,omitempty"`
	// LFS: the file is content of Git LFS, and SHA256 its hash. New is its pointer, which
	// lands in its place.
	LFS bool `json:"lfs,omitempty"`
	// Carried: an earlier attempt made the change, and the last one left it.
	Carried bool `json:"carried,omitempty"`
}

// Class is what becomes of a change.
type Class string

// A violation is what everything is until something says otherwise.
const (
	Violation Class = "violation"
	Landing   Class = "landing"
	Scratch   Class = "scratch"
	Ignored   Class = "ignored" // excluded by the base commit's ignore rules, so it never lands
	Note      Class = "note"    // worth knowing, decides nothing
)

// Finding is a change with the rule that decided about it.
type Finding struct {
	Change
	Class Class  `json:"class"`
	Rule  string `json:"rule"`
}

// Judge decides about a path of the tree: as a file, as a link that stands in for
// everything below it, and as a file that never lands because it is ignored.
type Judge interface {
	Judge(path string) policy.Verdict
	JudgeLink(path string) policy.Verdict
	JudgeIgnored(path string) policy.Verdict
	LeftOver(path string) bool
}

// Classify decides about every change, in order.
func Classify(changed []Change, rules Judge) []Finding {
	findings := make([]Finding, 0, len(changed))
	for _, c := range changed {
		findings = append(findings, classify(c, rules))
	}
	return findings
}

func classify(c Change, rules Judge) Finding {
	switch c.Kind {
	case HostChange:
		return Finding{Change: c, Class: Violation, Rule: "the host repository is read-only to a worker"}
	case Replaced: // its path is a ref, about which no write_root says anything
		return Finding{Change: c, Class: Violation, Rule: never[Replaced]}
	}
	v := verdict(c, rules)
	f := Finding{Change: c, Class: Violation, Rule: v.Rule}
	switch v.Class {
	case policy.Scratch:
		f.Class = Scratch
		return f
	case policy.Landing:
		f.Class = Landing
	default:
		return f
	}
	// What an ignored place that cannot be read holds is not known to be ignored:
	// the base may have files there.
	if c.Ignored && c.Kind != Unreadable {
		f.Class, f.Rule = Ignored, "ignored by the base commit"
		return f
	}
	if !c.Kind.Landable() && c.Kind != Commit {
		f.Class, f.Rule = Violation, never[c.Kind]
		if f.Rule == "" {
			f.Rule = "cordon does not know this kind of change"
		}
	}
	return f
}

// Classify decides about every change of the tree, in order. The files of a layered tree
// exist nowhere but in the worker's private layer, and its ignored files never leave it:
// build output outside write_roots is no violation there.
func (t Tree) Classify(changed []Change) []Finding {
	findings := Classify(t.withCarried(changed), t.Rules)
	for i, f := range findings {
		if t.Layer && f.Class == Violation && f.leftOver() && t.Rules.LeftOver(string(f.Path)) {
			findings[i].Class, findings[i].Rule = Ignored, "ignored by the base commit, and outside write_roots"
		}
	}
	return findings
}

// leftOver reports whether a change is a plain new file that the base commit's rules
// ignore. Files that git would obey, links, special files and files of the operator's
// that cordon put into the tree are not.
func (c Change) leftOver() bool {
	plain := c.New.Mode == git.Regular || c.New.Mode == git.Executable
	return c.Ignored && c.Kind == Added && c.Old.Mode == git.Absent && plain && c.Source == ""
}

func verdict(c Change, rules Judge) policy.Verdict {
	switch {
	case c.Ignored:
		return rules.JudgeIgnored(string(c.Path))
	case c.New.Mode == git.Symlink:
		return rules.JudgeLink(string(c.Path))
	}
	return rules.Judge(string(c.Path))
}

// never gives the reason why a kind cannot land.
var never = map[Kind]string{
	LinkOut:    "a link must stay inside the write_roots",
	Nested:     "your git would read a repository inside the tree and run its settings",
	GitlinkHit: "submodules cannot be changed by a worker",
	Special:    "only files, directories and links can land",
	SetID:      "a setuid, setgid or sticky bit cannot land",
	HardLink:   "a file with a second hard link can be changed from elsewhere",
	BadName:    "the name is not safe for git or a terminal",
	Unportable: "some systems cannot check out this name (filesystem.names: any allows it)",
	Collision:  "the name collides with another one on some file systems",
	TooLarge:   "cordon does not read files of this size",
	Pointer:    "a worker hands in content, not a Git LFS pointer that it wrote itself",
	Replaced:   "replaced history does not land",
	Unreadable: "cordon lands nothing that it cannot read",
}

// Violations returns the changes that the lease does not allow: order kept,
// each path and kind once. Empty write_roots make a violation of every change.
func Violations(changed []Change, rules Judge) []Finding {
	return only(Classify(changed, rules), Violation)
}

func only(findings []Finding, class Class) []Finding {
	type key struct {
		path   Path
		kind   Kind
		source string
	}
	seen := map[key]bool{}
	var list []Finding
	for _, f := range findings {
		k := key{f.Path, f.Kind, f.Source}
		if f.Class != class || seen[k] {
			continue
		}
		seen[k] = true
		list = append(list, f)
	}
	return list
}
