package stream

import "bytes"

// maxLine is the longest line that is read. A client puts whole files into one.
const maxLine = 8 << 20

// maxParts is how many values a line may have. Each takes up to half a kilobyte while the
// line is read, whatever little it takes in the line.
const maxParts = 50_000

// sparse reports whether a line has no more values than are read.
func sparse(line []byte) bool {
	parts, quoted := 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '{' || c == '['):
			parts++
		}
	}
	return parts <= maxParts
}

// splitter makes lines of what comes in pieces.
type splitter struct {
	part []byte // of a line whose end has not come
	long bool   // there was more of it than is read
}

// write calls each for every line that p ends, without its line break. A line that
// is too long comes as its beginning, and long.
func (s *splitter) write(p []byte, each func(line []byte, long bool)) {
	for {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		s.keep(line)
		if !ended {
			return
		}
		s.flush(each)
		p = rest
	}
}

func (s *splitter) keep(b []byte) {
	if room := maxLine - len(s.part); len(b) > room {
		b, s.long = b[:room], true
	}
	s.part = append(s.part, b...)
}

// flush ends the line that there is.
func (s *splitter) flush(each func(line []byte, long bool)) {
	line, long := bytes.TrimSuffix(s.part, []byte{'\r'}), s.long
	if s.part, s.long = s.part[:0], false; cap(s.part) > 1<<20 {
		s.part = nil
	}
	if len(bytes.TrimSpace(line)) > 0 {
		each(line, long)
	}
}
