package publish

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// body is how long the body of a request or an answer is.
type body struct {
	stated  bool // by length
	length  int64
	chunked bool
	rest    bool // to the end of the connection
}

// empty reports whether nothing follows the head.
func (b body) empty() bool { return !b.chunked && !b.rest && b.length == 0 }

var errLength = errors.New("the length is stated wrongly")

// bodyOf reads how long a body is. Where two fields say it, programs differ in which they
// believe.
func bodyOf(lengths, codings []string) (body, error) {
	switch {
	case len(lengths)+len(codings) == 0:
		return body{}, nil
	case len(lengths)+len(codings) > 1:
		return body{}, errLength
	case len(codings) == 1:
		if !strings.EqualFold(codings[0], "chunked") {
			return body{}, errLength
		}
		return body{chunked: true}, nil
	}
	n, err := strconv.ParseUint(lengths[0], 10, 63)
	if err != nil || strconv.FormatUint(n, 10) != lengths[0] {
		return body{}, errLength
	}
	return body{stated: true, length: int64(n)}, nil
}

// reader is the bytes of the body.
func (b body) reader(r *bufio.Reader) io.Reader {
	switch {
	case b.chunked:
		return &dechunker{r: r}
	case b.rest:
		return r
	}
	return &exactly{r, b.length}
}

// exactly reads so many bytes, and fails if there are fewer.
type exactly struct {
	r    io.Reader
	left int64
}

// Read reads the next bytes.
func (e *exactly) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if errors.Is(err, io.EOF) && e.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// dechunker reads the bytes of a chunked body, and drops its trailer.
type dechunker struct {
	r     *bufio.Reader
	left  int64
	begun bool
	ended bool
}

// Read reads the next bytes.
func (d *dechunker) Read(p []byte) (int, error) {
	if d.ended {
		return 0, io.EOF
	}
	if d.left == 0 {
		if err := d.next(); err != nil {
			return 0, err
		}
		if d.ended {
			return 0, io.EOF
		}
	}
	n, err := d.r.Read(p[:min(int64(len(p)), d.left)])
	d.left -= int64(n)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// next reads the line before a chunk, and the trailer behind the last one.
func (d *dechunker) next() error {
	if d.begun {
		if end, err := d.line(); err != nil || end != "" {
			return errors.Join(err, errLength)
		}
	}
	d.begun = true
	line, err := d.line()
	if err != nil {
		return err
	}
	digits, _, _ := strings.Cut(line, ";")
	size, err := strconv.ParseUint(strings.TrimRight(digits, " \t"), 16, 62)
	if err != nil {
		return errLength
	}
	if d.left = int64(size); size > 0 {
		return nil
	}
	for range 100 {
		if line, err := d.line(); err != nil || line == "" {
			d.ended = err == nil
			return err
		}
	}
	return errLength
}

// line reads a line that ends with CR LF, of at most the reader's buffer.
func (d *dechunker) line() (string, error) {
	b, err := d.r.ReadSlice('\n')
	if errors.Is(err, io.EOF) {
		return "", io.ErrUnexpectedEOF
	}
	line, ok := strings.CutSuffix(string(b), "\r\n")
	if err != nil || !ok {
		return "", errLength
	}
	return line, nil
}

// send copies a body to its end, each part at once: an event must not wait for the next.
func send(to io.Writer, from io.Reader, chunked bool) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if werr := write(to, buf[:n], chunked); werr != nil {
				return werr
			}
		}
		if errors.Is(err, io.EOF) {
			if chunked {
				_, err = io.WriteString(to, "0\r\n\r\n")
				return err
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func write(to io.Writer, p []byte, chunked bool) error {
	if chunked {
		p = append(append(fmt.Appendf(nil, "%x\r\n", len(p)), p...), '\r', '\n')
	}
	_, err := to.Write(p)
	return err
}
