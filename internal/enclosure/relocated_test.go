package enclosure

import (
	"slices"
	"testing"
)

// What an operator has moved with a variable is hidden where it is.
func TestRelocated(t *testing.T) {
	for _, r := range allRelocations() {
		t.Setenv(r.variable, "")
	}
	hidden := []string{"/home/me/.config/gh", "/home/me/.cargo/credentials*", "/home/me/.kube", "/home/me/.npmrc", "/etc/shadow"}
	if got := relocatedGlobs(hidden, "/home/me"); got != nil {
		t.Errorf("nothing was moved: %v", got)
	}
	t.Setenv("XDG_CONFIG_HOME", "/data/conf[1]")
	t.Setenv("CARGO_HOME", "/data/cargo/")
	t.Setenv("KUBECONFIG", "/data/k1:relative:/data/k2")
	t.Setenv("NPM_CONFIG_USERCONFIG", "/data/npmrc")
	got := relocatedGlobs(hidden, "/home/me")
	for _, want := range []string{`/data/conf\[1\]/gh`, "/data/cargo/credentials*", "/data/k1", "/data/k2", "/data/npmrc"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not among %v", want, got)
		}
	}
	if len(got) != 5 {
		t.Errorf("%v", got)
	}
}

// Values that look like credentials are not passed under a harmless name.
func TestValuesThatLookLikeCredentials(t *testing.T) {
	for _, value := range []string{
		"ghp_0123456789abcdef", "sk-ant-0123456789", "https://api.example.com/v1?bearer=abc", "-PnexusPwd=hunter2", "-Dfoo.pw=x",
		"eyJhbGciOiJIUzI1.eyJzdWIiOiIx", "AKIA0123456789ABCDEF", "xoxb-0123456789", "github_pat_0123456789",
	} {
		if !holdsCredential(value) {
			t.Errorf("%q is passed", value)
		}
	}
	for _, value := range []string{"-Xmx2g", "/usr/bin:/bin", "https://modules.example.com,direct", "-mod=mod", "claude-sonnet", "sk-small", "C.UTF-8"} {
		if holdsCredential(value) {
			t.Errorf("%q is withheld", value)
		}
	}
}
