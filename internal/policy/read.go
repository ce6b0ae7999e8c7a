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

// The keys that have one of a few words.
var (
	readIsolation = readWord[Isolation]("an isolation", "write strict, degraded or none")
	readOutside   = readWord[Outside]("deny or capture", "")
	readCaching   = readWord[Caching]("none or landed", "")
	readNames     = readWord[Names]("portable or any", "")
	readGuardMode = readWord[GuardMode]("a mode of the guard", "write enforce, warn or strict")
	readAnswer    = readWord[Answer]("allow, ask or deny", "")
	readLogin     = readWord[Login]("a login", "write none, read or copy")
	readProof     = readWord[Proof]("required or reported", "")
	readForm      = readWord[Form]("squash, history or rebase", "")
	readLand      = readWord[Land]("auto, careful or review", "")
)

// readWord reads a word that its type knows. Expected says which words those are.
func readWord[T ~string, P interface {
	*T
	UnmarshalText([]byte) error
}](expected, hint string) func(*yaml.Node) (T, error) {
	return func(n *yaml.Node) (T, error) {
		var word T
		if n.Kind != yaml.ScalarNode || P(&word).UnmarshalText([]byte(n.Value)) != nil {
			return "", fault{"expected " + expected + ", not " + strictyaml.Describe(n), hint}
		}
		return word, nil
	}
}
