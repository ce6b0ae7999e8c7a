package follow

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"cordon/internal/git"
)

// Obstacle is a path of a move that is left as it is, and why.
type Obstacle struct{ Path, Why string }

// InterruptedError says that a cordon was killed in the middle of another move, which
// has to be finished or given up first.
type InterruptedError struct {
	Checkout git.Checkout
	Move     Move
}

func (e *InterruptedError) Error() string {
	return fmt.Sprintf("a landing on %s was interrupted in the checkout %s", e.Move.Ref, e.Checkout.Top)
}

// UnplacedError says that a file of a checkout cannot be written or removed.
type UnplacedError struct {
	Checkout, Path string
	Err            error
}

func (e *UnplacedError) Error() string {
	why := e.Err
	var at *fs.PathError // it names the file as it is called before it is in its place
	if errors.As(why, &at) {
		why = at.Err
	}
	return fmt.Sprintf("the checkout %s cannot follow: %q: %v", e.Checkout, e.Path, why)
}

func (e *UnplacedError) Unwrap() error { return e.Err }

// LeftError says that a branch moved and that some files of a checkout did not.
type LeftError struct {
	Checkout string
	Left     []Obstacle
}

func (e *LeftError) Error() string {
	const shown = 5
	var list []string
	for i, o := range e.Left {
		if i == shown {
			list = append(list, fmt.Sprintf("%d more", len(e.Left)-shown))
			break
		}
		list = append(list, fmt.Sprintf("%q (%s)", o.Path, o.Why))
	}
	return fmt.Sprintf("in the checkout %s these files were left as they are: %s. %s", e.Checkout, strings.Join(list, ", "), e.advice())
}

// advice names only commands that lose nothing: git stash deletes untracked files that
// are in the way of tracked ones.
func (e *LeftError) advice() string {
	if slices.ContainsFunc(e.Left, func(o Obstacle) bool { return o.Why == WhyUntracked }) {
		return "Move the untracked files away, then restore the landed versions with: git restore -- PATH"
	}
	return "git diff there shows how they differ from the landed versions; git stash keeps your versions and restores the landed ones"
}
