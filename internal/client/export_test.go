package client

// The tests are outside of the package, because they need the clients. These are
// for them.
var (
	GlobRoot = globRoot
	Words    = words
)

// Bounds.
const (
	MaxMessage = maxMessage
	MaxInput   = maxInput
	MaxNodes   = maxNodes
	MaxFound   = maxFound
)
