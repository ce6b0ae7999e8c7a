package lfs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"sync"
)

// Pointer is what a commit holds in the place of a file's content.
type Pointer struct {
	OID  string // sha256 of the content, 64 hexadecimal digits
	Size int64
}

// MaxPointer is the length of the longest text that can be a pointer, as in Git LFS.
const MaxPointer = 1024

// pointerText is the whole text of a pointer. Git LFS reads more: extensions, which are
// programs, and other orders. A pointer with any of that is taken for a plain file.
var pointerText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\Aversion https://git-lfs\.github\.com/spec/v1\noid sha256:([0-9a-f]{64})\nsize (0|[1-9][0-9]{0,17})\n\z`)
})

// Parse reads the text of a pointer. Any other text is none.
func Parse(text []byte) (Pointer, bool) {
	if len(text) > MaxPointer {
		return Pointer{}, false
	}
	m := pointerText().FindSubmatch(text)
	if m == nil {
		return Pointer{}, false
	}
	size, err := strconv.ParseInt(string(m[2]), 10, 64)
	return Pointer{OID: string(m[1]), Size: size}, err == nil
}

// Text is the pointer as a commit holds it.
func (p Pointer) Text() []byte {
	return fmt.Appendf(nil, "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", p.OID, p.Size)
}

// ErrEmpty says that a file is empty: Git LFS keeps no pointer for it.
var ErrEmpty = errors.New("it is empty")

// Clean is the pointer for some content. Content that is itself a pointer stays one, and
// given says so.
func Clean(content io.Reader) (p Pointer, given bool, err error) {
	head := make([]byte, MaxPointer+1)
	n, err := io.ReadFull(content, head)
	short := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	switch {
	case err != nil && !short:
		return Pointer{}, false, err
	case n == 0:
		return Pointer{}, false, ErrEmpty
	}
	if p, ok := Parse(head[:n]); ok && short {
		return p, true, nil
	}
	h := sha256.New()
	h.Write(head[:n])
	more := int64(0)
	if !short {
		if more, err = io.Copy(h, content); err != nil {
			return Pointer{}, false, err
		}
	}
	return Pointer{OID: hex.EncodeToString(h.Sum(nil)), Size: int64(n) + more}, false, nil
}
