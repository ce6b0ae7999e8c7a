package inspect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/cell"
	"cordon/internal/confine"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/worksite"
)

// RecordedLayers leaves out of a launch's layers what no audit asks for: most of
// the names that are hidden in a home are of no interest when they are written.
func RecordedLayers(list []cell.PrivateLayer) []cell.PrivateLayer {
	home := homeOf(list)
	list = slices.Clone(list)
	for i, l := range list {
		if l.For != cell.HomeLayer {
			continue
		}
		idle := func(rel string) bool { return !audit.Matters(inHome(home, filepath.Join(l.At, rel))) }
		list[i].Hidden = slices.DeleteFunc(slices.Clone(l.Hidden), idle)
		list[i].Made = slices.DeleteFunc(slices.Clone(l.Made), idle)
	}
	return list
}

// homeOf is where the home lies: a part of it that has a layer of its own lies
// below.
func homeOf(list []cell.PrivateLayer) string {
	home := ""
	for _, l := range list {
		if l.For == cell.HomeLayer && (home == "" || len(l.At) < len(home)) {
			home = l.At
		}
	}
	return home
}

func inHome(home, path string) string { return strings.Trim(strings.TrimPrefix(path, home), "/") }

// WrittenOutside reports what a worker wrote outside its tree, and what its cell refused
// while it ran.
func WrittenOutside(ctx context.Context, s *worksite.Site, w *ledger.Worker) ([]audit.Finding, error) {
	if w.Start == nil {
		return nil, nil
	}
	at := s.State.Layers(string(w.ID))
	ls := audit.Layers{
		Top: at, Home: homeOf(w.Private),
		Capture: w.Lease.Lease().Policy.Filesystem.Outside == policy.Capture,
	}
	for _, l := range w.Private {
		ls.List = append(ls.List, audit.Layer{
			Name: l.Name, At: l.At, Host: l.Host, Overlay: l.Overlay, IsHome: l.For == cell.HomeLayer, Hidden: l.Hidden, Made: l.Made,
		})
	}
	found, err := audit.Outside(ctx, ls)
	if err != nil {
		return nil, err
	}
	unnamed, err := unnamedLayers(at, w)
	aside, asideErr := confine.Disarmed(s, w)
	found = slices.Concat(found, unnamed, aside, refusals(w.Exit))
	return found, errors.Join(err, asideErr)
}

// unnamedLayers reports layers that hold something and that no launch names.
// Where no launch names any, they are of a cordon that did not record them.
func unnamedLayers(dir string, w *ledger.Worker) ([]audit.Finding, error) {
	if !slices.Contains(w.Start.Layers, cell.Namespaces) {
		return nil, nil // there is no layer, and the names there are the worker's own
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) && len(w.Private) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []audit.Finding
	for _, e := range entries {
		known := slices.ContainsFunc(w.Private, func(l cell.PrivateLayer) bool { return l.Name == e.Name() })
		if known || cell.PurposeOf(e.Name()) == "" || emptyLayer(filepath.Join(dir, e.Name())) {
			continue
		}
		f := audit.Finding{
			Change: audit.Change{Kind: audit.Unreadable, Source: "layer " + e.Name(), Detail: "no launch says where it was seen"},
			Class:  audit.Violation, Rule: "cordon lands nothing that it cannot read",
		}
		if len(w.Private) == 0 {
			f.Kind, f.Class, f.Rule = audit.Added, audit.Note, "an older cordon did not record where it was seen; the host is unchanged"
		}
		found = append(found, f)
	}
	return found, nil
}

// emptyLayer reports whether a launch that failed has left nothing but the
// directories of a layer.
func emptyLayer(dir string) bool {
	entries, err := os.ReadDir(filepath.Join(dir, "upper"))
	return err == nil && len(entries) == 0
}

// refusals are the system calls that a cell refused, as notes.
func refusals(exit *cell.Exit) []audit.Finding {
	var list []audit.Finding
	for _, call := range RefusedCalls(exit) {
		list = append(list, audit.Finding{
			Change: audit.Change{Kind: audit.Refused, Source: "cell"},
			Class:  audit.Note, Rule: "refused at run time: " + call,
		})
	}
	return list
}

// RefusedCalls lists the system calls that a cell refused, and how often, but for io_uring: programs
// try it and do without.
func RefusedCalls(exit *cell.Exit) []string {
	if exit == nil {
		return nil
	}
	var list []string
	for call, n := range exit.Refused {
		if call == "io_uring_setup" {
			continue
		}
		list = append(list, fmt.Sprintf("%s ×%d", call, n))
	}
	slices.Sort(list)
	return list
}

// outsideWord says what is known of the host's files outside the repository.
func outsideWord(w *ledger.Worker) string {
	layers := w.Start.Layers
	captures := w.Lease.Lease().Policy.Filesystem.Outside == policy.Capture
	switch {
	case len(layers) == 0:
		return "the worker was unconfined, so what lies outside the repository was not watched"
	case !slices.Contains(layers, cell.Namespaces):
		return "the cell had no view of its own, so what lies outside the repository was not watched"
	case !slices.Contains(layers, cell.CopyView):
		return "the host was read-only to the worker; without the overlay, what it tried outside the repository was not watched"
	case captures:
		return "the host could not be written; what the worker wrote outside its tree was captured"
	}
	return "the host could not be written; the worker's home was a private copy"
}
