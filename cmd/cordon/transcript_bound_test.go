package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/worksite"
)

// A launch keeps 256 MiB of what its worker prints, and whoever reads along hears all of it. Less is
// kept whole, which is the control.
func TestTranscriptIsBounded(t *testing.T) {
	t.Parallel()
	const cut = "\n[the transcript is cut here]\n"
	for name, printed := range map[string]int{"less": 1 << 20, "more": worksite.TranscriptRoom + 1<<20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			o := s.cordon([]int{0}, "run", "--no-merge", "--", "sh", "-c", fmt.Sprintf(`head -c %d /dev/zero | tr '\0' x; echo said >&2`, printed))
			if n := strings.Count(o.out, "x"); n != printed {
				t.Errorf("%d of %d bytes were heard", n, printed)
			}
			files, err := filepath.Glob(s.place("state/cordon/*/workers/*/transcript"))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			text, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			if want := min(printed, worksite.TranscriptRoom); len(text) < want || len(text) > want+len(cut)+len("said\n") {
				t.Errorf("%d bytes are kept, want %d", len(text), want)
			}
			if got := strings.HasSuffix(string(text), cut); got != (name == "more") {
				t.Errorf("it says that it is cut: %v", got)
			}
		})
	}
}
