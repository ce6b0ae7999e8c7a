package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cordon/internal/egress/record"
	"cordon/internal/testnet"
)

// program is a real one that uses the network without being told of cordon. Its
// lines are run by a shell in an empty directory, outside of a cell and in one.
type program struct {
	name   string
	needs  []string
	allows []string // the policy
	lines  []string
	want   string // what it says, outside and inside
	met    string // a name whose allowed connection is recorded
}

// text is the shell's script: it ends with the first line that fails.
func (p program) text() string {
	return "set -e; d=$(mktemp -d); cd \"$d\"\n" + strings.Join(p.lines, "\n") + "\n"
}

func (p program) check(t *testing.T) {
	t.Helper()
	for _, name := range p.needs {
		need(t, name)
	}
	s := newSite(t)
	if o := s.outside("sh", "-c", p.text()); o.code != 0 {
		t.Fatalf("outside of a cell: %+v", o)
	} else {
		wants(t, "what it says outside", o.out, p.want)
	}
	v := s.dispatch(policyText(allowing(p.allows...)), "sh", "-c", p.text())
	if v.code != 0 {
		t.Fatalf("in the cell: %+v", v)
	}
	wants(t, "what it says in the cell", v.out, p.want)
	v.recorded(p.met, 0, record.Allowed, "")
}

// trust are the variables of programs that do not ask the system whom to trust.
const trust = "export NODE_EXTRA_CA_CERTS=" + testnet.CA + " npm_config_cache=$d/npm PIP_CERT=" + testnet.CA + " SSL_CERT_FILE=" + testnet.CA

// identity lets git commit.
const identity = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com"

func webPrograms() []program {
	allows := []string{"allowed.example.com", "six.example.com"}
	const hello = "hello from allowed.example.com"
	return []program{
		{"curl", []string{"curl"}, allows, []string{"curl -sS https://allowed.example.com/"}, hello, "allowed.example.com"},
		{"curl plain", []string{"curl"}, allows, []string{"curl -sS http://allowed.example.com/"}, hello, "allowed.example.com"},
		{"curl http2", []string{"curl"}, allows, []string{"curl -sS --http2 -w '%{http_version}' https://allowed.example.com/"}, hello + `/\s+2`, "allowed.example.com"},
		{"curl IPv6", []string{"curl"}, allows, []string{"curl -6 -sS https://allowed.example.com/"}, hello, "allowed.example.com"},
		{"curl upstream has only IPv6", []string{"curl"}, allows, []string{"curl -sS https://six.example.com/"}, "hello from six.example.com", "six.example.com"},
		{"curl posts", []string{"curl"}, allows, []string{"head -c 300000 /dev/zero >f; curl -sS --data-binary @f http://allowed.example.com/echo | cmp - f && echo same"}, "same", "allowed.example.com"},
		{"curl gets much", []string{"curl"}, allows, []string{"curl -sS 'https://allowed.example.com/bytes?n=20000000' | wc -c"}, "20000000", "allowed.example.com"},
		{"curl upper case and dot", []string{"curl"}, allows, []string{"curl -sSk https://ALLOWED.example.COM./ ; curl -sS http://Allowed.Example.com/"}, "(?i)" + hello + "(?s:.*)" + hello, "allowed.example.com"},
		{"curl streams", []string{"curl"}, allows, []string{"curl -sSN https://allowed.example.com/drip"}, `data: 4 \d+`, "allowed.example.com"},
		{"wget", []string{"wget"}, allows, []string{"wget -q -O- https://allowed.example.com/ http://allowed.example.com/"}, hello, "allowed.example.com"},
		{"node", []string{"node"}, allows, []string{trust, "cat >a.mjs <<'EOF'\n" + nodeText + "EOF", "node a.mjs"}, "(?s)hello from allowed.*hello from allowed.*kept hello from allowed.*hello from allowed.*1 sockets", "allowed.example.com"},
		{"python", []string{"python3"}, allows, []string{trust, "cat >a.py <<'EOF'\n" + pythonText + "EOF", "python3 a.py"}, "(?s)hello from allowed.*raw hello", "allowed.example.com"},
	}
}

const nodeText = `import https from 'https'; import http from 'http';
const get = (m, u, o) => new Promise((y, n) => m.get(u, o, r => { let t = ''; r.on('data', d => t += d); r.on('end', () => y(t)) }).on('error', n));
console.log(await get(https, 'https://allowed.example.com/', {}));
console.log(await (await fetch('https://allowed.example.com/')).text());
const agent = new http.Agent({keepAlive: true, maxSockets: 1});
let sockets = new Set();
for (let i = 0; i < 3; i++) { console.log('kept', await new Promise((y, n) => http.get('http://allowed.example.com/', {agent}, r => { sockets.add(r.socket.localPort); let t = ''; r.on('data', d => t += d); r.on('end', () => y(t)) }).on('error', n))) }
console.log(sockets.size, 'sockets'); agent.destroy();
`

const pythonText = `import urllib.request, socket
print(urllib.request.urlopen('https://allowed.example.com/').read().decode())
s = socket.create_connection(('allowed.example.com', 80)); s.sendall(b'GET / HTTP/1.0\r\nHost: allowed.example.com\r\n\r\n')
f = s.makefile(); print('raw', f.read().split('\n\n', 1)[1])
`

func registryPrograms(n *testnet.Net) []program {
	_, integrity, err := testnet.NodePackage()
	if err != nil {
		panic(err)
	}
	lock := fmt.Sprintf(`{"name":"x","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"x","version":"1.0.0","dependencies":{"tiny":"1.0.0"}},"node_modules/tiny":{"version":"1.0.0","resolved":%q,"integrity":%q}}}`, testnet.TinyTarball, integrity)
	return []program{
		{"npm", []string{"npm"}, []string{"@npm"}, []string{trust,
			`echo '{"name":"x","version":"1.0.0","dependencies":{"tiny":"1.0.0"}}' >package.json`,
			"echo '" + lock + "' >package-lock.json",
			"npm ci 2>&1", `node -e 'console.log(require("tiny"))'`,
		}, testnet.Tiny, firstOf("@npm")},
		{"npm install", []string{"npm"}, []string{"@npm"}, []string{trust, "echo '{}' >package.json", "npm install tiny 2>&1", `node -e 'console.log(require("tiny"))'`}, testnet.Tiny, firstOf("@npm")},
		{"go", []string{"go"}, []string{"@go"}, []string{
			"export GOTOOLCHAIN=local GONOSUMDB=* GOFLAGS=-mod=mod GOPROXY=https://" + firstOf("@go") + " GOMODCACHE=$d/mod GOCACHE=$d/cache",
			"go mod init x.example.com/x 2>&1; go get " + testnet.TinyModule + "@latest 2>&1",
			"cat $(go list -m -f '{{.Dir}}' " + testnet.TinyModule + ")/tiny.go; chmod -R u+w mod",
		}, testnet.Tiny, firstOf("@go")},
		{"pip", []string{"python3"}, []string{"@pypi"}, []string{trust,
			"python3 -m pip install -q --no-cache-dir --disable-pip-version-check --target t tiny 2>&1", "python3 -c 'import sys; sys.path.insert(0, \"t\"); " +
				"import tiny; print(tiny.TEXT)'",
		}, testnet.Tiny, "files.pythonhosted.org"},
		{"git", []string{"git"}, []string{"@github"}, []string{identity,
			"git clone -q https://github.com/tiny/tiny t", "cat t/README", "git -C t commit -q --allow-empty -m more",
			"git -C t push -q origin HEAD:refs/heads/pushed-$$", "git ls-remote https://github.com/tiny/tiny | grep pushed-$$ && echo pushed",
		}, "(?s)" + testnet.Tiny + ".*pushed", "github.com"},
	}
}

func TestEgressPrograms(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		n.Names.Set("six.example.com", "2606:2800:220:1::6")
		for _, p := range webPrograms() {
			if p.needs[0] != "curl" || len(p.name) > len("curl http2") {
				continue // with the slow ones
			}
			t.Run(p.name, func(t *testing.T) { t.Parallel(); p.check(t) })
		}
	})
}

func TestEgressProgramsAll(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		n.Names.Set("six.example.com", "2606:2800:220:1::6")
		for _, prepare := range []func() error{n.Registries, n.Git} {
			if err := prepare(); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range append(webPrograms(), registryPrograms(n)...) {
			t.Run(p.name, p.check)
		}
	})
}

func TestEgressSSH(t *testing.T) {
	if _, err := testnet.Server(); err != nil {
		t.Skip("sshd is not installed: git over ssh from a cell is not shown")
	}
	internet(t, func(t *testing.T, n *testnet.Net) {
		for _, prepare := range []func() error{n.Git, n.SSH} {
			if err := prepare(); err != nil {
				t.Fatal(err)
			}
		}
		me, err := user.LookupId(fmt.Sprint(os.Getuid()))
		if err != nil {
			t.Fatal(err)
		}
		lines := []string{
			"cp " + testnet.Key + " key; chmod 600 key",
			`export GIT_SSH_COMMAND="ssh -F none -i $d/key -o UserKnownHostsFile=` + testnet.KnownHosts + ` -o StrictHostKeyChecking=yes -o BatchMode=yes"`,
			fmt.Sprintf("git clone -q ssh://%s@github.com%s t 2>&1", me.Username, n.Repository()), "cat t/README",
		}
		t.Run("leased", program{"ssh", []string{"git", "ssh"}, []string{"github.com:22"}, lines, testnet.Tiny, "github.com"}.check)
		t.Run("not leased", func(t *testing.T) {
			s := newSite(t)
			p := program{lines: lines}
			v := s.dispatch(policyText(allowing("github.com:443")), "sh", "-c", p.text())
			if v.code == 0 || strings.Contains(v.out, testnet.Tiny) || v.took > 2*time.Minute {
				t.Errorf("%+v", v)
			}
			v.recorded("github.com", 22, record.Refused, "")
		})
	})
}

// A static program that knows nothing of proxies, name services or C libraries.
func TestEgressStatic(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		s := newSite(t)
		source := s.write("static/main.go", staticText)
		build := exec.Command("go", "build", "-o", filepath.Join(testnet.Etc, "static"), source)
		build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOTOOLCHAIN=local")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Run("it", program{"static", nil, []string{"allowed.example.com"}, []string{
			"http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9 " + testnet.Etc + "/static",
		}, "(?s)hello from allowed.*hello from allowed", "allowed.example.com"}.check)
	})
}

const staticText = `package main

import ("fmt"; "io"; "net/http"; "os")

func main() {
	c := &http.Client{Transport: &http.Transport{}}
	for _, u := range []string{"http://allowed.example.com/", "https://allowed.example.com/"} {
		r, err := c.Get(u)
		if err != nil { fmt.Println(err); os.Exit(1) }
		b, _ := io.ReadAll(r.Body)
		fmt.Println(r.StatusCode, string(b))
	}
}
`
