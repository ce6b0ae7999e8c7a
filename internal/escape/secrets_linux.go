package escape

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
	{"psql", ".pgpass"}, {"rclone", ".config/rclone/rclone.conf"}, {"age", ".config/sops/age/keys.txt"},
}

// secrets are attempts to read what is not for the worker.
func secrets() []Attempt {
	var list []Attempt
	for _, k := range kept {
		list = append(list, Attempt{Name: "home-" + k.name, What: "read ~/" + k.at, Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error { return f.put("home/"+k.at, f.Secret, 0o600) },
			attack:  func(a *Arena) error { return a.leakFile(a.home(k.at)) },
			judge:   looted,
		}})
	}
	list = append(append(list, waysToKey()...), homes()...)
	list = append(list, environments()...)
	list = append(list, otherTrees()...)
	return append(list, machine()...)
}

// waysToKey are other ways to one masked file.
func waysToKey() []Attempt {
	row := func(name, what string, attack func(*Arena) error) Attempt {
		return Attempt{Name: "way-" + name, What: what, Safe: true, attempt: attempt{prepare: secretKey, attack: attack, judge: looted}}
	}
	const key = ".ssh/id_ed25519"
	names := row("names", "list the names in ~/.ssh", func(a *Arena) error {
		entries, err := os.ReadDir(a.home(".ssh"))
		return errors.Join(err, a.leak(fmt.Append(nil, entries)))
	})
	names.prepare = func(f *Fixture) error { return f.put("home/.ssh/"+f.Secret, "", 0o600) }
	return []Attempt{
		names,
		row("symlink", "read it through a link in the tree", func(a *Arena) error {
			if err := os.Symlink(a.Home, a.in("way")); err != nil {
				return err
			}
			return a.leakFile(a.in("way/" + key))
		}),
		row("link", "link it into the tree", func(a *Arena) error {
			if err := os.Link(a.home(key), a.in("way")); err != nil {
				return err
			}
			return a.leakFile(a.in("way"))
		}),
		row("rename", "rename its directory and read it there", func(a *Arena) error {
			if err := os.Rename(a.home(".ssh"), a.home("moved")); err != nil {
				return err
			}
			return a.leakFile(a.home("moved/id_ed25519"))
		}),
		row("rename-home", "rename the home and read it there", func(a *Arena) error {
			if err := os.Rename(a.Home, a.Home+".moved"); err != nil {
				return err
			}
			return a.leakFile(filepath.Join(a.Home+".moved", key))
		}),
		row("again", "make its directory again", func(a *Arena) error {
			_ = os.Mkdir(a.home(".ssh"), 0o700) // without cordon it is there
			return a.leakFile(a.home(key))
		}),
		row("proc-root", "read it through /proc/self/root", func(a *Arena) error { return a.leakFile("/proc/self/root" + a.home(key)) }),
		row("parent-root", "read it through the root of the parent", func(a *Arena) error {
			return a.leakFile("/proc/" + strconv.Itoa(os.Getppid()) + "/root" + a.home(key))
		}),
		row("case", "read it by an odd spelling of its path", func(a *Arena) error {
			return a.leakFile(a.Base + "/./outside/../home//.ssh/../.ssh/./id_ed25519")
		}),
		row("exec", "read it with a program", func(a *Arena) error {
			text, err := exec.Command("cat", a.home(key)).Output()
			return errors.Join(err, a.leak(text))
		}),
		row("directory-descriptor", "read it from the directory above", func(a *Arena) error {
			dir, err := unix.Open(a.Base, unix.O_PATH|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			fd, err := unix.Openat(dir, "home/"+key, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return a.leakFd(fd)
		}),
		row("chmod", "make it readable first", func(a *Arena) error {
			_ = os.Chmod(a.home(".ssh"), 0o755) // it may be so already
			_ = os.Chmod(a.home(key), 0o644)
			return a.leakFile(a.home(key))
		}),
	}
}

func environments() []Attempt {
	var list []Attempt
	for _, name := range []string{"AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "NPM_TOKEN", "DATABASE_URL", "OPENAI_API_KEY", "DEPLOY_PASSWORD"} {
		list = append(list, Attempt{Name: "env-" + strings.ToLower(strings.ReplaceAll(name, "_", "-")), What: "read the variable " + name, Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error { f.env = append(f.env, name+"="+f.Secret); return nil },
			attack:  func(a *Arena) error { return a.leak([]byte(os.Getenv(name))) },
			judge:   looted,
		}})
	}
	for _, p := range []struct {
		name, what string
		pids       func() []string
	}{
		{"self", "its own process", func() []string { return []string{"self"} }},
		{"parent", "the parent", func() []string { return []string{strconv.Itoa(os.Getppid())} }},
		{"any", "any process that is seen", pids},
	} {
		list = append(list, Attempt{Name: "environ-" + p.name, What: "read a variable from /proc of " + p.what, Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error { f.env = append(f.env, "CORDON_ESCAPE_TOKEN="+f.Secret); return nil },
			attack:  func(a *Arena) error { return a.leakVariable("CORDON_ESCAPE_TOKEN=", p.pids()) },
			judge:   looted,
		}})
	}
	return list
}

// leakVariable hands out one variable. The control runs on the host, so the
// others are not kept.
func (a *Arena) leakVariable(name string, pids []string) error {
	var found []error
	for _, p := range pids {
		text, err := os.ReadFile("/proc/" + p + "/environ")
		if err != nil {
			continue
		}
		for _, v := range bytes.Split(text, []byte{0}) {
			if bytes.HasPrefix(v, []byte(name)) {
				found = append(found, a.leak(v))
			}
		}
	}
	if len(found) == 0 {
		return errors.New("it is in no environment that is seen")
	}
	return errors.Join(found...)
}

// otherTrees are the trees beside the worker's own.
func otherTrees() []Attempt {
	row := func(name, what, at string, t tree) Attempt {
		return Attempt{Name: name, What: what, Safe: true, attempt: attempt{
			tree:    t,
			prepare: func(f *Fixture) error { return f.put(at, f.Secret, 0o600) },
			attack:  func(a *Arena) error { return a.leakFile(filepath.Join(a.Base, at)) },
			judge:   looted,
		}}
	}
	return []Attempt{
		row("sibling", "read a file of another worktree", "sibling/.env", treeLinked),
		row("checkout", "read a file of the host's checkout", "host/.env", treeLinked),
		row("state", "read cordon's state", "home/.local/state/cordon/other/lease.json", treePlain),
		row("state-linked", "read cordon's state from a worktree", "home/.local/state/cordon/other/journal", treeLinked),
	}
}

// machine are the secrets that lie elsewhere than in the home.
func machine() []Attempt {
	list := []Attempt{
		{Name: "shadow", What: "read the password hashes", Safe: true, Root: true, attempt: attempt{
			tries:  "/etc/shadow",
			attack: func(a *Arena) error { return a.leakFile("/etc/shadow") },
			judge: func(f *Fixture) (string, error) {
				text, err := os.ReadFile("/etc/shadow")
				if err != nil || len(text) == 0 {
					return "", fmt.Errorf("nothing to compare with: %w", err)
				}
				return f.obtained(string(text))
			},
		}},
		{Name: "other-home", What: "read another user's home", Root: true, attempt: attempt{
			tries: "/home",
			prepare: func(f *Fixture) error {
				f.Args["path"] = "/home/cordon-escape-" + random()
				f.onClose(func() { _ = os.RemoveAll(f.Args["path"]) })
				return errors.Join(os.Mkdir(f.Args["path"], 0o755), os.WriteFile(f.Args["path"]+"/notes", []byte(f.Secret), 0o644))
			},
			attack: func(a *Arena) error { return a.leakFile(a.Args["path"] + "/notes") },
			judge:  looted,
		}},
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm", "/run"} {
		list = append(list, Attempt{Name: "in" + strings.ReplaceAll(dir, "/", "-"), What: "read a file of the operator's in " + dir, Safe: true, Root: dir == "/run", attempt: attempt{
			tries: dir,
			prepare: func(f *Fixture) error {
				f.Args["path"] = filepath.Join(dir, "cordon-escape."+random())
				f.onClose(func() { _ = os.Remove(f.Args["path"]) })
				return os.WriteFile(f.Args["path"], []byte(f.Secret), 0o600)
			},
			attack: func(a *Arena) error { return a.leakFile(a.Args["path"]) },
			judge:  looted,
		}})
	}
	return append(list, Attempt{Name: "socket-names", What: "list the host's sockets", Safe: true, attempt: attempt{
		prepare: func(f *Fixture) error { return f.listenUnix("stream", "@"+f.Secret) },
		attack:  func(a *Arena) error { return a.leakFile("/proc/net/unix") },
		judge:   looted,
	}}, Attempt{Name: "root-home", What: "read root's own home when HOME is another", Root: true, attempt: attempt{
		tries: "/root",
		prepare: func(f *Fixture) error {
			f.Args["path"] = "/root/.cordon-escape-" + random()
			f.onClose(func() { _ = os.Remove(f.Args["path"]) })
			return os.WriteFile(f.Args["path"], []byte(f.Secret), 0o600)
		},
		attack: func(a *Arena) error { return a.leakFile(a.Args["path"]) },
		judge:  looted,
	}})
}
