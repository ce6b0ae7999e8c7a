package files

import (
	"errors"
	"fmt"
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
		{Name: "home-names", What: "list the names in the home", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error { return f.Put("home/"+f.Secret, "", 0o600) },
			Attack: func(a *arena.Arena) error {
				entries, err := os.ReadDir(a.Home)
				return errors.Join(err, a.Leak(fmt.Append(nil, entries)))
			},
			Judge: arena.JudgeLoot,
		}},
		{Name: "toolchain-is-link", What: "read the credentials of a toolchain whose directory is a link", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				if err := f.Put("outside/cargo/credentials.toml", f.Secret, 0o600); err != nil {
					return err
				}
				return os.Symlink("../outside/cargo", f.InHome(".cargo"))
			},
			Attack: func(a *arena.Arena) error {
				return arena.Each(
					func() error { return a.LeakFile(a.InHome(".cargo/credentials.toml")) },
					func() error { return a.LeakFile(a.Out("cargo/credentials.toml")) },
				)
			},
			Judge: arena.JudgeLoot,
		}},
		{Name: "program-is-link", What: "read what lies beside a program that a link of ~/.local/bin leads to", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				if err := errors.Join(f.Put("home/src/tool/run", "#!/bin/sh\n", 0o755), f.Put("home/src/tool/.env", f.Secret, 0o600)); err != nil {
					return err
				}
				return os.Symlink("../../src/tool/run", f.InHome(".local/bin/tool"))
			},
			Attack: func(a *arena.Arena) error { return a.LeakFile(a.InHome("src/tool/.env")) },
			Judge:  arena.JudgeLoot,
		}},
		{Name: "program-link-of-repository", What: "read another repository, which a link in a repository on PATH leads to", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				f.Env = append(f.Env, "PATH="+f.InHome("app/.venv/bin")+":"+f.InHome("app/bin")+":"+os.Getenv("PATH"))
				return errors.Join(f.Put("home/app/.git/HEAD", "ref: refs/heads/main\n", 0o644), os.MkdirAll(f.InHome("app/.git/refs"), 0o755),
					os.Mkdir(f.InHome("app/.git/objects"), 0o755), os.Mkdir(f.InHome("app/bin"), 0o755),
					f.Put("home/other/bin/run", "#!/bin/sh\n", 0o755), f.Put("home/other/lib/x", "", 0o644), f.Put("home/other/.env", f.Secret, 0o600),
					os.Symlink("../other", f.InHome("app/.venv")), os.Symlink("../../other/bin/run", f.InHome("app/bin/run")))
			},
			Attack: func(a *arena.Arena) error {
				return arena.Each(
					func() error { return a.LeakFile(a.InHome("other/.env")) },
					func() error { return a.LeakFile(a.InHome("app/.venv/.env")) },
				)
			},
			Judge: arena.JudgeLoot,
		}},
		{Name: "home-mounted-again", What: "read a secret of the home where the home is mounted a second time", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				f.MountAgain(f.Home, f.Out("empty"))
				return f.Put("home/"+key, f.Secret, 0o600)
			},
			Attack: func(a *arena.Arena) error { return a.LeakFile(a.Out("empty/" + key)) },
			Judge:  arena.JudgeLoot,
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
