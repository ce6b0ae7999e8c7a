package known

import (
	"strings"
	"testing"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// pipeline is what the last of some commands prints that are joined by pipes.
func pipeline(line string, text func(string) (string, bool)) string {
	out, fed := "", false
	for _, command := range strings.Split(line, " | ") {
		out = Of(commands.Call{Args: wrapWords(command), Stdin: out, Fed: fed, Text: text}).Out
		fed = true
	}
	return markShown.Replace(out)
}

// What is known of names stays known when a filter picks them out of the lines
// that a command prints about them, and only then.
func TestRecords(t *testing.T) {
	tests := []struct{ line, want string }{
		{"rg -n foo src | cut -d: -f1", "«in»⏎«atom»⏎"},
		{"rg -n foo | cut -d: -f1 | sort -u", "«in»⏎"},
		{"rg -n foo | cut -d: -f2", "«atom»⏎"},
		{"rg -n foo | cut -d: -f3", "«any»⏎"},
		{"rg -n foo | cut -d: -f1,4", "«any»"},
		{"rg -n foo src | cut -d: -f2", "«atom»⏎«any»⏎"},
		{"rg -c foo | awk -F: '$2>3{print $1}'", "«in»⏎"},
		{"rg --vimgrep foo | cut -d: -f1-3", "«in»:«atom»:«atom»⏎"},
		{"rg -n -A3 foo | cut -d: -f1", "«any»⏎"},
		{"rg -nL foo | cut -d: -f1", "«any»⏎"},
		{"rg -n foo /w | cut -d: -f1", "«any»⏎"},
		{"rg -In foo | cut -d: -f1", "«any»⏎"},
		{"grep -rn foo src | awk -F: '{print $1}' | sort -u", "«in»⏎«atom»⏎"},
		{"grep -n foo a.go b.go | cut -d: -f1", "«in»⏎"},
		{"grep -n foo a.go | cut -d: -f1", "«atom»⏎"},
		{"grep -hn foo a.go b.go | cut -d: -f1", "«any»⏎"},
		{"grep -n foo a.go ../b.go | cut -d: -f1", "«any»⏎"},
		{"git grep -n foo | grep -o '^[^:]*'", "«in»⏎"},
		{"git grep -n foo | sed 's/:.*//'", "«in»⏎"},
		{"git grep -n foo | sed 's/.*://'", "«any»"},
		{"git status --porcelain | grep '^??' | cut -c4-", "«in»⏎"},
		{"git status -s | cut -c3-", "«any»⏎"},
		{"git status -s | cut -c5-", "«any»⏎"},
		{"git status -s | awk '{print $2}'", "«in»⏎"},
		{"git status -s | awk '{print substr($0, 4)}'", "«in»⏎"},
		{"git status -s | sed 's/^...//'", "«in»⏎"},
		{"git diff --numstat | cut -f3", "«in»⏎"},
		{"git diff --numstat | awk '{print $NF}'", "«in»⏎"},
		{"git ls-tree -r HEAD | cut -f2", "«in»⏎"},
		{"git ls-tree -r HEAD | awk '{print $3}'", "«atom»⏎"},
		{"git log --oneline | head -1 | cut -d' ' -f1", "«atom»⏎"},
		{"git log --oneline | awk '{print $2}'", "«any»⏎"},
		{"ls -la src | awk '{print $9}'", "«in»⏎«in»⏎"},
		{"ls -l src | awk '{print $NF}'", "«in»⏎«any»⏎"},
		{"ls -l src | grep '^d' | awk '{print $NF}'", "«in»⏎«in»⏎"},
		{"ls -l /etc | awk '{print $9}'", "«atom»⏎«atom»⏎"},
		{"ls -s src | awk '{print $2}'", "«any»⏎"},
		{"find src -printf '%s %p\\n' | sort -n | awk '{print $2}'", "«in»⏎"},
		{"find src -printf '%s %l\\n' | awk '{print $2}'", "«any»⏎"},
		{"wc -l a.go b.go | awk '{print $2}'", "a.go⏎b.go⏎total⏎"},
		{"wc -l a.go ../b.go | awk '{print $2}'", "a.go⏎../b.go⏎total⏎"},
		{"du -a build | sort -n | tail -3 | cut -f2", "«in»⏎"},
		{"du -a ../build | cut -f2", "«any»⏎"},
		{"find src | rev | cut -c3- | rev", "«in»⏎"},
		{"find src | rev | cut -d/ -f1 | rev", "«in»⏎"},
		{"find src | rev | cut -c3-", "«any»\x0e«in»⏎"},
		{"find src | rev | cut -c-3 | rev", "«any»⏎"},
		{"sha256sum go.mod | cut -d' ' -f1", "«atom»⏎"},
		{"sha256sum go.mod | awk '{print $1}'", "«atom»⏎"},
		{"md5sum go.mod | head -c 8", "«atom»"},
		{"sha1sum ../x | awk '{print $2}'", "../x⏎"},
		{"cksum go.mod | cut -d' ' -f1", "«atom»⏎"},
		{"echo x | sha1sum | cut -c1-8", "«atom»⏎"},
		{"head -c8 /dev/urandom | xxd -p", "«atom»⏎"},
		{"head -c8 /dev/urandom | tr -dc a-z0-9 | head -c 8", "«atom»"},
		{"head -c8 /dev/urandom | tr -dc a-z/", "«any»"},
		{"head -c8 /dev/urandom | tr -c '[:alnum:]' _", "«atom»⏎"},
		{"head -c8 /dev/urandom | tr -c '[:alnum:]' /", "«any»"},
		{"find src | tr a /", "«any»"},
		{"find src | tr a '+-9'", "«any»"},
		{"find src | tr -d a-z", "«any»"},
		{"find src | tr '\\n' ' '", "«in»⏎"},
		{"git rev-parse HEAD | tr a-f A-F", "«atom»⏎"},
		{"git rev-parse HEAD | cut -c1-8", "«atom»⏎"},
		{"git ls-files | awk '{print \"/w/\" $1}'", "«any»"},
		{"git ls-files | awk '{$1=\"/w\"; print}'", "«any»"},
		{"git ls-files | awk 'sub(/a/, \"/\") {print}'", "«any»"},
		{"git ls-files | sed s,.,«any»,", "«any»"},
		{"git ls-files | sed -n 1,5p", "«in»⏎"},
		{"rg -n foo | sort | uniq -c | awk '{print $1}'", "«any»⏎"},
		{"git ls-files | sort | uniq -c | sort -rn | awk '{print $2}'", "«any»⏎"},
		{"printf '%s\\n' «in» /w/x | tail -1", "«any»"},
		{"printf '%s\\n' «in» ../x | sed -n 2p", "«any»"},
		{"printf '%s\\n' «in» ../x | awk NR==2", "«any»"},
		{"printf '%s\\n' «in» ../x | grep x", "«any»"},
		{"printf '%s\\n' «in» src/x | tail -1", "«in»⏎src/x⏎"},
		{"git status -s | awk '/^M/ {print $2} /^A/ {print $2}'", "«in»⏎"},
		{"git status -s | sed 's/^ M //'", "«in»⏎"},
		{"git status -s | sed 's,^...,../,'", "«any»"},
		{"git ls-files | perl -pe 's,^,/w/x/,'", "«any»"},
		{"git ls-files | perl -pe 's/^/\\/w\\//'", "«any»"},
		{"git ls-files | perl -pe 's{^}{/w/}'", "«any»"},
		{"git ls-files | perl -pe 's/a/b/'", "«in»⏎"},
		{"gofmt -l .", "«in»⏎"},
		{"gofmt -d .", "«any»"},
		{"gofmt -l ../x", "«any»⏎"},
		{"prettier --list-different src", "«in»⏎"},
		{"go list -f '{{.Dir}}' ./...", "«in»⏎"},
		{"go list -f '{{.Dir}}' std", "«any»"},
		{"go list -f '{{.Target}}' ./...", "«any»"},
		{"go list -f '../{{.Name}}' ./...", "«any»"},
		{"go list ./...", "«in»⏎"},
		{"go list -deps ./...", "«any»"},
		{"docker ps -q", "«atom»⏎"},
		{"docker ps", "«any»"},
		{"pgrep -f vite | head -1", "«atom»⏎"},
		{"pgrep -a vite", "«any»"},
		{"jq -r .version package.json", "«atom»⏎"},
		{"jq -r .version x.json", "«any»"},
		{"jq -r .path package.json", "«any»"},
		{"which -a python3 | head -1", "/usr/bin/python3⏎"},
		{"which ../x", "«sys»⏎"},
		{"eza -T src", "«any»"},
		{"eza src", "«any»"},
	}
	for _, tt := range tests {
		if got := pipeline(tt.line, nil); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.line, got, tt.want)
		}
	}
}

// What the text of a file is known to be is what reading it prints.
func TestKnownTexts(t *testing.T) {
	texts := map[string]string{"l": mark.Inside + "\n", "out": "../x\n", "m": "a\nb\n", "p/q": "c\n"}
	text := func(path string) (string, bool) { s, ok := texts[path]; return s, ok }
	tests := []struct{ line, want string }{
		{"cat l", "«in»⏎"},
		{"cat unknown", "«any»"},
		{"cat m unknown", "a⏎b⏎«any»⏎"},
		{"head -1 m", "«any»"},
		{"sort -r m", "a⏎b⏎"},
		{"grep b m", "«any»"},
		{"awk '{print $1}' l", "«in»⏎"},
		{"comm -23 l unknown", "«in»⏎"},
		{"comm -13 l unknown", "«any»"},
		{"comm -12 unknown l", "«any»"},
		{"comm l m", "«any»"},
		{"join l l", "«any»"},
		{"join l m", "«any»"},
		{"jq -r .version m", "«any»"},
	}
	for _, tt := range tests {
		if got := pipeline(tt.line, text); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.line, got, tt.want)
		}
	}
	for line, want := range map[string]string{
		"xargs -a out rm":               "R out | > rm ../x",
		"xargs -a unknown rm":           "R unknown | > rm «any» «any» «any»",
		"parallel -a out rm":            "R out | $ rm ../x",
		"parallel rm :::: out":          "R out | $ rm ../x",
		"tar -cf x.tar -T out":          "R out | R ../x | W x.tar",
		"rsync --files-from=out a b":    "R out | R ../x | R a | W b",
		"find -files0-from out -delete": "R out | R ../x | W ../x",
	} {
		u := Of(commands.Call{Args: wrapWords(line), Text: text})
		u.Out = ""
		if got := showUse(u); got != want {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
	}
	texts["a.go"] = `package main;import "os";func main(){os.Create("../x")}`
	texts["b.go"] = `package main;import "fmt";func main(){fmt.Println("../x")}`
	texts["a.c"] = `int main(){ system("touch ../x"); }`
	for line, want := range map[string]string{
		"go run a.go":       "R ../x",
		"go run b.go":       "",
		"gcc a.c -o m":      "R a.c | W m | $ touch ../x",
		"go run unknown.go": "",
		"tcc -run a.c":      "R a.c | $ touch ../x",
	} {
		if got := showUse(Of(commands.Call{Args: words(line), Text: text})); got != want {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
	}
	texts["package.json"] = `{"scripts":{"x":"touch ../x","prex":"ls"}}`
	for _, line := range []string{"npm run x", "npm run-script x", "yarn x", "pnpm run x"} {
		if got := showUse(Of(commands.Call{Args: words(line), Text: text})); !strings.Contains(got, "$ ls | $ touch ../x") {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// Code that sets up a shell is as good as nothing.
func TestActivations(t *testing.T) {
	nothing := []string{
		"ssh-agent -s", "direnv hook bash", "pyenv init -", "rbenv init - bash", "fnm env --use-on-cd", "mise activate bash", "asdf env",
		"brew shellenv", "/opt/homebrew/bin/brew shellenv", "/home/linuxbrew/.linuxbrew/bin/brew shellenv", "conda shell.bash hook", "starship init bash",
		"zoxide init bash", "opam env", "luarocks path", "dircolors -b", "npm completion", "kubectl completion bash", "poetry env activate",
		"minikube docker-env", "register-python-argcomplete pipx", "thefuck --alias", "keychain --eval id", "docker-machine env x", "lesspipe",
	}
	for _, line := range nothing {
		if got := Of(commands.Call{Args: words(line)}).Out; got != "" {
			t.Errorf("%s prints %s", line, mark.Words(got))
		}
	}
	for _, line := range []string{"./brew shellenv", "mise where node", "pyenv root", "opam var prefix", "brew --prefix", "../bin/pyenv init -", "kubectl get pods"} {
		if got := Of(commands.Call{Args: words(line)}).Out; got == "" {
			t.Errorf("%s prints nothing", line)
		}
	}
	if u := Of(commands.Call{Args: words("ssh-agent touch ../x")}); len(u.Runs) != 1 {
		t.Errorf("ssh-agent runs %v", u.Runs)
	}
}
