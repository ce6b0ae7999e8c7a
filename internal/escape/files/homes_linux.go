package files

import (
	"os"
	"path/filepath"

	"cordon/internal/escape/arena"
)

// homes are homes as people have them: with links in the place of directories,
// behind a link themselves, and with the work inside.
func homes() []arena.Attempt {
	const key = ".ssh/id_ed25519"
	return []arena.Attempt{
		{Name: "directory-is-link", What: "read ~/.ssh, which is a link, where it leads", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				if err := f.Put("outside/dotfiles/ssh/id_ed25519", f.Secret, 0o600); err != nil {
					return err
				}
				return os.Symlink("../outside/dotfiles/ssh", f.InHome(".ssh"))
			},
			Attack: func(a *arena.Arena) error { return a.LeakFile(a.Out("dotfiles/ssh/id_ed25519")) },
			Judge:  arena.JudgeLoot,
		}},
		{Name: "file-is-link", What: "read ~/.netrc, which is a link, where it leads", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				if err := f.Put("outside/dotfiles/netrc", f.Secret, 0o600); err != nil {
					return err
				}
				return os.Symlink("../outside/dotfiles/netrc", f.InHome(".netrc"))
			},
			Attack: func(a *arena.Arena) error { return a.LeakFile(a.Out("dotfiles/netrc")) },
			Judge:  arena.JudgeLoot,
		}},
		{Name: "home-is-link", What: "read a secret of a home that is named by a link", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				f.Env = append(f.Env, "HOME="+filepath.Join(f.Base, "operator"))
				if err := f.Put("home/"+key, f.Secret, 0o600); err != nil {
					return err
				}
				return os.Symlink("home", filepath.Join(f.Base, "operator"))
			},
			Attack: func(a *arena.Arena) error {
				return arena.Each(func() error { return a.LeakFile(a.InHome(key)) }, func() error { return a.LeakFile(filepath.Join(a.Base, "operator", key)) })
			},
			Judge: arena.JudgeLoot,
		}},
		{Name: "tree-in-home", What: "read a secret of the home that the tree lies in", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error { return inHome(f, f.Put(key, f.Secret, 0o600)) },
			Attack:  func(a *arena.Arena) error { return a.LeakFile(filepath.Join(a.Base, key)) },
			Judge:   arena.JudgeLoot,
		}},
		{Name: "tree-in-home-parent", What: "read a secret of the home above the tree by ..", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error { return inHome(f, f.Put(key, f.Secret, 0o600)) },
			Attack:  func(a *arena.Arena) error { return a.LeakFile("../" + key) },
			Judge:   arena.JudgeLoot,
		}},
		{Name: "tree-in-home-write", What: "write ~/.bashrc of the home that the tree lies in", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error { return inHome(f, f.Put(".bashrc", "# the operator's\n", 0o644)) },
			Attack:  func(a *arena.Arena) error { return os.WriteFile("../.bashrc", []byte(a.Mark), 0o644) },
		}},
	}
}

// inHome makes the directory around the tree the operator's home.
func inHome(f *arena.Fixture, err error) error {
	f.Env = append(f.Env, "HOME="+f.Base)
	return err
}
