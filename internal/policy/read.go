package policy

import (
	"strconv"

	"go.yaml.in/yaml/v3"

	"cordon/internal/strictyaml"
)

// The readers below take one YAML node to one value. They look at the node's
// own tag and style, because a decoder that converts would let 1.10 become 1.1
// and yes become true on its way to a string.

func readVersion(n *yaml.Node) (int, error) {
	if n.Kind == yaml.ScalarNode && strictyaml.Plain(n) && n.Value == strconv.Itoa(Version) {
		return Version, nil
	}
	return 0, fault{"expected version 1, not " + strictyaml.Describe(n), "write version: 1"}
}

// maxCount keeps a number of processes or files within what a kernel can count.
const maxCount = 1_000_000

func readCount(things string) func(*yaml.Node) (int, error) {
	return func(n *yaml.Node) (int, error) {
		if n.Kind == yaml.ScalarNode && n.Value == noLimit && n.ShortTag() == "!!str" {
			return 0, nil
		}
		if n.Kind == yaml.ScalarNode && strictyaml.Plain(n) && isNumber(n.Value) {
			if v, err := strconv.Atoi(n.Value); err == nil && v <= maxCount {
				return v, nil
			}
		}
		return 0, fault{"expected a number of " + things + ", not " + strictyaml.Describe(n), "write a whole number from 1 to 1000000, or none"}
	}
}

func readDuration(n *yaml.Node) (Duration, error) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		return 0, fault{"expected a duration, not " + strictyaml.Describe(n), "write one whole number and one unit, such as 90s, 30m, 4h or 7d"}
	}
	return ParseDuration(n.Value)
}

func readBytes(n *yaml.Node) (Bytes, error) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		return 0, fault{"expected a size, not " + strictyaml.Describe(n), "write one whole number and one unit, such as 512MiB or 2GB, or none"}
	}
	return ParseBytes(n.Value)
}

// readSize reads a size that may depend on the machine.
func readSize(n *yaml.Node) (Bytes, error) {
	if n.Kind == yaml.ScalarNode && n.Value == auto {
		return Auto, nil
	}
	return readBytes(n)
}

func readIsolation(n *yaml.Node) (Isolation, error) {
	var i Isolation
	if n.Kind != yaml.ScalarNode || i.UnmarshalText([]byte(n.Value)) != nil {
		return "", fault{"expected an isolation, not " + strictyaml.Describe(n), "write strict, degraded or none"}
	}
	return i, nil
}

func readOutside(n *yaml.Node) (Outside, error) {
	var o Outside
	if n.Kind != yaml.ScalarNode || o.UnmarshalText([]byte(n.Value)) != nil {
		return "", fault{"expected deny or capture, not " + strictyaml.Describe(n), ""}
	}
	return o, nil
}

func readCaching(n *yaml.Node) (Caching, error) {
	var c Caching
	if n.Kind != yaml.ScalarNode || c.UnmarshalText([]byte(n.Value)) != nil {
		return "", fault{"expected none or landed, not " + strictyaml.Describe(n), ""}
	}
	return c, nil
}

func readNames(n *yaml.Node) (Names, error) {
	var names Names
	if n.Kind != yaml.ScalarNode || names.UnmarshalText([]byte(n.Value)) != nil {
		return "", fault{"expected portable or any, not " + strictyaml.Describe(n), ""}
	}
	return names, nil
}

func readGuardMode(n *yaml.Node) (GuardMode, error) {
	var m GuardMode
	if n.Kind != yaml.ScalarNode || m.UnmarshalText([]byte(n.Value)) != nil {
		return "", fault{"expected a mode of the guard, not " + strictyaml.Describe(n), "write enforce, warn or strict"}
	}
	return m, nil
}

func readAnswer(n *yaml.Node) (Answer, error) {
	var a Answer
	if n.Kind != yaml.ScalarNode || a.UnmarshalText([]byte(n.Value)) != nil {
		return "", fault{"expected allow, ask or deny, not " + strictyaml.Describe(n), ""}
	}
	return a, nil
}

func readLogin(n *yaml.Node) (Login, error) {
	var l Login
	if n.Kind != yaml.ScalarNode || l.UnmarshalText([]byte(n.Value)) != nil {
		return "", fault{"expected a login, not " + strictyaml.Describe(n), "write none, read or copy"}
	}
	return l, nil
}

func readProof(n *yaml.Node) (Proof, error) {
	var p Proof
	if n.Kind != yaml.ScalarNode || p.UnmarshalText([]byte(n.Value)) != nil {
		return "", fault{"expected required or reported, not " + strictyaml.Describe(n), ""}
	}
	return p, nil
}
