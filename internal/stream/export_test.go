package stream

// The tests are outside of the package, because they need the clients. These are
// for them.
const (
	MaxCalls = maxCalls
	MaxLine  = maxLine
	MaxParts = maxParts
)

var (
	Cut       = cut
	Thousands = thousands
	FirstLine = firstLine
)

// Take adds an item as if the parser had read it.
func (w *Writer) Take(i Item) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(i)
}

// Unended is how much is kept of a line whose end has not come.
func (w *Writer) Unended() int { return len(w.lines.part) }
