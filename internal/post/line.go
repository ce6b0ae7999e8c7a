package post

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// The longest lines, the break at their end included.
const (
	maxRequest = 256 << 10
	maxReply   = 1 << 20
)

var errLong = errors.New("the line is too long")

// readLine reads one line of at most so many bytes, and looks at nothing after it.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > most {
			return nil, errLong
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			if errors.Is(err, io.EOF) && len(line) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
}

// decode reads one object and nothing else. A member that is not known may change
// what the others mean.
func decode(line []byte, into any) error {
	if !utf8.Valid(line) {
		return errors.New("the line is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("the line is not understood: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the line has something after its end")
	}
	return nil
}

// encode writes one line.
func encode(value any, most int) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	if b.Len() > most {
		return nil, errLong
	}
	return b.Bytes(), nil
}

// decodeRequest reads a request.
func decodeRequest(line []byte) (Request, error) {
	var r Request
	if err := decode(line, &r); err != nil {
		return Request{}, err
	}
	if r.Verb == "" {
		return Request{}, errors.New("the request has no verb")
	}
	return r, nil
}
