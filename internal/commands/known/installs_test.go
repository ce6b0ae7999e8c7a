package known

import (
	"strings"
	"testing"

	"cordon/internal/commands"
	"cordon/internal/commands/table"
)

func isAsked(command string) bool {
	return len(Of(commands.Call{Args: words(command)}).Findings) > 0
}

// Every row asks for its first word, and does not with what it makes exceptions
// for.
func TestSettles(t *testing.T) {
	last, count := "", 0
	for name, row := range table.TableRows(changes) {
		fields := strings.Fields(row)
		if fields[0] == "activates" {
			continue
		}
		if count++; name < last {
			t.Errorf("%s is not in order", name)
		}
		last = name
		command := name
		for _, list := range fields[1:3] {
			if list != "-" && list != "." {
				command += " " + strings.ReplaceAll(strings.TrimPrefix(strings.Split(list, ",")[0], "?"), "*", "x")
			}
		}
		if !isAsked(command+" x") && fields[1] != "." {
			t.Errorf("%s x: nobody is asked", command)
		}
		if name != "gh" && isAsked(command+" --help") {
			t.Errorf("%s --help: somebody is asked", command)
		}
		for o := range strings.SplitSeq(fields[3], ",") {
			if o != "-" && isAsked(command+" "+o+" x") {
				t.Errorf("%s %s: somebody is asked", command, o)
			}
		}
	}
	if count < 40 {
		t.Errorf("%d rows", count)
	}
	for _, command := range []string{"go install example.com/x@latest", "bun add -g x", "ninja -C build install", "hostname x", "husky", "service nginx restart", "sysctl -w a=b", "sysctl a.b=1", "pacman -Syu", "pacman -R x", "gpg --import x.asc", "python3 setup.py install", "python3.12 setup.py develop --user"} {
		if !isAsked(command) {
			t.Errorf("%s: nobody is asked", command)
		}
	}
	for _, command := range []string{"go install ./cmd", "bun add x", "ninja -C build test", "hostname", "gpg --verify x.asc", "gpg --homedir build/g --import x.asc", "python3 setup.py build_ext --inplace", "service nginx status", "sysctl a.b", "pacman -Q", "husky run", "gh auth status", "gcloud config list", "asdf exec node -v", "conda run -n dev pytest", "pre-commit run -a", "aws configure list", "kubectl config view", "cmake --build build", "cargo install --list", "pyenv local 3.11", "rustup show", "nvm use 20"} {
		if isAsked(command) {
			t.Errorf("%s: somebody is asked", command)
		}
	}
}
