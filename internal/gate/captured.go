package gate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"cordon/internal/audit"
	"cordon/internal/git"
)

// Captured is something that a worker wrote outside its tree. It is evidence and
// can never land.
type Captured struct {
	Path   audit.Path  `json:"path"`
	Kind   audit.Kind  `json:"kind"`
	Class  audit.Class `json:"class"`
	Size   int64       `json:"size,omitempty"`
	SHA256 string      `json:"sha256,omitempty"`
	Target audit.Path  `json:"target,omitempty"` // of a symbolic link
	Kept   audit.Path  `json:"kept,omitempty"`   // in the directory of the worker's layers
	File   string      `json:"file,omitempty"`   // in the evidence
	Why    string      `json:"why,omitempty"`    // the evidence does not hold its content
}

// Bounds of what the evidence repeats. The layers hold all of it, and the report
// names all of it.
const (
	maxCaptured      = 1000
	maxCapturedFiles = 256
	maxCapturedFile  = 1 << 20
	maxCapturedTotal = 64 << 20
)

// keepCaptured stores the content of what was written outside the tree, as a tree
// of files with numbers for names: those that the worker chose may mean something
// to git or to a file system. What cannot be stored is in the layers.
func (g *Gate) keepCaptured(ctx context.Context, e Evidence) ([]Captured, git.OID) {
	if e.Report == nil {
		return nil, ""
	}
	found := capturedFirst(e.Report.Findings)
	found = found[:min(len(found), maxCaptured)]
	k := keeper{gate: g, layers: e.Layers}
	list := make([]Captured, len(found))
	for i, f := range found {
		c := Captured{Path: f.Path, Kind: f.Kind, Class: f.Class, Size: f.Size, SHA256: f.SHA256, Target: f.Target, Kept: f.Kept}
		if f.SHA256 != "" {
			var err error
			if c.File, err = k.keep(ctx, f); err != nil {
				c.Why = err.Error()
			}
		}
		list[i] = c
	}
	if len(k.files) == 0 {
		return list, ""
	}
	tree, err := g.repo.PutTree(ctx, k.files)
	if err != nil {
		for i := range list {
			list[i].File, list[i].Why = "", "it could not be stored"
		}
	}
	return list, tree
}

// keeper stores files of layers.
type keeper struct {
	gate   *Gate
	layers string
	files  []git.File
	total  int64
}

// keep stores one file and returns its name in the evidence.
func (k *keeper) keep(ctx context.Context, f audit.Finding) (string, error) {
	if f.Size > maxCapturedFile || len(k.files) >= maxCapturedFiles || k.total+f.Size > maxCapturedTotal {
		return "", errors.New("the evidence has no room for it")
	}
	content, err := capturedContent(k.layers, f)
	if err != nil {
		return "", err
	}
	oid, err := k.gate.repo.PutBlob(ctx, bytes.NewReader(content))
	if err != nil {
		return "", errors.New("it could not be stored")
	}
	k.total += int64(len(content))
	name := fmt.Sprintf("%04d", len(k.files)+1)
	k.files = append(k.files, git.File{Path: name, Entry: git.Entry{Mode: git.Regular, OID: oid}})
	return "captured/" + name, nil
}

// capturedFirst are the findings about layers, violations first.
func capturedFirst(findings []audit.Finding) []audit.Finding {
	var first, rest []audit.Finding
	for _, f := range findings {
		switch {
		case !f.Outside():
		case f.Class == audit.Violation:
			first = append(first, f)
		default:
			rest = append(rest, f)
		}
	}
	return append(first, rest...)
}

// capturedContent reads a file of a layer, and refuses one that is not what was
// audited.
func capturedContent(layers string, f audit.Finding) ([]byte, error) {
	file, err := audit.KeptContent(layers, f)
	if err != nil {
		return nil, errors.New("it cannot be read")
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxCapturedFile+1))
	if err != nil {
		return nil, errors.New("it cannot be read")
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != f.SHA256 {
		return nil, errors.New("it changed after it was audited")
	}
	return content, nil
}
