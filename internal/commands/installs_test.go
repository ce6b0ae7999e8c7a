package commands

import (
	"strings"
	"testing"
)

func isAsked(command string) bool {
	return len(Of(Call{Args: words(command)}).Findings) > 0
}

// Every row asks for its first word, and does not with what it makes exceptions
// for.
func TestSettles(t *testing.T) {
	for i, s := range settles {
		command := s.name
		if v := strings.Fields(s.verbs); len(v) > 0 {
			command += " " + v[0]
		}
		if v := strings.Fields(s.second); len(v) > 0 {
			command += " " + v[0]
		}
		if !isAsked(command + " x") {
			t.Errorf("%s x: nobody is asked", command)
		}
		if s.name != "gh" && isAsked(command+" --help") {
			t.Errorf("%s --help: somebody is asked", command)
		}
		for _, o := range strings.Fields(s.unless) {
			if isAsked(command + " " + o + " x") {
				t.Errorf("%s %s: somebody is asked", command, o)
			}
		}
		if i > 0 && settles[i-1].name > s.name {
			t.Errorf("%s is not in order", s.name)
		}
	}
	for _, command := range []string{"go install example.com/x@latest", "bun add -g x", "ninja -C build install", "hostname x", "husky", "gpg --import x.asc", "python3 setup.py install", "python3.12 setup.py develop --user"} {
		if !isAsked(command) {
			t.Errorf("%s: nobody is asked", command)
		}
	}
	for _, command := range []string{"go install ./cmd", "bun add x", "ninja -C build test", "hostname", "gpg --verify x.asc", "gpg --homedir build/g --import x.asc", "python3 setup.py build_ext --inplace", "gh auth status", "gcloud config list", "asdf exec node -v", "conda run -n dev pytest", "pre-commit run -a", "aws configure list", "kubectl config view", "cmake --build build", "cargo install --list", "pyenv local 3.11", "rustup show", "nvm use 20"} {
		if isAsked(command) {
			t.Errorf("%s: somebody is asked", command)
		}
	}
}
