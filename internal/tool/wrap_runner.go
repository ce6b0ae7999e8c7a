package tool

import (
	"strings"

	"cordon/internal/mark"
)

// A runner is a program with subcommands, of which one runs a command.
type runner struct {
	name   string // the program and the subcommand, or the program alone
	global string // options before the subcommand
	opts   string // options after it
	before string // operands before the command
	how    how
	to     rename
}

// rename says how a runner finds the program for the first word of a command.
type rename int

const (
	asIs      rename = iota
	asPackage        // the name of a package: @scope/name@version
	asPython         // a file of Python, or a command
	asTask           // environment:command
)

const (
	npmOptions  = "-p,--package=t -c,--call=c -y,--yes -n,--no --no-install --ignore-existing -q,--quiet -s,--silent -w,--workspace=t --workspaces,-ws --include-workspace-root --prefix,-C=d --cache=w --userconfig=r --registry=t --node-options=t --shell=x --script-shell=x -v,--version=n --yes --prefer-offline --prefer-online --offline"
	pnpmOptions = "-C,--dir=d -r,--recursive -w,--workspace-root -F,--filter=t --filter-prod=t --parallel --package=t -c,--shell-mode --silent -s --reporter=t --no-bail --if-present --stream --aggregate-output --resume-from=t --report-summary --workspace-concurrency=t --sort --config=t --allow-build=t"
	uvOptions   = "--extra=t --all-extras --no-extra=t --no-dev --only-dev --group=t --no-group=t --only-group=t --all-groups --no-default-groups -m,--module --no-editable --env-file=r --no-env-file -w,--with=t --with-editable=r --with-requirements=r --isolated --active --no-sync --locked --frozen -s,--script --gui-script --all-packages --package=t --no-project -p,--python=t --show-resolution --from=t --constraints,-c=r --overrides=r --build-constraints,-b=r --index=t --default-index=t -i,--index-url=t --extra-index-url=t -f,--find-links=t --no-index --index-strategy=t --keyring-provider=t -U,--upgrade -P,--upgrade-package=t --resolution=t --prerelease=t --fork-strategy=t --exclude-newer=t --no-sources --reinstall --reinstall-package=t --link-mode=t --compile-bytecode --config-setting,-C=t --no-build-isolation --no-build-isolation-package=t --no-build --no-build-package=t --no-binary --no-binary-package=t -n,--no-cache --cache-dir=w --refresh --refresh-package=t --managed-python --no-managed-python --no-python-downloads -q,--quiet -v,--verbose --color=t --native-tls --offline --allow-insecure-host=t --no-progress --directory=d --project=d --config-file=r --no-config --exact --torch-backend=t --python-platform=t"
	condaRun    = "-n,--name=t -p,--prefix=r --cwd=d -v,--verbose --dev --debug-wrapper-scripts --no-capture-output,--live-stream -s -e,--env=e --clean-env --detach -a,--attach=t --root-prefix,-r=r --label=t --no-env --rc-file=r"
	poetryTop   = "-C,--directory=d -P,--project=d -q,--quiet -v,-vv,-vvv -n,--no-interaction --no-plugins --no-cache --no-ansi --ansi"
)

// runners are sorted by name.
var runners = []runner{
	{name: "asdf exec"},
	{name: "aws-vault exec", opts: "-d,--duration=t -n,--no-session -r,--region=t --mfa-token=t -j,--json -s,--server --ecs-server --ec2-server --lazy --stdout --prompt=t", before: "t"},
	{name: "bun x", opts: "--bun -p,--package=t --silent --verbose", to: asPackage},
	{name: "bundle exec", global: "--gemfile=r --path=w --retry=t --no-color --verbose", opts: "--keep-file-descriptors --gemfile=r"},
	{name: "bunx", opts: "--bun -p,--package=t --silent --verbose", to: asPackage},
	{name: "chamber exec", opts: "-b=t --pristine --strict --strict-value=t", before: "t"},
	{name: "conda run", opts: condaRun},
	{name: "corepack", before: ""},
	{name: "direnv exec", before: "r"},
	{name: "distrobox enter", opts: "-n,--name=t -T -nw,--no-workdir -r,--root -a,--additional-flags=t -e,--exec", before: ""},
	{name: "doppler run", opts: "-p,--project=t -c,--config=t -t,--token=t --command=c --mount=w --mount-format=t --fallback=w --preserve-env=? --watch --forward-signals --name-transformer=t --only-secrets=t"},
	{name: "dotenv get", global: "-f,--file=r", before: "n"},
	{name: "dotenv list", global: "-f,--file=r", before: "n"},
	{name: "dotenv run", global: "-f,--file=r -q,--quote=t -e,--export=t", opts: "--override --no-override"},
	{name: "dotenv set", global: "-f,--file=w", before: "n"},
	{name: "dotenvx run", opts: "-f,--env-file=r -e,--env=t -fk,--env-keys-file=r -fv=r -o,--overload --overload --strict --convention=t --ignore=t --quiet --verbose -q -v -d --debug --log-level=t"},
	{name: "fnm exec", opts: "--using=t --fnm-dir=r --log-level=t --arch=t"},
	{name: "foreman run", global: "-d,--root=d", opts: "-e,--env=r -f,--procfile=r -d,--root=d"},
	{name: "foreman start", global: "-d,--root=d", opts: "-e,--env=r -f,--procfile=r -d,--root=d -c=t -m,--formation=t -p,--port=t -t,--timeout=t", before: "n"},
	{name: "goenv exec"},
	{name: "hatch run", global: "-e,--env=t -p,--project=t --data-dir=w --cache-dir=w --config=r -v -q --no-color --color", opts: "-i,--include=t -x,--exclude=t -f,--filter=t --force-continue --ignore-compat", to: asTask},
	{name: "heroku local:run", opts: "-e,--env=r -p,--port=t"},
	{name: "honcho run", global: "-e,--env=r -d,--app-root=d -f,--procfile=r", opts: "-e,--env=r -d,--app-root=d -f,--procfile=r"},
	{name: "honcho start", global: "-e,--env=r -d,--app-root=d -f,--procfile=r", opts: "-e,--env=r -d,--app-root=d -f,--procfile=r -c=t -p=t -q=t", before: "n"},
	{name: "infisical run", opts: "--env=t --path=t --command=c --token=t --projectId=t --watch --recursive --expand --include-imports --tags=t"},
	{name: "jenv exec"},
	{name: "kubie exec", before: "tt"},
	{name: "lerna exec", opts: "--scope=t --ignore=t --since=t --concurrency=t --stream --parallel --no-bail --no-prefix --no-private --include-dependencies", how: lone},
	{name: "mamba run", opts: condaRun},
	{name: "micromamba run", opts: condaRun},
	{name: "nodenv exec"},
	{name: "nvm exec", opts: "--silent --lts=?", before: "t"},
	{name: "nx exec", how: lone},
	{name: "op run", opts: "--env-file=r --no-masking --environment=t --account=t"},
	{name: "pdm run", global: "-c,--config=r -p,--project=d -q -v", opts: "-p,--project=d -s,--site-packages --json -l,--list=n", to: asPython},
	{name: "pipenv run", to: asPython},
	{name: "pipx run", opts: "--spec=t --no-cache --path --pypackages --python=t --with=t -i,--index-url=t --pip-args=t --system-site-packages -e,--editable -v -q --verbose", to: asPackage},
	{name: "pixi exec", opts: "-s,--spec=t -w,--with=t -c,--channel=t -p,--platform=t"},
	{name: "pixi run", opts: "--manifest-path,-m=r -e,--environment=t --frozen --locked --clean-env --skip-deps -v -q"},
	{name: "pnpm dlx", global: pnpmOptions, opts: pnpmOptions, to: asPackage},
	{name: "pnpm exec", global: pnpmOptions, opts: pnpmOptions},
	{name: "pnpx", opts: pnpmOptions, to: asPackage},
	{name: "poetry run", global: poetryTop, opts: poetryTop, to: asPython},
	{name: "pueue add", opts: "-w,--working-directory=d -e,--escape -i,--immediate -s,--stashed -d,--delay=t -g,--group=t -a,--after=t -o,--priority=t -l,--label=t -p,--print-task-id", how: joined | delayed},
	{name: "pyenv exec"},
	{name: "rbenv exec"},
	{name: "rr record", opts: "-o,--output-trace-dir=w -n,--no-syscall-buffer -h,--chaos -v,--env=e -s,--syscall-buffer-size=t -c=t -t=t"},
	{name: "rustup run", opts: "--install", before: "t"},
	{name: "rye run", opts: "-l,--list=n --pyproject=r -v -q", to: asPython},
	{name: "shadowenv exec", opts: "--dir=r"},
	{name: "sops exec-env", opts: "--background=z --pristine --user=t --same-process", before: "r", how: joined},
	{name: "sops exec-file", opts: "--background=z --no-fifo --user=t --filename=t --input-type=t --output-type=t", before: "r", how: joined},
	{name: "teller run", global: "-c,--config=r", opts: "-r,--reset -s,--shell"},
	{name: "toolbox run", opts: "-c,--container=t -d,--distro=t -r,--release=t"},
	{name: "tox exec", opts: "-e=t -c,--conf=r --workdir=w --root=d -q -v --skip-pkg-install --notest"},
	{name: "uv run", global: uvOptions, opts: uvOptions, to: asPython},
	{name: "uvx", opts: uvOptions, to: asPackage},
	{name: "volta run", opts: "--node=t --npm=t --pnpm=t --yarn=t --bundled-npm --no-npm --no-yarn --env=e"},
	{name: "yarn dlx", global: "--cwd=d", opts: "-p,--package=t -q,--quiet", to: asPackage},
	{name: "yarn exec", global: "--cwd=d", opts: "--cwd=d"},
}

// wrapRunner knows the programs that run a command in an environment of theirs.
func wrapRunner(name string, c Call) (Use, bool) {
	switch name {
	case "npx", "npm":
		return npxUse(name, c)
	case "mise", "rtx":
		return miseUse(c)
	case "nix", "nix-shell":
		return nixUse(name, c)
	case "direnv", "uv":
		if use, ok := otherRunner(name, c); ok {
			return use, true
		}
	case "entr", "nodemon", "concurrently", "hyperfine", "perf", "capsh", "xdg-open", "open", "run-parts", "inotifywait", "sudoedit", "ts":
		return listRunner(name, c), true
	}
	return wrapInRunner(name, c)
}

// wrapInRunner finds the row of a program and its subcommand.
func wrapInRunner(name string, c Call) (Use, bool) {
	for i := range runners {
		row := &runners[i]
		first, sub, _ := strings.Cut(row.name, " ")
		if first != name {
			continue
		}
		w := newWrapping(c)
		rest := c.Args[1:]
		if sub != "" {
			s := scanWrap(rest, row.global)
			if len(s.rest) == 0 || s.rest[0] != sub {
				continue
			}
			w.takeAll(s)
			rest = s.rest[1:]
		}
		w.runner(row, rest)
		return w.done(), true
	}
	return Use{}, false
}

func (w *wrapping) runner(row *runner, args []string) {
	s := scanWrap(args, row.opts)
	w.takeAll(s)
	rest := w.operands(s.rest, row.before)
	if len(rest) > 0 {
		rest = renamed(row.to, rest, s.has("-m") && row.to == asPython)
	}
	mode := row.how
	w.later = w.later || mode&delayed != 0
	for _, o := range s.list {
		if o.name == "-c" && o.kind == 0 { // --shell-mode of pnpm
			mode |= joined
		}
	}
	w.command(rest, mode)
}

// renamed is the command behind the name that a runner was given.
func renamed(to rename, rest []string, module bool) []string {
	first, tail := rest[0], rest[1:]
	switch {
	case to == asPython && module:
		return append([]string{"python3", "-m", first}, tail...)
	case to == asPython && (strings.HasSuffix(first, ".py") || first == "-"):
		return append([]string{"python3", first}, tail...)
	case to == asTask:
		if _, command, ok := strings.Cut(first, ":"); ok && command != "" {
			first = command
		}
	case to == asPackage:
		first = packedCommand(first)
	}
	return append([]string{first}, tail...)
}

// packedCommand is the command of a package: name of @scope/name@1.2.
func packedCommand(name string) string {
	if looksLikePath(name) || strings.HasPrefix(name, "./") || mark.In(name) {
		return name
	}
	scoped := strings.HasPrefix(name, "@")
	name = strings.TrimPrefix(name, "@")
	name, _, _ = strings.Cut(name, "@")
	if i := strings.LastIndexByte(name, '/'); i >= 0 && (scoped || strings.Contains(name, ":")) {
		name = name[i+1:]
	}
	return name
}

// npxUse is npx, and npm exec.
func npxUse(name string, c Call) (Use, bool) {
	w := newWrapping(c)
	s := scanWrap(c.Args[1:], npmOptions)
	if name == "npm" {
		if len(s.rest) == 0 || s.rest[0] != "exec" && s.rest[0] != "x" {
			return Use{}, false
		}
		w.takeAll(s)
		// npm takes its own options up to --, wherever they are.
		s = scanWrap(s.rest[1:], npmOptions)
	}
	w.takeAll(s)
	rest := s.rest
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	if len(rest) > 0 {
		rest = renamed(asPackage, rest, false)
	}
	w.command(rest, 0)
	return w.done(), true
}

// miseUse is mise: tools, then -- and a command.
func miseUse(c Call) (Use, bool) {
	w := newWrapping(c)
	s := scanWrap(c.Args[1:], "-C,--cd=d -E,--env=t -j,--jobs=t -q,--quiet -v,--verbose -y,--yes --raw --silent")
	if len(s.rest) == 0 || s.rest[0] != "exec" && s.rest[0] != "x" {
		return Use{}, false
	}
	w.takeAll(s)
	s = scanWrap(s.rest[1:], "-c,--command=c -C,--cd=d -j,--jobs=t -E,--env=t --raw -q -v -y --no-prepare")
	w.takeAll(s)
	rest := s.rest
	if !s.ended {
		for len(rest) > 0 && strings.Contains(rest[0], "@") && rest[0] != "--" {
			rest = rest[1:]
		}
		again := scanWrap(rest, "-c,--command=c")
		w.takeAll(again)
		rest = again.rest
	}
	w.command(rest, 0)
	return w.done(), true
}

// nixUse is nix-shell, and the subcommands of nix that run a command.
func nixUse(name string, c Call) (Use, bool) {
	w := newWrapping(c)
	if name == "nix-shell" {
		s := scanWrapAll(c.Args[1:], "--run=c --command=c --pure -i=t -p,--packages -I=t -E,--expr=t -A,--attr=t --arg=2 --argstr=2 --keep=t --exclude=t --add-root=w -j,--max-jobs=t --option=2 -Q -v -K -k")
		w.takeAll(s)
		for _, word := range s.rest {
			if looksLikePath(word) {
				w.touch(Read, word, "operand")
			}
		}
		return w.done(), true
	}
	rest := c.Args[1:]
	for i, word := range rest {
		switch {
		case word == "-c" || word == "--command":
			w.command(rest[i+1:], 0)
			return w.done(), true
		case i > 0 && looksLikePath(strings.TrimPrefix(word, "path:")):
			file, _, _ := strings.Cut(strings.TrimPrefix(word, "path:"), "#")
			w.touch(Read, file, "operand")
		}
	}
	return Use{}, false
}
