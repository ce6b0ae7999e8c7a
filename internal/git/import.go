package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/gitfile"
)

// Writer receives the files of a snapshot.
type Writer struct {
	w   *bufio.Writer
	err error
}

// Delete removes a path of the base.
func (w *Writer) Delete(path string) {
	w.printf("D %s\n", gitfile.Quote(path))
}

// Link puts what the repository has already in a place.
func (w *Writer) Link(path string, e Entry) error {
	w.printf("M %s %s %s\n", e.Mode, e.OID, gitfile.Quote(path))
	return w.err
}

// Put writes a file of exactly size bytes.
func (w *Writer) Put(path string, mode Mode, size int64, content io.Reader) error {
	w.printf("M %s inline %s\ndata %d\n", mode, gitfile.Quote(path), size)
	if w.err != nil {
		return w.err
	}
	n, err := io.CopyN(w.w, content, size)
	if err != nil {
		return fmt.Errorf("%q: read %d bytes of %d: %w", path, n, size, err)
	}
	w.printf("\n")
	return w.err
}

func (w *Writer) printf(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.w, format, args...)
	}
}

// Snapshot writes one commit on top of base from the files that fill puts and
// deletes, points ref at it and returns it. Paths must have been verified by the
// caller.
func (r Repo) Snapshot(ctx context.Context, ref string, base OID, message string, fill func(*Writer) error) (OID, error) {
	pr, pw := io.Pipe()
	filled := make(chan error, 1)
	go func() {
		w := &Writer{w: bufio.NewWriterSize(pw, 1<<16)}
		w.printf("feature done\ncommit %s\ncommitter cordon <cordon@localhost> now\ndata %d\n%s\nfrom %s\n", ref, len(message), message, base)
		err := fill(w)
		if err == nil {
			w.printf("\ndone\n")
			if err = w.err; err == nil {
				err = w.w.Flush()
			}
		}
		pw.CloseWithError(err)
		filled <- err
	}()
	_, err := r.call(ctx, call{args: []string{"fast-import", "--quiet", "--force", "--done", "--date-format=now"}, stdin: pr})
	pr.CloseWithError(io.ErrClosedPipe)
	if ferr := <-filled; err == nil || ferr != nil && !errors.Is(ferr, io.ErrClosedPipe) { // which says only that git ended
		err = ferr
	}
	if err != nil {
		return "", err
	}
	return r.Ref(ctx, ref)
}

// PutBlob stores content as a blob.
func (r Repo) PutBlob(ctx context.Context, content io.Reader) (OID, error) {
	out, err := r.call(ctx, call{args: []string{"hash-object", "-w", "-t", "blob", "--no-filters", "--stdin"}, stdin: content})
	if err != nil {
		return "", err
	}
	return ParseOID(strings.TrimSpace(string(out)))
}

// PutTree stores a tree of the given entries, which need not be sorted.
func (r Repo) PutTree(ctx context.Context, files []File) (OID, error) {
	var in strings.Builder
	for _, f := range files {
		kind := "blob"
		switch f.Mode {
		case Directory:
			kind = "tree"
		case Gitlink:
			kind = "commit"
		}
		fmt.Fprintf(&in, "%s %s %s\t%s\x00", f.Mode, kind, f.OID, f.Path)
	}
	out, err := r.call(ctx, call{args: []string{"mktree", "-z"}, stdin: strings.NewReader(in.String())})
	if err != nil {
		return "", err
	}
	return ParseOID(strings.TrimSpace(string(out)))
}

// AddPack stores the objects of a pack stream after checking every one of them
// and every link between them.
func (r Repo) AddPack(ctx context.Context, pack io.Reader) error {
	return r.addPack(ctx, pack, "--strict")
}

func (r Repo) addPack(ctx context.Context, pack io.Reader, strict string) error {
	_, err := r.call(ctx, call{args: []string{"index-pack", "--stdin", strict, "--fix-thin"}, stdin: pack})
	return err
}

// AddPackUnlinked stores the objects of a pack stream after checking each of
// them alone (what they point at may be missing) and returns their names. The pack
// has to be complete, as every pack of a repository is: a delta of a few bytes would
// otherwise bring a copy of any object that this repository can read. Flags ask git
// index-pack for more checks.
func (r Repo) AddPackUnlinked(ctx context.Context, pack io.Reader, flags ...string) ([]OID, error) {
	out, err := r.call(ctx, call{args: append([]string{"index-pack", "--stdin"}, flags...), stdin: pack})
	if err != nil {
		return nil, err
	}
	_, name, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
	idx, err := os.Open(filepath.Join(r.ObjectsDir(), "pack", "pack-"+name+".idx"))
	if err != nil {
		return nil, err
	}
	defer idx.Close()
	if out, err = r.call(ctx, call{args: []string{"show-index", "--object-format=" + string(r.Format)}, stdin: idx}); err != nil {
		return nil, err
	}
	var oids []OID
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			return nil, fmt.Errorf("unexpected answer from git show-index: %q", line)
		}
		oids = append(oids, OID(f[1]))
	}
	return oids, nil
}

// Send copies everything that wanted reaches and known does not into another
// repository, checked on the way. No transport, no ref and no configuration of
// either side is involved.
func (r Repo) Send(ctx context.Context, to Repo, wanted, known []OID) error {
	return r.send(ctx, to, wanted, known, "--strict")
}

// StrictForeign are the checks of objects that somebody else's program may have written.
const StrictForeign = "--strict=badFilemode=error"

// SendForeign is Send for objects that somebody else's program may have written:
// modes that git reads as other ones, which old repositories are full of, are
// refused too.
func (r Repo) SendForeign(ctx context.Context, to Repo, wanted, known []OID) error {
	return r.send(ctx, to, wanted, known, StrictForeign)
}

func (r Repo) send(ctx context.Context, to Repo, wanted, known []OID, strict string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pr, pw := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := r.WritePack(ctx, pw, wanted, known, "--thin")
		pw.CloseWithError(err)
		packed <- err
	}()
	err := to.addPack(ctx, pr, strict)
	pr.CloseWithError(io.ErrClosedPipe)
	if perr := <-packed; perr != nil && err == nil {
		return perr
	}
	return err
}

// WritePack writes a pack of everything that wanted reaches and known does not. It is complete
// in itself, unless flags say --thin: then it holds changes of objects that known reaches.
func (r Repo) WritePack(ctx context.Context, out io.Writer, wanted, known []OID, flags ...string) error {
	args := append([]string{"pack-objects", "--revs", "--stdout", "--quiet", "--delta-base-offset"}, flags...)
	_, err := r.call(ctx, call{args: args, stdin: oneToALine(wanted, known...), stdout: out})
	return err
}

// oneToALine names objects as git reads them, and with a ^ those to leave out.
func oneToALine(wanted []OID, known ...OID) io.Reader {
	var text strings.Builder
	for _, o := range wanted {
		fmt.Fprintln(&text, o)
	}
	for _, o := range known {
		fmt.Fprintf(&text, "^%s\n", o)
	}
	return strings.NewReader(text.String())
}
