package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/policy"
)

// writeMachine makes a directory that holds the rights of a machine.
func writeMachine(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cordon", Name)
	if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestMachineIsRoots(t *testing.T) {
	file := writeMachine(t, "rights: {isolation: degraded}\n")
	if os.Geteuid() != 0 {
		if _, _, err := readMachine(file); err == nil || !strings.Contains(err.Error(), "belongs to uid") {
			t.Errorf("a file of an ordinary user's is used: %v", err)
		}
		return
	}
	if r, given, err := readMachine(file); err != nil || r.Isolation != policy.Degraded || given["rights.isolation"] != 1 {
		t.Fatalf("control: %v, %v, %v", r, given, err)
	}
	for what, spoil := range map[string]func(file string) error{
		"it belongs to uid 1234 (chown root ":                 func(file string) error { return os.Chown(file, 1234, -1) },
		"/cordon: your configuration is not used: it belongs": func(file string) error { return os.Chown(filepath.Dir(file), 1234, -1) },
		"others can write it":                                 func(file string) error { return os.Chmod(file, 0o666) },
		"/cordon: your configuration is not used: others can": func(file string) error { return os.Chmod(filepath.Dir(file), 0o777) },
	} {
		file = writeMachine(t, "rights: {isolation: degraded}\n")
		if err := spoil(file); err != nil {
			t.Fatal(err)
		}
		if _, _, err := readMachine(file); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestMachineHasRightsOnly(t *testing.T) {
	if _, given, err := parseMachine("m", []byte("version: 1\nrights: {isolation: strict}\n")); err != nil || given["rights.isolation"] != 2 {
		t.Fatalf("control: %v, %v", given, err)
	}
	for _, text := range []string{"version: 1\nland: {then: [sh]}\n", "rihgts: {}\n", "rights: {isolation: soft}\n"} {
		if _, _, err := parseMachine("m", []byte(text)); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
	if r, given, err := readMachine(filepath.Join(t.TempDir(), "none")); err != nil || given != nil || r.Isolation != policy.None {
		t.Error("a missing file bounds something")
	}
}

// TestMachineBounds: an operator's own rights narrow those of the machine and never widen them,
// and what the machine allows is nobody's consent.
func TestMachineBounds(t *testing.T) {
	bounds := func(own, machine string) Loaded {
		c, given, err := Parse("c", []byte("version: 1\n"+own))
		rights, bounds, bad := parseMachine("m", []byte("version: 1\n"+machine))
		if err != nil || bad != nil {
			t.Fatal(err, bad)
		}
		l := Loaded{Config: c, Given: given}
		l.narrow(rights, bounds)
		return l
	}
	for _, c := range []struct {
		own, machine string
		bound, shown policy.Isolation
		grants       string
	}{
		{"", "", policy.None, policy.Strict, ""},
		{"rights: {isolation: none}\n", "", policy.None, policy.None, "isolation:none"},
		{"rights: {isolation: none}\n", "rights: {isolation: strict}\n", policy.Strict, policy.Strict, "isolation:strict"},
		{"", "rights: {isolation: degraded}\n", policy.Degraded, policy.Strict, ""},
		{"rights: {isolation: none, network: {allowed_domains: [any]}}\n", "rights: {network: {allowed_domains: [a.example]}}\n", policy.None, policy.None,
			"isolation:none domain:a.example"},
	} {
		l := bounds(c.own, c.machine)
		if l.Bound.Isolation != c.bound || l.Rights.Isolation != c.shown || strings.Join(l.Grants(), " ") != c.grants {
			t.Errorf("%s under %s: bound %s, shown %s, grants %q", c.own, c.machine, l.Bound.Isolation, l.Rights.Isolation, l.Grants())
		}
	}
}
