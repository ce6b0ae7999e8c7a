package message

import "testing"

// A hook's words stay; cordon's trailers are those that cordon wrote, once.
func TestHooked(t *testing.T) {
	own := []Trailer{{"Cordon-Worker", "calm-otter"}, {"Cordon-Lease", "sha256:1"}}
	for name, c := range map[string]struct{ text, want string }{
		"added":   {"Fix it\n\nCordon-Worker: calm-otter\nCordon-Lease: sha256:1\nChange-Id: I1\n", "Fix it\n\nChange-Id: I1\nCordon-Worker: calm-otter\nCordon-Lease: sha256:1\n"},
		"removed": {"Fix it\n", "Fix it\n\nCordon-Worker: calm-otter\nCordon-Lease: sha256:1\n"},
		"forged":  {"Fix it  \n\n\n\ncordon-worker: other\n Cordon-Policy: x\n", "Fix it\n\nCordon-Worker: calm-otter\nCordon-Lease: sha256:1\n"},
		"prose":   {"Fix it\n\ncordon-probe runs: again\n", "Fix it\n\ncordon-probe runs: again\n\nCordon-Worker: calm-otter\nCordon-Lease: sha256:1\n"},
	} {
		if got, err := Hooked(c.text, own); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
	for _, text := range []string{"", "\n \n", "Cordon-Worker: x\n", "a\x00b"} {
		if got, err := Hooked(text, own); err == nil {
			t.Errorf("%q became %q", text, got)
		}
	}
}
