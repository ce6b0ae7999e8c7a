package files

import (
	"errors"
	"os"
	"strings"

	"cordon/internal/escape/arena"
)

// denied are attempts on what the policy denies inside the tree, where everything
// else may be written.
func denied() []arena.Attempt {
	const own = "dir/sub/own"
	write := func(name, what string, attack func(*arena.Arena) error) arena.Attempt {
		return arena.Attempt{Name: "deny-write-" + name, What: what, Safe: true, Act: arena.Act{
			Policy: "version: 1\nfilesystem:\n  deny_write: [" + own + "]\n", Attack: attack,
			Judge: func(f *arena.Fixture) (string, error) {
				if text, err := os.ReadFile(f.In(own)); err != nil || string(text) != "mine\n" {
					return "what the policy denies was changed", nil
				}
				return "", nil
			},
		}}
	}
	read := func(name, what, pattern string, attack func(*arena.Arena) error) arena.Attempt {
		return arena.Attempt{Name: "deny-read-" + name, What: what, Safe: true, Act: arena.Act{
			Policy:  "version: 1\nfilesystem:\n  deny_read: [" + pattern + "]\n",
			Prepare: func(f *arena.Fixture) error { return f.Put("work/dir/sub/key.pem", f.Secret, 0o600) },
			Attack:  attack, Judge: arena.JudgeLoot,
		}}
	}
	again := func(a *arena.Arena) error {
		return errors.Join(os.MkdirAll(a.In("dir/sub"), 0o755), os.WriteFile(a.In(own), []byte(a.Mark), 0o644))
	}
	return []arena.Attempt{
		write("file", "write a file that deny_write names", func(a *arena.Arena) error { return a.Write(a.In(own)) }),
		write("remove", "remove such a file", func(a *arena.Arena) error { return os.Remove(a.In(own)) }),
		write("rename", "move another file over it", func(a *arena.Arena) error { return os.Rename(a.In("own"), a.In(own)) }),
		write("parent", "move its directory away and make another", func(a *arena.Arena) error {
			return errors.Join(os.Rename(a.In("dir/sub"), a.In("was")), again(a))
		}),
		write("grandparent", "move the directory above away and make another", func(a *arena.Arena) error {
			return errors.Join(os.Rename(a.In("dir"), a.In("was")), again(a))
		}),
		read("file", "read a file that deny_read names", "dir/sub/key.pem", func(a *arena.Arena) error { return a.LeakFile(a.In("dir/sub/key.pem")) }),
		read("pattern", "read a file that deny_read names by a pattern", `"**/*.pem"`, func(a *arena.Arena) error { return a.LeakFile(a.In("dir/sub/key.pem")) }),
		read("moved", "read such a file after its directory was moved", "dir/sub/key.pem", func(a *arena.Arena) error {
			return errors.Join(os.Rename(a.In("dir"), a.In("was")), a.LeakFile(a.In(strings.Replace("dir/sub/key.pem", "dir", "was", 1))))
		}),
	}
}
