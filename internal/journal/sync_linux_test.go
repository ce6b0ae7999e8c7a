package journal

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func init() {
	roles["append"] = func(dir string) error {
		j, err := Open(dir)
		if err != nil {
			return err
		}
		for range 2 { // the first one makes the files
			if _, err := j.Append("", "test.sample", nil); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestEventsAreSynced: an append writes its line, the head and the name of the head, and waits for the disk after
// each. No kill shows that, because what was written outlives a process: the system calls do.
func TestEventsAreSynced(t *testing.T) {
	t.Parallel()
	tracer, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is needed to see what is synced: ", err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir()) // as the kernel names it
	must(t, dir, err)
	cmd := actor(t, "append", dir)
	trace := filepath.Join(t.TempDir(), "trace")
	cmd.Args = append([]string{tracer, "-f", "-y", "-o", trace, "-e", "trace=write,pwrite64,fsync,rename,renameat,renameat2", cmd.Path}, dir)
	cmd.Path = tracer
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	var got []string
	text := string(get(t, filepath.Dir(trace), "trace"))
	call := regexp.MustCompile(`(\w+)\((?:AT_FDCWD(?:<[^>]*>)?, )?(?:\d+<([^>]*)>|"([^"]*)")`)
	for line := range strings.Lines(text) {
		if m := call.FindStringSubmatch(line); m != nil && strings.HasPrefix(m[2]+m[3], dir) {
			name, _ := filepath.Rel(dir, m[2]+m[3])
			got = append(got, strings.TrimRight(m[1], "at2")+" "+name)
		}
	}
	const want = "pwrite64 journal.jsonl, fsync journal.jsonl, write journal.head.new, fsync journal.head.new, rename journal.head.new, fsync ."
	if all := strings.Join(got, ", "); strings.Count(all, want) != 2 {
		t.Errorf("two appends made these calls:\n%s\nwant twice:\n%s", all, want)
	}
}
