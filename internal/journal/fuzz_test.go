package journal

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzRead reads arbitrary bytes as a journal and as a head: whatever is
// accepted must be what the encoder writes, to the byte, and nothing but the
// torn end may be left over.
func FuzzRead(f *testing.F) {
	dir := f.TempDir()
	lines := sample(f, dir, 3)
	whole := strings.Join(lines, "")
	for _, seed := range []string{
		"", "\n", "{}\n", whole, whole[:len(whole)-1], whole[:len(whole)/2], lines[0], lines[1],
		lines[0] + lines[2], whole + "\x00\x00\n", whole + strings.Repeat("x", 100),
	} {
		f.Add([]byte(seed), get(f, dir, HeadFile))
		f.Add([]byte(seed), start().encodeHead())
	}
	f.Fuzz(func(t *testing.T, b, head []byte) {
		if p, ok := decodeHead(head); ok && !bytes.Equal(p.encodeHead(), head) {
			t.Errorf("head %q is accepted but written as %q", head, p.encodeHead())
		}
		// The fuzzer cannot find hashes: seal each line for it, so that
		// it gets past them.
		for _, in := range [][]byte{b, resealed(b)} {
			var out []byte
			p, torn, err := scan(bytes.NewReader(in), start(), nil, func(e Event) { out = append(out, e.encode()...) })
			if int64(len(out)) != p.length || !bytes.HasPrefix(in, out) {
				t.Fatalf("%q is read as %q", in, out)
			}
			if err == nil && !bytes.Equal(append(out, torn...), in) {
				t.Fatalf("of %q, %q and torn %q are accepted", in, out, torn)
			}
		}
	})
}

// resealed puts the right hashes into whatever looks like a line.
func resealed(b []byte) []byte {
	var out []byte
	prev := start().prev
	for line := range bytes.Lines(b) {
		body, _, ok := bytes.Cut(line, []byte(`,"prev":"`))
		if !ok || !bytes.HasSuffix(line, []byte("\n")) {
			return append(out, line...)
		}
		sealed := seal(append(bytes.Clone(body), `,"prev":"`+prev+`"`...))
		out, prev = append(out, sealed...), sum(sealed)
	}
	return out
}
