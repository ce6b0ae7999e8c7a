//go:build !linux

package cell

// Door lets visitors into a cell. There are none here.
type Door struct{}

// Open opens nothing.
func (*Door) Open(string, func([]string) error) error { return ErrNoDoor }

// Visit finds nothing to enter.
func Visit(string, Command) (Exit, error) { return notStarted(ErrNoDoor) }
