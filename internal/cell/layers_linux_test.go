package cell

import (
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
