package escape

import (
	"os"
	"path/filepath"
)

// homes are homes as people have them: with links in the place of directories,
// behind a link themselves, and with the work inside.
func homes() []Attempt {
	const key = ".ssh/id_ed25519"
	return []Attempt{
		{Name: "directory-is-link", What: "read ~/.ssh, which is a link, where it leads", Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error {
				if err := f.put("outside/dotfiles/ssh/id_ed25519", f.Secret, 0o600); err != nil {
					return err
				}
				return os.Symlink("../outside/dotfiles/ssh", f.home(".ssh"))
			},
			attack: func(a *Arena) error { return a.leakFile(a.out("dotfiles/ssh/id_ed25519")) },
			judge:  looted,
		}},
		{Name: "file-is-link", What: "read ~/.netrc, which is a link, where it leads", Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error {
				if err := f.put("outside/dotfiles/netrc", f.Secret, 0o600); err != nil {
					return err
				}
				return os.Symlink("../outside/dotfiles/netrc", f.home(".netrc"))
			},
			attack: func(a *Arena) error { return a.leakFile(a.out("dotfiles/netrc")) },
			judge:  looted,
		}},
		{Name: "home-is-link", What: "read a secret of a home that is named by a link", Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error {
				f.env = append(f.env, "HOME="+filepath.Join(f.Base, "operator"))
				if err := f.put("home/"+key, f.Secret, 0o600); err != nil {
					return err
				}
				return os.Symlink("home", filepath.Join(f.Base, "operator"))
			},
			attack: func(a *Arena) error {
				return each(func() error { return a.leakFile(a.home(key)) }, func() error { return a.leakFile(filepath.Join(a.Base, "operator", key)) })
			},
			judge: looted,
		}},
		{Name: "tree-in-home", What: "read a secret of the home that the tree lies in", Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error { return inHome(f, f.put(key, f.Secret, 0o600)) },
			attack:  func(a *Arena) error { return a.leakFile(filepath.Join(a.Base, key)) },
			judge:   looted,
		}},
		{Name: "tree-in-home-parent", What: "read a secret of the home above the tree by ..", Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error { return inHome(f, f.put(key, f.Secret, 0o600)) },
			attack:  func(a *Arena) error { return a.leakFile("../" + key) },
			judge:   looted,
		}},
		{Name: "tree-in-home-write", What: "write ~/.bashrc of the home that the tree lies in", Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error { return inHome(f, f.put(".bashrc", "# the operator's\n", 0o644)) },
			attack:  func(a *Arena) error { return os.WriteFile("../.bashrc", []byte(a.Mark), 0o644) },
		}},
	}
}

// inHome makes the directory around the tree the operator's home.
func inHome(f *Fixture, err error) error {
	f.env = append(f.env, "HOME="+f.Base)
	return err
}
