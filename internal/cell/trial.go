package cell

// Tried is what came of the Trial of an Order.
type Tried struct {
	Code   int // 128+n for signal n
	Stdout []byte
	Stderr []byte
	Error  string // why it could not be started
}
