package launch

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"cordon/internal/agent"
	"cordon/internal/lease"
	"cordon/internal/policy"
	"cordon/internal/worksite"
)

// signedIn is an operator with a login, and a client that is to get it.
func signedIn(t *testing.T, how policy.Agent) (*worksite.Site, lease.Lease, *clientSetup) {
	t.Helper()
	home, state := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".client"), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(home, ".client", "auth.json"), "first")
	l := lease.Lease{Terms: lease.Terms{ID: "calm-yak"}, Place: lease.Place{Home: home}}
	l.Policy.Agent = how
	o := &clientSetup{state: state, adapter: &agent.Adapter{Logins: []agent.Login{
		{From: ".client/auth.json", At: "in/auth.json"}, {From: ".client/absent.json", At: "absent.json"},
	}}}
	s := &worksite.Site{Voice: worksite.Silent{}}
	if err := giveLogins(l, o, o.state); err != nil {
		t.Fatal(err)
	}
	return s, l, o
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func have(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestLogin(t *testing.T) {
	_, _, o := signedIn(t, policy.Agent{Login: policy.NoLogin})
	if len(o.logins)+len(o.show) > 0 || worksite.Exists(filepath.Join(o.state, "in/auth.json")) {
		t.Errorf("without a login it got %v %v", o.logins, o.show)
	}
	_, _, o = signedIn(t, policy.Agent{Login: policy.CopyLogin})
	if got := have(t, filepath.Join(o.state, "in/auth.json")); got != "first" || len(o.show) > 0 || len(o.logins) != 1 {
		t.Errorf("its copy is %q, shown %v", got, o.show)
	}
	_, l, o := signedIn(t, policy.Agent{Login: policy.ReadLogin})
	if len(o.show) != 1 || o.show[0].Write || o.show[0].From != worksite.RealPath(filepath.Join(l.Home, ".client/auth.json")) ||
		o.show[0].At != filepath.Join(o.state, "in/auth.json") {
		t.Errorf("to read, it is shown %+v", o.show)
	}
}

func TestLoginIsTakenBackOnlyWhenAskedFor(t *testing.T) {
	for _, row := range []struct {
		name    string
		how     policy.Agent
		operate func(t *testing.T, home, at string)
		want    string
	}{
		{"asked for", policy.Agent{Login: policy.CopyLogin, Refresh: true}, func(t *testing.T, _, at string) { put(t, at, "renewed") }, "renewed"},
		{"not asked for", policy.Agent{Login: policy.CopyLogin}, func(t *testing.T, _, at string) { put(t, at, "renewed") }, "first"},
		{"to read only", policy.Agent{Login: policy.ReadLogin, Refresh: true}, func(t *testing.T, _, at string) { put(t, at, "renewed") }, "first"},
		{"emptied", policy.Agent{Login: policy.CopyLogin, Refresh: true}, func(t *testing.T, _, at string) { put(t, at, " \n") }, "first"},
		{"too large", policy.Agent{Login: policy.CopyLogin, Refresh: true}, func(t *testing.T, _, at string) { put(t, at, string(make([]byte, maxLogin+1))) }, "first"},
		{"removed", policy.Agent{Login: policy.CopyLogin, Refresh: true}, func(t *testing.T, _, at string) {
			if err := os.Remove(at); err != nil {
				t.Fatal(err)
			}
		}, "first"},
		{"a link to a secret", policy.Agent{Login: policy.CopyLogin, Refresh: true}, func(t *testing.T, home, at string) {
			put(t, filepath.Join(home, "secret"), "secret")
			if err := os.Remove(at); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(home, "secret"), at); err != nil {
				t.Fatal(err)
			}
		}, "first"},
		{"the operator's was renewed too", policy.Agent{Login: policy.CopyLogin, Refresh: true}, func(t *testing.T, home, at string) {
			put(t, at, "renewed")
			put(t, filepath.Join(home, ".client/auth.json"), "by the operator")
		}, "by the operator"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, l, o := signedIn(t, row.how)
			row.operate(t, l.Home, filepath.Join(o.state, "in/auth.json"))
			takeBackLogins(s, l, o)
			if got := have(t, filepath.Join(l.Home, ".client/auth.json")); got != row.want {
				t.Errorf("the operator's login is %q, want %q", got, row.want)
			}
		})
	}
}

// A client has written its state before: what lies where its login goes is not
// followed.
func TestLoginFollowsNoLink(t *testing.T) {
	_, l, o := signedIn(t, policy.Agent{Login: policy.CopyLogin})
	outside := filepath.Join(t.TempDir(), "outside")
	put(t, outside, "untouched")
	at := filepath.Join(o.state, "in/auth.json")
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, at); err != nil {
		t.Fatal(err)
	}
	if err := giveLogins(l, o, o.state); err != nil || have(t, outside) != "untouched" || have(t, at) != "first" {
		t.Errorf("%v: outside is %q, the login %q", err, have(t, outside), have(t, at))
	}
	if err := os.RemoveAll(filepath.Join(o.state, "in")); err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(o.state, "in")); err != nil {
		t.Fatal(err)
	}
	if err := giveLogins(l, o, o.state); err != nil || worksite.Exists(filepath.Join(elsewhere, "auth.json")) || have(t, at) != "first" {
		t.Errorf("through a directory that is a link: %v", err)
	}
}

// Whatever a client has left where its login goes, the next launch has its login.
func TestLoginReplacesWhatIsThere(t *testing.T) {
	for name, leave := range map[string]func(in, at string) error{
		"a full directory": func(_, at string) error { return os.MkdirAll(filepath.Join(at, "full/of/these"), 0o700) },
		"a file above":     func(in, _ string) error { return os.WriteFile(in, []byte("x"), 0o600) },
		"a link above":     func(in, _ string) error { return os.Symlink("/nowhere", in) },
		"a link to itself": func(_, at string) error { return errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.Symlink(at, at)) },
	} {
		_, l, o := signedIn(t, policy.Agent{Login: policy.CopyLogin})
		in, at := filepath.Join(o.state, "in"), filepath.Join(o.state, "in/auth.json")
		if err := errors.Join(os.RemoveAll(in), leave(in, at)); err != nil {
			t.Fatal(name, err)
		}
		if err := giveLogins(l, o, o.state); err != nil || have(t, at) != "first" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// When the client has ended, its logins are gone, and what else it has stays.
func TestLoginsAreRemoved(t *testing.T) {
	_, _, o := signedIn(t, policy.Agent{Login: policy.CopyLogin})
	login, other := filepath.Join(o.state, "in", "auth.json"), filepath.Join(o.state, "in", "history.json")
	put(t, other, "talk")
	if have(t, login) != "first" {
		t.Fatal("the control: there is no login")
	}
	if err := o.removeLogins(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(login); !errors.Is(err, os.ErrNotExist) || have(t, other) != "talk" {
		t.Errorf("the login: %v", err)
	}
}
