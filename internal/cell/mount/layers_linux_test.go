package mount

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Layers on disk are removed with their cell, however closed the worker left them, and
// by the next cordon when theirs was killed. Those of a cordon that lives stay.
func TestDiskLayers(t *testing.T) {
	place := t.TempDir()
	layers, done, err := diskLayers(place)
	if err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(layers, "home/upper/closed")
	if err := os.MkdirAll(filepath.Join(closed, "below"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(place, layersName+"left") // as a kill leaves it: nobody has the lock
	if err := os.MkdirAll(filepath.Join(left, "layers/tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, "lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	there := func(path string) bool { _, err := os.Lstat(path); return err == nil }
	sweepLayers(place, time.Now())
	if !there(left) {
		t.Error("young layers were removed: they may not be locked yet")
	}
	sweepLayers(place, time.Now().Add(time.Hour))
	if there(left) || !there(layers) {
		t.Errorf("those of a killed cordon: %v, of one that lives: %v", there(left), there(layers))
	}
	if done(); there(filepath.Dir(layers)) {
		t.Error("the layers outlived their cell")
	}
}

// A machine without the first place has layers in the second. A place that the command
// writes is none.
func TestLayersOnDiskFallBack(t *testing.T) {
	first, second := filepath.Join(t.TempDir(), "missing"), t.TempDir()
	places := []string{first, second}
	dir, done, err := LayersOnDisk(places, nil)
	if err != nil || filepath.Dir(filepath.Dir(dir)) != second {
		t.Fatalf("%q, %v", dir, err)
	}
	done()
	if dir, _, err := LayersOnDisk(places, []string{second}); err == nil || dir != "" {
		t.Errorf("only a place that is not there: %q, %v", dir, err)
	}
	if dir, _, err := LayersOnDisk(places, []string{first, second}); err != nil || dir != "" {
		t.Errorf("the command writes both places: %q, %v", dir, err)
	}
}

// Removing layers changes the mode of nothing that a link in them leads to.
func TestEraseLayersFollowsNoLink(t *testing.T) {
	top, outside := filepath.Join(t.TempDir(), "layers"), t.TempDir()
	if err := os.Mkdir(top, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(top, "link")
	if err := errors.Join(os.Chmod(outside, 0o750), os.Symlink(outside, link)); err != nil {
		t.Fatal(err)
	}
	unlockDir(link) // as if it had been a directory a moment ago
	eraseLayers(top)
	fi, err := os.Stat(outside)
	if err != nil || fi.Mode().Perm() != 0o750 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
}
