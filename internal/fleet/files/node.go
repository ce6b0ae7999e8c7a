package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"cordon/internal/fleet/engine"
)

// Node is the directory of a node, for one home.
type Node struct{ Dir string }

// Membership is the home that a node has joined.
type Membership struct {
	Reach
	Home  string `json:"home"` // the home's key
	Fleet string `json:"fleet"`
	Name  string `json:"name"` // of the node
}

const membershipFile = "home" + suffix

// NodeOf is the directory of a node below root, for one fleet.
func NodeOf(root, fleet string) (Node, error) {
	return Node{filepath.Join(root, fleet)}, engine.CheckWord(fleet)
}

// NodesIn are the nodes below root that have joined a home.
func NodesIn(root string) (list []Node, err error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		n := Node{filepath.Join(root, e.Name())}
		if _, err := os.Lstat(filepath.Join(n.Dir, membershipFile)); err == nil {
			list = append(list, n)
		}
	}
	return list, err
}

// SetMembership notes that the node has joined.
func (n Node) SetMembership(m Membership) error {
	return write(filepath.Join(n.Dir, membershipFile), m)
}

// Membership is the home that the node has joined. Without one, the error is fs.ErrNotExist.
func (n Node) Membership() (m Membership, err error) {
	return m, read(filepath.Join(n.Dir, membershipFile), &m)
}

// Forget removes everything: the home has removed the node, and takes its key no more.
func (n Node) Forget() error { return os.RemoveAll(n.Dir) }
