package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Change is what of the operator's own is shared with a repository from now on.
type Change struct {
	Repository string   // as ShareKey writes it
	Add        []string // words
	Remove     []string
}

// WriteShare changes the share key of the operator's configuration, and leaves everything
// else in the file as it is, comments too. A missing file is made. It returns the file,
// and what is shared with the repository now.
func WriteShare(c Change) (file string, now []string, err error) {
	dir, err := Dir()
	if err != nil {
		return "", nil, err
	}
	file = filepath.Join(dir, Name)
	text, err := ReadOwn(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text = []byte("version: 1\n")
	case err != nil:
		return file, nil, err
	}
	if _, _, err := Parse(file, text); err != nil {
		return file, nil, err
	}
	if text, err = c.apply(text); err != nil {
		return file, nil, fmt.Errorf("%s: %w", file, err)
	}
	changed, _, err := Parse(file, text)
	if err != nil {
		return file, nil, err
	}
	return file, changed.Share[c.Repository], replace(file, text)
}

// apply is the text of a configuration with the change.
func (c Change) apply(text []byte) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("it is not a list of keys")
	}
	share := member(doc.Content[0], "share", yaml.MappingNode)
	words := member(share, c.Repository, yaml.SequenceNode)
	for _, word := range c.Add {
		if !slices.ContainsFunc(words.Content, func(n *yaml.Node) bool { return n.Value == word }) {
			words.Content = append(words.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: word})
		}
	}
	words.Content = slices.DeleteFunc(words.Content, func(n *yaml.Node) bool { return slices.Contains(c.Remove, n.Value) })
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	err := errors.Join(enc.Encode(&doc), enc.Close())
	return out.Bytes(), err
}

// member is the value of a key, which is made if it is missing or empty.
func member(n *yaml.Node, key string, kind yaml.Kind) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			if len(n.Content[i+1].Content) == 0 {
				n.Content[i+1] = &yaml.Node{Kind: kind}
			}
			return n.Content[i+1]
		}
	}
	value := &yaml.Node{Kind: kind}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
	return value
}

// replace writes a file of the operator's as a whole, or not at all. A link stays, and
// leads to the new text.
func replace(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	mode := fs.FileMode(0o600)
	if fi, err := os.Stat(file); err == nil {
		mode = fi.Mode().Perm()
	}
	out, err := os.CreateTemp(filepath.Dir(file), ".config-")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) // gone when it was renamed
	_, err = out.Write(text)
	if err := errors.Join(err, out.Chmod(mode), out.Sync(), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), file)
}
