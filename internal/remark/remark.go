// Package remark keeps what a person notes while they review a result: comments on lines, and
// which contents they have seen. Both are bound to the object ID of a content, so that neither
// ever attaches to other code. The notes of a worker are one file in the state directory, which
// no cell sees.
//
// The package refuses to move a comment: when a file changes, its comments are outdated. It sends
// nothing to a worker; cordon resume --comments does.
package remark

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/inspect"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/plainfile"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

// file is where the notes of a worker are, among what is kept about it.
const file = "remarks.json"

// Bounds of notes.
const (
	mostComments = 1000
	mostLines    = 200
	mostText     = 8 << 10
	mostSeen     = 100_000
	mostFile     = 32 << 20
)

// notes are the content of the file.
type notes struct {
	Last     int            `json:"last"` // number of the last comment that was made
	Comments []view.Comment `json:"comments"`
	Seen     []string       `json:"seen"`
}

// On is where a comment is made.
type On struct {
	Path     string
	Side     string // view.SideNew or view.SideOld
	From, To int    // lines, from 1
	Blob     string // the content that was shown; "": whatever is there
}

// Add makes a comment.
func Add(ctx context.Context, s *worksite.Site, w *ledger.Worker, on On, text, who string) (view.Comment, error) {
	text = strings.TrimSpace(legible.Plain(text))
	switch {
	case text == "":
		return view.Comment{}, mistake("a comment needs a text")
	case len(text) > mostText:
		return view.Comment{}, mistake("a comment has at most %d bytes", mostText)
	case on.Side != view.SideNew && on.Side != view.SideOld:
		return view.Comment{}, mistake("a comment is about the new or the old side, and not %q", on.Side)
	case path.Clean("/"+on.Path) != "/"+on.Path || strings.ContainsAny(on.Path, "\n\x00"):
		return view.Comment{}, mistake("%s is no path of a file in the result", legible.Line(on.Path))
	case on.From < 1 || on.To < on.From || on.To-on.From >= mostLines:
		return view.Comment{}, mistake("a comment is about lines from 1 on, at most %d of them", mostLines)
	}
	c := view.Comment{Path: view.Text(on.Path), Side: on.Side, From: on.From, To: on.To, Text: text, Who: who, Created: s.Now().UTC()}
	if err := quote(ctx, s, w, on, &c); err != nil {
		return view.Comment{}, err
	}
	err := change(s, w, func(n *notes) error {
		if len(n.Comments) >= mostComments {
			return mistake("%s has %d comments: that is enough", w.ID, len(n.Comments))
		}
		n.Last++
		c.ID = fmt.Sprintf("c%d", n.Last)
		n.Comments = append(n.Comments, c)
		return nil
	})
	return c, err
}

// quote finds the content that a comment is about, and takes its lines.
func quote(ctx context.Context, s *worksite.Site, w *ledger.Worker, on On, c *view.Comment) error {
	blobs, err := blobsOf(ctx, s, w, []view.Comment{*c})
	if err != nil {
		return err
	}
	switch c.Blob = string(blobs[0]); {
	case c.Blob == "":
		return mistake("the %s side of the result of %s has no file %s", c.Side, w.ID, legible.Line(on.Path))
	case on.Blob != "" && on.Blob != c.Blob:
		return &fault.StaleError{What: legible.Line(on.Path), Moved: []string{fmt.Sprintf("its content was %.10s and is %.10s now", on.Blob, c.Blob)}}
	}
	content, err := s.Gate.Repo().Blob(ctx, blobs[0])
	if err != nil {
		return err
	}
	lines := bytes.Split(bytes.TrimSuffix(content, []byte("\n")), []byte("\n"))
	if on.To > len(lines) {
		return mistake("%s has %d lines", legible.Line(on.Path), len(lines))
	}
	for _, line := range lines[on.From-1 : on.To] {
		c.Quote = append(c.Quote, view.Text(line))
	}
	return nil
}

// blobsOf are the contents that the files of comments have now; "" where there is none.
func blobsOf(ctx context.Context, s *worksite.Site, w *ledger.Worker, list []view.Comment) ([]git.OID, error) {
	if err := s.Begin(ctx); err != nil {
		return nil, err
	}
	from, to, err := inspect.DiffEnds(ctx, s, w)
	if err != nil {
		return nil, err
	}
	blobs, names := make([]git.OID, len(list)), make([]string, len(list))
	for i, c := range list {
		names[i] = string(to) + ":" + string(c.Path)
		if c.Side == view.SideOld {
			names[i] = string(from) + ":" + string(c.Path)
		}
	}
	found, err := s.Gate.Repo().Lookup(ctx, names)
	for i, f := range found {
		if f.Kind == "blob" {
			blobs[i] = f.OID
		}
	}
	return blobs, err
}

// List are the comments on a worker's result, and the contents that were seen. A comment is
// outdated if its file has other content now, and also if that cannot be found out.
func List(ctx context.Context, s *worksite.Site, w *ledger.Worker) (*view.Comments, error) {
	n, err := load(s, w)
	if err != nil {
		return nil, err
	}
	v := &view.Comments{Worker: string(w.ID), Comments: append([]view.Comment{}, n.Comments...), Seen: append([]string{}, n.Seen...)}
	if len(v.Comments) == 0 {
		return v, nil
	}
	blobs, err := blobsOf(ctx, s, w, v.Comments)
	for i := range v.Comments {
		v.Comments[i].Outdated = err != nil || string(blobs[i]) != v.Comments[i].Blob
	}
	return v, nil
}

// Remove takes a comment back.
func Remove(s *worksite.Site, w *ledger.Worker, id string) error {
	return change(s, w, func(n *notes) error {
		rest := slices.DeleteFunc(slices.Clone(n.Comments), func(c view.Comment) bool { return c.ID == id })
		if len(rest) == len(n.Comments) {
			return mistake("%s has no comment %q: cordon comments ls %s lists them", w.ID, id, w.ID)
		}
		n.Comments = rest
		return nil
	})
}

// MarkSent notes that comments were sent to the worker.
func MarkSent(s *worksite.Site, w *ledger.Worker, list []view.Comment) error {
	now := s.Now().UTC()
	return change(s, w, func(n *notes) error {
		for i, c := range n.Comments {
			if slices.ContainsFunc(list, func(o view.Comment) bool { return o.ID == c.ID }) {
				n.Comments[i].Sent = &now
			}
		}
		return nil
	})
}

// MarkSeen notes that the operator has seen a content, or has not.
func MarkSeen(s *worksite.Site, w *ledger.Worker, blob string, seen bool) error {
	if _, err := git.ParseOID(blob); err != nil {
		return mistake("%q is no object ID", blob)
	}
	return change(s, w, func(n *notes) error {
		n.Seen = slices.DeleteFunc(n.Seen, func(o string) bool { return o == blob })
		if seen {
			n.Seen = append(n.Seen, blob)
		}
		if len(n.Seen) > mostSeen {
			n.Seen = slices.Delete(n.Seen, 0, len(n.Seen)-mostSeen)
		}
		return nil
	})
}

func mistake(format string, args ...any) error {
	return &fault.MistakeError{Err: fmt.Errorf(format, args...)}
}

// load reads the notes of a worker. A file that is not understood is an error: comments are not
// to be lost silently.
func load(s *worksite.Site, w *ledger.Worker) (n notes, err error) {
	f, err := plainfile.Open(s.WorkerFile(w.ID, file), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	if err != nil {
		return n, err
	}
	defer f.Close()
	text, err := plainfile.Bounded(f, mostFile)
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	return n, err
}

// change writes the notes of a worker anew while nobody else does.
func change(s *worksite.Site, w *ledger.Worker, act func(*notes) error) error {
	dir := s.State.Worker(string(w.ID))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock, err := filepath.Rel(s.State.Path(), filepath.Join(dir, "remarks.lock"))
	if err != nil {
		return err
	}
	release, err := s.State.Lock(lock, true)
	if err != nil {
		return err
	}
	defer release()
	n, err := load(s, w)
	if err != nil {
		return err
	}
	if err := act(&n); err != nil {
		return err
	}
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	name := s.WorkerFile(w.ID, file)
	if err := worksite.WriteSynced(name+".new", text); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
