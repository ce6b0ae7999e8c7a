package known

import (
	"slices"
	"strings"
	"testing"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

func TestOfNames(t *testing.T) {
	tests := []struct{ command, want string }{
		{"/bin/cat ../x", "R ../x; X /bin/cat"},
		{"./cat ../x", "R ../x; R ../x; X ./cat"},
		{"gcc-13 -o ../x y.c", "W ../x; R y.c"},
		{"clang++-17 -o ../x y.c", "W ../x; R y.c"},
		{"pip3.12 install -r ../x", "R ../x"},
		{"cat.exe ../x", "R ../x"},
		{"../run.sh ../x", "R ../x; X ../run.sh; unknown"},
		{mark.Any + " x", "ask; unknown"},
		{"/opt/" + mark.Any + " x", "X /opt/‹unknown›; unknown"},
		{mark.Inside + "/x.sh", "X ‹files of the tree›/x.sh; unknown"},
	}
	for _, tt := range tests {
		if got := shortUse(Of(commands.Call{Args: words(tt.command)})); got != tt.want {
			t.Errorf("%s: %s, want %s", mark.Words(tt.command), got, tt.want)
		}
	}
	if u := Of(commands.Call{}); u.Out != mark.Any {
		t.Errorf("no arguments: %+v", u)
	}
	if u := Of(commands.Call{Args: []string{""}}); u.Known {
		t.Errorf("empty name: %+v", u)
	}
}

// What is not known stays in the paths.
func TestMarksStay(t *testing.T) {
	for _, command := range []string{"rm -rf ?", "cp a ?", "cat ?", "unheardof ?", "tar -xf a -C ?", "sort -o ? x", "gcc -o ? x.c"} {
		args := words(strings.ReplaceAll(command, "?", mark.Any))
		u := Of(commands.Call{Args: args})
		if !slices.ContainsFunc(u.Access, func(a commands.Access) bool { return a.Path == mark.Any }) {
			t.Errorf("%s: %s", command, shortUse(u))
		}
	}
}

func TestLoosePaths(t *testing.T) {
	tests := []struct{ value, want string }{
		{"plain", ""},
		{"a/b", "a/b"},
		{"..", ".."},
		{".", "."},
		{"~/x", "~/x"},
		{"~root", "~root"},
		{"react@~18.2", ""},
		{"HEAD~1", ""},
		{"/w/repo", "/w/repo"},
		{"key=/w/repo", "/w/repo"},
		{"type=bind,src=/w/repo,dst=/s", "/w/repo /s"},
		{"/w/repo:/src", "/w/repo /src"},
		{"@../x", "../x"},
		{"file:///w/repo/x", "/w/repo/x"},
		{"FILE://localhost/w/rep%6F", "/w/repo"},
		{"x=fileb://../y", "../y"},
		{"https://e.com/w/repo", ""},
		{"see /w/repo", ""},
		{"../..#x", "../.."},
		{"git@github.com:x/y", "git@github.com:x/y"},
		{mark.Any, mark.Any},
		{"x=" + mark.Outside, mark.Outside},
		{mark.Atom, ""},
	}
	for _, tt := range tests {
		if got := strings.Join(argtext.LoosePaths(tt.value), " "); got != tt.want {
			t.Errorf("%q: %q, want %q", mark.Words(tt.value), mark.Words(got), mark.Words(tt.want))
		}
	}
}

func TestListedOnStandardInput(t *testing.T) {
	tests := []struct{ command, stdin, want string }{
		{"tar -T - -cf a.tar", "../x\ny\n", "R ../x; R y; W a.tar"},
		{"cpio -o", "../x\n", "R ../x"},
		{"cpio -pd ../d", "a\n", "W ../d; R a"},
		{"zip -@ a.zip", "../x\n", "W a.zip; R ../x"},
		{"rsync --files-from=- a b", "../x\n", "R ../x; R a; W b"},
		{"du --files0-from=-", "../x\x00y", "R ../x; R y"},
		{"tar -T - -cf a.tar", mark.Inside + "\n", "R ‹files of the tree›; W a.tar"},
		{"curl -K -", "output = \"../x\"\nurl = https://e.com\n", "ask"},
		{"patch -p0", "--- a\n+++ ../x\t2024\n", "W a; W ../x"},
		{"tee ../x", "hi\n", "W ../x; ../x = hi\n"},
		{"tee -a x", "hi\n", "W x; x += hi\n"},
	}
	for _, tt := range tests {
		u := Of(commands.Call{Args: words(tt.command), Stdin: tt.stdin, Fed: true})
		if got := shortUse(u); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.command, got, tt.want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	tests := []struct{ variable, value, command, want string }{
		{"LD_PRELOAD", "../x.so", "ls", "X ../x.so"},
		{"LD_PRELOAD", "../x.so", "unheardof", "X ../x.so; unknown"},
		{"TAR_OPTIONS", "--to-command=../x", "tar xf a", "R a; code ../x"},
		{"RSYNC_RSH", "../x", "rsync a b", "R a; W b; code ../x"},
		{"GOFLAGS", "-modfile=../go.mod -race", "go build", "R ../go.mod"},
		{"GOFLAGS", "-C=../x", "go build", "E ../x"},
		{"GOBIN", "../bin", "go install ./cmd", "R ./cmd; W ../bin"},
		{"CARGO_TARGET_DIR", "../t", "cargo build", "W ../t"},
		{"npm_config_prefix", "../p", "npm install", "E ../p"},
		{"NODE_OPTIONS", "--require=../x.js", "npm test", "R ../x.js"},
		{"PYTEST_ADDOPTS", "--rootdir=../x", "pytest", "E ../x"},
		{"LESSOPEN", "|../x %s", "less f", "R f; code ../x %s"},
		{"CC", "gcc", "go build", ""},
		{"CC", "../cc", "go build", "X ../cc"},
		{"TMPDIR", "../t", "mktemp", "W ../t/tmp.‹word›"},
		{"GOPATH", "~/go", "go build", ""},
		{"GOPATH", "/home/agent/go", "go build", ""},
		{"GOPATH", mark.Any, "go build", ""},
		{"GOPATH", "/w/repo", "go build", "W /w/repo"},
		{"KUBECONFIG", "~/.kube/config:../k", "kubectl get pods", "R ../k"},
		{"PATHLIKE", "../x", "ls", ""},
		{"BUNDLE_GEMFILE", "../Gemfile", "bundle install", "W ../Gemfile"},
		{"PIPENV_PIPFILE", "../Pipfile", "pipenv install", "W ../Pipfile"},
		{"MIX_EXS", "../mix.exs", "mix test", "X ../mix.exs"},
		{"PYTHONPATH", "../lib", "python3.12 -V", "R ../lib"},
		{"PYTHONSTARTUP", "../x.py", "python3 -V", "X ../x.py"},
		{"PERL5OPT", "-I/w/repo -MX", "perl -v", "R /w/repo"},
		{"PERL5LIB", "/w/repo", "prove", "R /w/repo; unknown"},
		{"JAVA_TOOL_OPTIONS", "-javaagent:../x.jar", "mvn test", "R ../x.jar"},
		{"_JAVA_OPTIONS", "-javaagent:../x.jar", "mvn test", "R ../x.jar"},
		{"EDITOR", "touch ../x", "sudoedit README", "W README; code touch ../x"},
		{"EDITOR", "touch ../x", "ls", ""},
	}
	for _, tt := range tests {
		env := func(name string) (string, bool) { return tt.value, name == tt.variable }
		if got := shortUse(Of(commands.Call{Args: words(tt.command), Env: env})); got != tt.want {
			t.Errorf("%s=%s %s: %q, want %q", tt.variable, tt.value, tt.command, got, tt.want)
		}
	}
}
