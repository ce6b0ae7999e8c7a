// Command sbom prints which modules a Go program was built from, as an SPDX 2.3
// document. It reads the program itself, so it lists what is really linked in. It
// refuses a program that does not say what it was built from.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

type document struct {
	Version   string         `json:"spdxVersion"`
	License   string         `json:"dataLicense"`
	ID        string         `json:"SPDXID"`
	Name      string         `json:"name"`
	Namespace string         `json:"documentNamespace"`
	Creation  creation       `json:"creationInfo"`
	Packages  []pkg          `json:"packages"`
	Relations []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type pkg struct {
	ID       string    `json:"SPDXID"`
	Name     string    `json:"name"`
	Version  string    `json:"versionInfo"`
	Location string    `json:"downloadLocation"`
	Analyzed bool      `json:"filesAnalyzed"`
	Refs     []purlRef `json:"externalRefs,omitempty"`
}

type purlRef struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM TIME")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(program, at string) error {
	if _, err := time.Parse(time.RFC3339, at); err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	commit := ""
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			commit = s.Value
		}
	}
	if commit == "" {
		return errors.New(program + " does not say which commit it was built from")
	}
	name := filepath.Base(program)
	d := document{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: name,
		Namespace: "https://spdx.org/spdxdocs/" + name + "-" + commit,
		Creation:  creation{Created: at, Creators: []string{"Tool: cordon-release-sbom"}},
		Packages:  []pkg{{ID: "SPDXRef-main", Name: info.Main.Path, Version: info.Main.Version, Location: "NOASSERTION"}},
		Relations: []relationship{{"SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-main"}},
	}
	d.add("go", "stdlib", strings.TrimPrefix(info.GoVersion, "go"))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		d.add("golang", m.Path, m.Version)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(d)
}

// add notes a module that the program contains.
func (d *document) add(kind, path, version string) {
	id := fmt.Sprintf("SPDXRef-%s-%d", kind, len(d.Packages))
	d.Packages = append(d.Packages, pkg{
		ID: id, Name: path, Version: version, Location: "NOASSERTION",
		Refs: []purlRef{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + version}},
	})
	d.Relations = append(d.Relations, relationship{"SPDXRef-main", "CONTAINS", id})
}
