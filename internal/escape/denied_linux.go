package escape

import (
	"errors"
	"os"
	"strings"
)

// denied are attempts on what the policy denies inside the tree, where everything
// else may be written.
func denied() []Attempt {
	const own = "dir/sub/own"
	write := func(name, what string, attack func(*Arena) error) Attempt {
		return Attempt{Name: "deny-write-" + name, What: what, Safe: true, attempt: attempt{
			policy: "version: 1\nfilesystem:\n  deny_write: [" + own + "]\n", attack: attack,
			judge: func(f *Fixture) (string, error) {
				if text, err := os.ReadFile(f.in(own)); err != nil || string(text) != "mine\n" {
					return "what the policy denies was changed", nil
				}
				return "", nil
			},
		}}
	}
	read := func(name, what, pattern string, attack func(*Arena) error) Attempt {
		return Attempt{Name: "deny-read-" + name, What: what, Safe: true, attempt: attempt{
			policy:  "version: 1\nfilesystem:\n  deny_read: [" + pattern + "]\n",
			prepare: func(f *Fixture) error { return f.put("work/dir/sub/key.pem", f.Secret, 0o600) },
			attack:  attack, judge: looted,
		}}
	}
	again := func(a *Arena) error {
		return errors.Join(os.MkdirAll(a.in("dir/sub"), 0o755), os.WriteFile(a.in(own), []byte(a.Mark), 0o644))
	}
	return []Attempt{
		write("file", "write a file that deny_write names", func(a *Arena) error { return a.write(a.in(own)) }),
		write("remove", "remove such a file", func(a *Arena) error { return os.Remove(a.in(own)) }),
		write("rename", "move another file over it", func(a *Arena) error { return os.Rename(a.in("own"), a.in(own)) }),
		write("parent", "move its directory away and make another", func(a *Arena) error {
			return errors.Join(os.Rename(a.in("dir/sub"), a.in("was")), again(a))
		}),
		write("grandparent", "move the directory above away and make another", func(a *Arena) error {
			return errors.Join(os.Rename(a.in("dir"), a.in("was")), again(a))
		}),
		read("file", "read a file that deny_read names", "dir/sub/key.pem", func(a *Arena) error { return a.leakFile(a.in("dir/sub/key.pem")) }),
		read("pattern", "read a file that deny_read names by a pattern", `"**/*.pem"`, func(a *Arena) error { return a.leakFile(a.in("dir/sub/key.pem")) }),
		read("moved", "read such a file after its directory was moved", "dir/sub/key.pem", func(a *Arena) error {
			return errors.Join(os.Rename(a.in("dir"), a.in("was")), a.leakFile(a.in(strings.Replace("dir/sub/key.pem", "dir", "was", 1))))
		}),
	}
}
