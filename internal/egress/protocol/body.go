package protocol

import (
	"math"
	"strconv"
	"strings"
)

// framing is how a request's body ends: by its length, or by itself.
type framing struct {
	length  int64
	chunked bool
}

// framed reads where a request ends. There is one field that says it, or none:
// where there are two, servers differ in which they believe.
func (h *Head) framed() (framing, error) {
	lengths, codings := h.All("Content-Length"), h.All("Transfer-Encoding")
	switch {
	case len(lengths)+len(codings) == 0:
		return framing{}, nil
	case len(lengths)+len(codings) > 1:
		return framing{}, Strangef("the request gives its length more than once (Content-Length, Transfer-Encoding)")
	case len(lengths) == 1:
		n, err := parseLength(lengths[0])
		return framing{length: n}, err
	case h.Minor == 0:
		return framing{}, Strangef("the request has a Transfer-Encoding, which HTTP/1.0 does not know")
	case !strings.EqualFold(codings[0], "chunked"):
		return framing{}, Strangef("the request has the Transfer-Encoding %.100q; only chunked is allowed", codings[0])
	}
	return framing{chunked: true}, nil
}

func parseLength(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || strconv.FormatUint(n, 10) != s {
		return 0, Strangef("the request has the Content-Length %.100q, which is not a length", s)
	}
	return int64(n), nil
}

// chunks follows a chunked body, up to the line of the last chunk: behind it is
// the trailer.
type chunks struct {
	stage  chunkStage
	size   int64
	digits int
	line   int // bytes of an extension
}

type chunkStage int

const (
	chunkSize chunkStage = iota
	chunkExtension
	chunkLineEnd // its CR was seen
	chunkData
	chunkDataCR
	chunkDataLF
)

const (
	longestSize      = 15 // hexadecimal digits, so that it cannot overflow
	longestExtension = 1024
)

// accept is how many bytes belong to the body, and whether the last chunk's line
// was among them. What comes before an error belongs to it, too.
func (c *chunks) accept(b []byte) (n int, last bool, err error) {
	for n < len(b) {
		if c.stage == chunkData {
			k := int(min(c.size, int64(len(b)-n)))
			n += k
			if c.size -= int64(k); c.size == 0 {
				c.stage = chunkDataCR
			}
			continue
		}
		if last, err = c.step(b[n]); err != nil {
			return n, false, err
		}
		n++
		if last {
			return n, true, nil
		}
	}
	return n, false, nil
}

// step takes a byte that is not data.
func (c *chunks) step(b byte) (last bool, err error) {
	digit := hexDigit(b)
	switch {
	case c.stage == chunkSize && digit >= 0 && c.digits < longestSize:
		c.size, c.digits = c.size<<4|digit, c.digits+1
	case c.stage == chunkSize && c.digits > 0 && b == ';':
		c.stage = chunkExtension
	case c.stage == chunkSize && c.digits > 0 && b == '\r', c.stage == chunkExtension && b == '\r':
		c.stage = chunkLineEnd
	case c.stage == chunkExtension && c.line < longestExtension && (b >= ' ' || b == '\t') && b != 0x7f:
		c.line++
	case c.stage == chunkLineEnd && b == '\n' && c.size > 0:
		*c = chunks{stage: chunkData, size: c.size}
	case c.stage == chunkLineEnd && b == '\n':
		*c = chunks{}
		return true, nil
	case c.stage == chunkDataCR && b == '\r':
		c.stage = chunkDataLF
	case c.stage == chunkDataLF && b == '\n':
		*c = chunks{}
	default:
		return false, Strangef("the request's body has an invalid chunk")
	}
	return false, nil
}

func hexDigit(b byte) int64 {
	switch {
	case '0' <= b && b <= '9':
		return int64(b - '0')
	case 'a' <= b && b <= 'f':
		return int64(b-'a') + 10
	case 'A' <= b && b <= 'F':
		return int64(b-'A') + 10
	}
	return -1
}

// checkTrailer reads the lines behind the last chunk. None of them may be one that
// has a say before the body.
func checkTrailer(block []byte) error {
	fields, err := parseFields(string(block))
	if err != nil {
		return err
	}
	for _, f := range fields {
		if decides(f.Name) {
			return Strangef("the request has the field %.100q in its trailer", f.Name)
		}
	}
	return nil
}

// endless is the length of what is not looked at any more.
const endless = math.MaxInt64
