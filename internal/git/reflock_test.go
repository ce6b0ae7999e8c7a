package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cordon/internal/testfile"
)

// Only a lock that holds the value of our move is removed, and with it only an empty lock
// of HEAD that was made right after it.
func TestDropRefLock(t *testing.T) {
	t.Parallel()
	to := OID(strings.Repeat("a", 40))
	ours := string(to) + "\n"
	old := time.Now().Add(-time.Hour)
	for name, c := range map[string]struct {
		main, head string
		headAt     time.Time
		left       string
	}{
		"ours":                {ours, "", old, ""},
		"of another value":    {strings.Repeat("b", 40) + "\n", "", old, "HEAD.lock main.lock"},
		"begun":               {"", "", old, "HEAD.lock main.lock"},
		"longer":              {ours + "x", "", old, "HEAD.lock main.lock"},
		"HEAD is written":     {ours, "ref: refs/heads/x\n", old, "HEAD.lock"},
		"HEAD a moment later": {ours, "", old.Add(lockAge / 2), ""},
		"HEAD locked before":  {ours, "", old.Add(-lockAge), "HEAD.lock"},
		"HEAD locked later":   {ours, "", old.Add(10 * lockAge), "HEAD.lock"},
	} {
		dir := t.TempDir()
		main, head := filepath.Join(dir, "refs/heads/main.lock"), filepath.Join(dir, "HEAD.lock")
		testfile.Write(t, main, c.main)
		testfile.Write(t, head, c.head)
		for path, at := range map[string]time.Time{main: old, head: c.headAt} {
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
		if err := (Repo{Dir: dir}).DropRefLock("refs/heads/main", to); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var left []string
		for _, path := range []string{head, main} {
			if _, err := os.Lstat(path); err == nil {
				left = append(left, filepath.Base(path))
			}
		}
		if got := strings.Join(left, " "); got != c.left {
			t.Errorf("%s: %q is left, want %q", name, got, c.left)
		}
	}
}
