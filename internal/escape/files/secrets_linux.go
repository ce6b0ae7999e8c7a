package files

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/escape/arena"
)

// kept are the files of a home that no worker needs, by what they are.
var kept = []struct{ name, at string }{
	{"ssh-key", ".ssh/id_ed25519"}, {"ssh-config", ".ssh/config"}, {"gnupg", ".gnupg/private-keys-v1.d/key.key"},
	{"aws", ".aws/credentials"}, {"aws-sso", ".aws/sso/cache/token.json"}, {"azure", ".azure/msal_token_cache.json"},
	{"gcloud", ".config/gcloud/application_default_credentials.json"}, {"kube", ".kube/config"}, {"docker", ".docker/config.json"},
	{"gh", ".config/gh/hosts.yml"}, {"netrc", ".netrc"}, {"git-credentials", ".git-credentials"}, {"git-credentials-xdg", ".config/git/credentials"},
	{"npmrc", ".npmrc"}, {"pypirc", ".pypirc"}, {"cargo", ".cargo/credentials.toml"}, {"gem", ".gem/credentials"},
	{"maven", ".m2/settings.xml"}, {"terraform", ".terraform.d/credentials.tfrc.json"}, {"vault", ".vault-token"},
	{"keyring", ".local/share/keyrings/login.keyring"}, {"password-store", ".password-store/mail.gpg"},
	{"firefox", ".mozilla/firefox/x.default/logins.json"}, {"chrome", ".config/google-chrome/Default/Login Data"}, {"chromium", ".config/chromium/Default/Cookies"},
	{"bash-history", ".bash_history"}, {"zsh-history", ".zsh_history"}, {"python-history", ".python_history"}, {"fish-history", ".local/share/fish/fish_history"},
	{"unknown-file", "vault-pass.txt"}, {"unknown-dotfile", ".mycorp-token"}, {"unknown-config", ".config/mycorp/token"}, {"document", "notes/customers.csv"},
	{"other-repository", "otherrepo/.env"}, {"start-file", ".zshenv"},
	{"psql", ".pgpass"}, {"rclone", ".config/rclone/rclone.conf"}, {"age", ".config/sops/age/keys.txt"},
}

// Secrets are attempts to read what is not for the worker.
func Secrets() []arena.Attempt {
	var list []arena.Attempt
	for _, k := range kept {
		list = append(list, arena.Attempt{Name: "home-" + k.name, What: "read ~/" + k.at, Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error { return f.Put("home/"+k.at, f.Secret, 0o600) },
			Attack:  func(a *arena.Arena) error { return a.LeakFile(a.InHome(k.at)) },
			Judge:   arena.JudgeLoot,
		}})
	}
	list = append(append(list, waysToKey()...), homes()...)
	list = append(list, environments()...)
	list = append(list, otherTrees()...)
	return append(list, machine()...)
}

// waysToKey are other ways to one masked file.
func waysToKey() []arena.Attempt {
	row := func(name, what string, attack func(*arena.Arena) error) arena.Attempt {
		return arena.Attempt{Name: "way-" + name, What: what, Safe: true, Act: arena.Act{Prepare: arena.SecretKey, Attack: attack, Judge: arena.JudgeLoot}}
	}
	const key = ".ssh/id_ed25519"
	names := row("names", "list the names in ~/.ssh", func(a *arena.Arena) error {
		entries, err := os.ReadDir(a.InHome(".ssh"))
		return errors.Join(err, a.Leak(fmt.Append(nil, entries)))
	})
	names.Prepare = func(f *arena.Fixture) error { return f.Put("home/.ssh/"+f.Secret, "", 0o600) }
	return []arena.Attempt{
		names,
		row("symlink", "read it through a link in the tree", func(a *arena.Arena) error {
			if err := os.Symlink(a.Home, a.In("way")); err != nil {
				return err
			}
			return a.LeakFile(a.In("way/" + key))
		}),
		row("link", "link it into the tree", func(a *arena.Arena) error {
			if err := os.Link(a.InHome(key), a.In("way")); err != nil {
				return err
			}
			return a.LeakFile(a.In("way"))
		}),
		row("rename", "rename its directory and read it there", func(a *arena.Arena) error {
			if err := os.Rename(a.InHome(".ssh"), a.InHome("moved")); err != nil {
				return err
			}
			return a.LeakFile(a.InHome("moved/id_ed25519"))
		}),
		row("rename-home", "rename the home and read it there", func(a *arena.Arena) error {
			if err := os.Rename(a.Home, a.Home+".moved"); err != nil {
				return err
			}
			return a.LeakFile(filepath.Join(a.Home+".moved", key))
		}),
		row("again", "make its directory again", func(a *arena.Arena) error {
			_ = os.Mkdir(a.InHome(".ssh"), 0o700) // without cordon it is there
			return a.LeakFile(a.InHome(key))
		}),
		row("proc-root", "read it through /proc/self/root", func(a *arena.Arena) error { return a.LeakFile("/proc/self/root" + a.InHome(key)) }),
		row("parent-root", "read it through the root of the parent", func(a *arena.Arena) error {
			return a.LeakFile("/proc/" + strconv.Itoa(os.Getppid()) + "/root" + a.InHome(key))
		}),
		row("case", "read it by an odd spelling of its path", func(a *arena.Arena) error {
			return a.LeakFile(a.Base + "/./outside/../home//.ssh/../.ssh/./id_ed25519")
		}),
		row("exec", "read it with a program", func(a *arena.Arena) error {
			text, err := exec.Command("cat", a.InHome(key)).Output()
			return errors.Join(err, a.Leak(text))
		}),
		row("directory-descriptor", "read it from the directory above", func(a *arena.Arena) error {
			dir, err := unix.Open(a.Base, unix.O_PATH|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			fd, err := unix.Openat(dir, "home/"+key, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return a.LeakFd(fd)
		}),
		row("chmod", "make it readable first", func(a *arena.Arena) error {
			_ = os.Chmod(a.InHome(".ssh"), 0o755) // it may be so already
			_ = os.Chmod(a.InHome(key), 0o644)
			return a.LeakFile(a.InHome(key))
		}),
	}
}

func environments() []arena.Attempt {
	var list []arena.Attempt
	for _, name := range []string{"AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "NPM_TOKEN", "DATABASE_URL", "OPENAI_API_KEY", "DEPLOY_PASSWORD"} {
		list = append(list, arena.Attempt{Name: "env-" + strings.ToLower(strings.ReplaceAll(name, "_", "-")), What: "read the variable " + name, Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error { f.Env = append(f.Env, name+"="+f.Secret); return nil },
			Attack:  func(a *arena.Arena) error { return a.Leak([]byte(os.Getenv(name))) },
			Judge:   arena.JudgeLoot,
		}})
	}
	for _, p := range []struct {
		name, what string
		pids       func() []string
	}{
		{"self", "its own process", func() []string { return []string{"self"} }},
		{"parent", "the parent", func() []string { return []string{strconv.Itoa(os.Getppid())} }},
		{"any", "any process that is seen", arena.Pids},
	} {
		list = append(list, arena.Attempt{Name: "environ-" + p.name, What: "read a variable from /proc of " + p.what, Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error { f.Env = append(f.Env, "CORDON_ESCAPE_TOKEN="+f.Secret); return nil },
			Attack:  func(a *arena.Arena) error { return leakVariable(a, "CORDON_ESCAPE_TOKEN=", p.pids()) },
			Judge:   arena.JudgeLoot,
		}})
	}
	return list
}

// leakVariable hands out one variable. The control runs on the host, so the
// others are not kept.
func leakVariable(a *arena.Arena, name string, pids []string) error {
	var found []error
	for _, p := range pids {
		text, err := os.ReadFile("/proc/" + p + "/environ")
		if err != nil {
			continue
		}
		for _, v := range bytes.Split(text, []byte{0}) {
			if bytes.HasPrefix(v, []byte(name)) {
				found = append(found, a.Leak(v))
			}
		}
	}
	if len(found) == 0 {
		return errors.New("it is in no environment that is seen")
	}
	return errors.Join(found...)
}

// otherTrees are the trees beside the worker's own.
func otherTrees() []arena.Attempt {
	row := func(name, what, at string, t arena.Tree) arena.Attempt {
		return arena.Attempt{Name: name, What: what, Safe: true, Act: arena.Act{
			Tree:    t,
			Prepare: func(f *arena.Fixture) error { return f.Put(at, f.Secret, 0o600) },
			Attack:  func(a *arena.Arena) error { return a.LeakFile(filepath.Join(a.Base, at)) },
			Judge:   arena.JudgeLoot,
		}}
	}
	return []arena.Attempt{
		row("sibling", "read a file of another worktree", "sibling/.env", arena.TreeLinked),
		row("checkout", "read a file of the host's checkout", "host/.env", arena.TreeLinked),
		row("state", "read cordon's state", "home/.local/state/cordon/other/lease.json", arena.TreePlain),
		row("state-linked", "read cordon's state from a worktree", "home/.local/state/cordon/other/journal", arena.TreeLinked),
	}
}

// makeHome makes a home with the secret where those of people are, and tells the attack of it.
func makeHome(f *arena.Fixture, key string) error {
	home := "/home/cordon-escape-" + arena.RandomName()
	f.Args[key] = home
	f.OnClose(func() { _ = os.RemoveAll(home) })
	return errors.Join(os.Mkdir(home, 0o755), os.WriteFile(home+"/notes", []byte(f.Secret), 0o644))
}

// machine are the secrets that lie elsewhere than in the home.
func machine() []arena.Attempt {
	list := []arena.Attempt{
		{Name: "shadow", What: "read the password hashes", Safe: true, Root: true, Act: arena.Act{
			Tries:  "/etc/shadow",
			Attack: func(a *arena.Arena) error { return a.LeakFile("/etc/shadow") },
			Judge: func(f *arena.Fixture) (string, error) {
				text, err := os.ReadFile("/etc/shadow")
				if err != nil || len(text) == 0 {
					return "", fmt.Errorf("nothing to compare with: %w", err)
				}
				return f.Obtained(string(text))
			},
		}},
		{Name: "other-home", What: "read another user's home", Root: true, Act: arena.Act{
			Tries:   "/home",
			Prepare: func(f *arena.Fixture) error { return makeHome(f, "path") },
			Attack:  func(a *arena.Arena) error { return a.LeakFile(a.Args["path"] + "/notes") },
			Judge:   arena.JudgeLoot,
		}},
		{Name: "other-home-mount", What: "read another user's home while something is mounted in it", Root: true, Act: arena.Act{
			Tries: "/home",
			Prepare: func(f *arena.Fixture) error {
				err := errors.Join(makeHome(f, "path"), makeHome(f, "own"), os.Mkdir(f.Args["path"]+"/mnt", 0o755))
				f.Env = append(f.Env, "HOME="+f.Args["own"])
				f.Mount(f.Args["path"] + "/mnt")
				return err
			},
			Attack: func(a *arena.Arena) error { return a.LeakBeside(a.Args["path"]+"/mnt", a.Args["path"]+"/notes") },
			Judge:  arena.JudgeLoot,
		}},
		{Name: "closed-mount", What: "read a directory that deny_read names and that holds a mount and a scratch directory", Safe: true, Act: arena.Act{
			Policy: "version: 1\nfilesystem:\n  outside: deny\n", // Prepare adds to it
			Prepare: func(f *arena.Fixture) error {
				policy, err := os.OpenFile(filepath.Join(f.Base, "policy.yaml"), os.O_WRONLY|os.O_APPEND, 0)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(policy, "  deny_read: [%q]\n  scratch: [%q]\n", f.Outside, f.Out("dir"))
				f.Mount(f.Out("empty"))
				return errors.Join(err, policy.Close(), f.Put("outside/key", f.Secret, 0o600))
			},
			Attack: func(a *arena.Arena) error { return a.LeakBeside(a.Out("empty"), a.Out("key")) },
			Judge:  arena.JudgeLoot,
		}},
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm", "/run"} {
		list = append(list, arena.Attempt{Name: "in" + strings.ReplaceAll(dir, "/", "-"), What: "read a file of the operator's in " + dir, Safe: true, Root: dir == "/run", Act: arena.Act{
			Tries: dir,
			Prepare: func(f *arena.Fixture) error {
				f.Args["path"] = filepath.Join(dir, "cordon-escape."+arena.RandomName())
				f.OnClose(func() { _ = os.Remove(f.Args["path"]) })
				return os.WriteFile(f.Args["path"], []byte(f.Secret), 0o600)
			},
			Attack: func(a *arena.Arena) error { return a.LeakFile(a.Args["path"]) },
			Judge:  arena.JudgeLoot,
		}})
	}
	return append(list, arena.Attempt{Name: "socket-names", What: "list the host's sockets", Safe: true, Act: arena.Act{
		Prepare: func(f *arena.Fixture) error { return f.ListenUnix("stream", "@"+f.Secret) },
		Attack:  func(a *arena.Arena) error { return a.LeakFile("/proc/net/unix") },
		Judge:   arena.JudgeLoot,
	}}, arena.Attempt{Name: "root-home", What: "read root's own home when HOME is another", Root: true, Act: arena.Act{
		Tries: "/root",
		Prepare: func(f *arena.Fixture) error {
			f.Args["path"] = "/root/.cordon-escape-" + arena.RandomName()
			f.OnClose(func() { _ = os.Remove(f.Args["path"]) })
			return os.WriteFile(f.Args["path"], []byte(f.Secret), 0o600)
		},
		Attack: func(a *arena.Arena) error { return a.LeakFile(a.Args["path"]) },
		Judge:  arena.JudgeLoot,
	}})
}
