package arena

import (
	"time"
)

// Act is how an attempt is done.
type Act struct {
	Prepare func(*Fixture) error            // on the host, before
	Attack  func(*Arena) error              // inside; a shell line is run by shell
	Judge   func(*Fixture) (string, error)  // on the host, after: what escaped, or ""
	During  func(*Fixture, <-chan struct{}) // on the host, while it runs

	Tree   Tree          // what the working directory is
	Policy string        // of cordon, where the default says nothing about it
	Alone  bool          // disturbs others, or is disturbed by them
	Limit  time.Duration // for one run; 0: a few seconds
	Tries  string        // a file of the machine without which there is no control
	Twice  bool          // what the first run left is there for the second
	Launch bool          // what is attacked is the launch itself: cordon may refuse it
	Final  bool          // its judge has looked at files already, and changed them since
}

// Tree is what an attack works in.
type Tree int

const (
	TreePlain  Tree = iota // a directory that is no repository
	TreeLinked             // a linked worktree of a repository that lies elsewhere
	TreeMain               // a checkout with its own .git directory
)
