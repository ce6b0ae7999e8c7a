package host

// Restriction is something around this program that keeps it from building a cell,
// and the line that lifts it.
type Restriction struct {
	Name string
	What string // as it was seen
	Lift string

	line runtimeLine
}

// runtimeLine is one line of what a container is started with, for each runtime.
type runtimeLine struct{ docker, podman, pod string }
