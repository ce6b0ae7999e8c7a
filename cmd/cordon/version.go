package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"cordon/internal/view"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: `Print the version of cordon, the commit it was built from, the Go release it was
built with and the system it was built for. A build without a version is called
devel.`,
		Example: "  cordon version\n  cordon version --json | jq -r .commit",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.version(thisBuild())
		},
	}
}

// build is what this binary says of itself.
type build struct {
	version, commit string // commit is "" when it is not known
	modified        bool   // built from a tree that was not the commit's
}

// thisBuild describes the running program.
func thisBuild() build {
	info, _ := debug.ReadBuildInfo() // nil in a build without modules
	return buildOf(info)
}

func buildOf(info *debug.BuildInfo) build {
	b := build{version: "devel"}
	if info == nil {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.commit = s.Value
		case "vcs.modified":
			b.modified = s.Value == "true"
		}
	}
	return b
}

// origin is the commit for a person.
func (b build) origin() string {
	switch {
	case b.commit == "":
		return "unknown commit"
	case b.modified:
		return b.commit[:min(len(b.commit), 10)] + " modified"
	}
	return b.commit[:min(len(b.commit), 10)]
}

func (a *app) version(b build) error {
	if a.json {
		return a.object(&view.Version{
			Version: b.version, Commit: b.commit, Modified: b.modified, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		})
	}
	_, err := fmt.Fprintf(a.out, "cordon %s (%s, %s, %s/%s)\n", b.version, b.origin(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
