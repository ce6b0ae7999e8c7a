// Package depcache is the table of the directories in which package managers and version
// managers keep what they downloaded: sources of dependencies, toolchains, archives. A
// worker may read there, because agents look up the interfaces of dependencies all the time
// and nothing in these directories is the operator's own.
//
// It is data and pure functions. It refuses to name a directory that also holds
// credentials (only the directories beside them), to look at the disk and to judge a call:
// deny_read and read_roots of a policy hold for these directories as for every other.
package depcache

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"cordon/internal/paths"
)

// kept is a directory of a tool, and the directories below it that are readable.
type kept struct {
	usual    string // below the home
	variable string // with which the operator keeps it somewhere else; "" is none
	below    []string
}

// table is the list. Patterns match whole components; what lies below a match belongs to it.
var table = []kept{
	// Go. cache/vcs holds clones, whose configuration may name a user.
	{"go/pkg/mod", "GOMODCACHE", []string{""}},
	{"go", "GOPATH", []string{"pkg/mod", "bin"}},
	// Rust. Beside these lie credentials.toml and config.toml.
	{".cargo", "CARGO_HOME", []string{"registry", "git/checkouts", "bin"}},
	{".rustup", "RUSTUP_HOME", []string{"toolchains"}},
	// JavaScript. A global npmrc lies in etc of an installed node.
	{".nvm", "NVM_DIR", []string{"nvm.sh", "bash_completion", "alias", "versions", ".cache"}},
	{".npm", "npm_config_cache", []string{"_cacache"}},
	{".local/share/pnpm", "PNPM_HOME", []string{"store", "global"}},
	{".pnpm-store", "", []string{""}},
	{".cache/pnpm", "", []string{""}},
	{".cache/yarn", "YARN_CACHE_FOLDER", []string{""}},
	{".yarn/berry/cache", "", []string{""}},
	{".bun/install", "", []string{"cache", "global"}},
	{".cache/deno", "DENO_DIR", []string{""}},
	{".cache/node/corepack", "COREPACK_HOME", []string{""}},
	{".volta", "VOLTA_HOME", []string{"tools"}},
	{".local/share/fnm", "FNM_DIR", []string{"node-versions"}},
	{".cache/ms-playwright", "PLAYWRIGHT_BROWSERS_PATH", []string{""}},
	// Python. ~/.local/share/uv also holds credentials.
	{".local/lib", "", []string{"python*/site-packages"}},
	{".cache/pip", "PIP_CACHE_DIR", []string{""}},
	{".cache/uv", "UV_CACHE_DIR", []string{""}},
	{".local/share/uv", "", []string{"python", "tools"}},
	{".local/share/pipx", "PIPX_HOME", []string{"venvs"}},
	{".local/pipx", "", []string{"venvs"}},
	{".cache/pypoetry", "POETRY_CACHE_DIR", []string{"cache", "artifacts", "virtualenvs"}},
	{".local/share/virtualenvs", "", []string{""}},
	{".pyenv", "PYENV_ROOT", []string{"versions"}},
	{"miniconda3", "", []string{"pkgs", "envs", "lib"}},
	{"anaconda3", "", []string{"pkgs", "envs", "lib"}},
	{"miniforge3", "", []string{"pkgs", "envs", "lib"}},
	{".conda", "", []string{"pkgs", "envs"}},
	// The JVM. settings.xml and gradle.properties lie beside these.
	{".m2", "", []string{"repository", "wrapper/dists"}},
	{".gradle", "GRADLE_USER_HOME", []string{"caches", "wrapper/dists", "jdks"}},
	{".ivy2", "", []string{"cache", "local"}},
	{".sbt", "", []string{"boot"}},
	{".cache/coursier", "COURSIER_CACHE", []string{""}},
	{".konan", "KONAN_DATA_DIR", []string{"dependencies", "kotlin-native-prebuilt-*"}},
	{".sdkman", "SDKMAN_DIR", []string{"candidates"}},
	{"Android/Sdk", "ANDROID_HOME", []string{""}},
	// Others.
	{".gem", "", []string{"ruby"}},
	{".local/share/gem", "", []string{"ruby"}},
	{".bundle", "BUNDLE_USER_HOME", []string{"cache"}},
	{".rbenv", "RBENV_ROOT", []string{"versions"}},
	{".nuget", "", []string{"packages"}},
	{".dotnet", "DOTNET_ROOT", []string{"sdk", "shared", "packs"}},
	{".cache/composer", "COMPOSER_CACHE_DIR", []string{""}},
	{".composer", "COMPOSER_HOME", []string{"cache", "vendor"}},
	{".config/composer", "", []string{"vendor"}},
	{".hex", "HEX_HOME", []string{"packages"}},
	{".mix", "MIX_HOME", []string{"archives", "elixir"}},
	{".cabal", "CABAL_DIR", []string{"packages", "store"}},
	{".local/state/cabal", "", []string{"store"}},
	{".cache/cabal", "", []string{"packages"}},
	{".stack", "STACK_ROOT", []string{"pantry", "programs", "snapshots"}},
	{".ghcup", "", []string{"ghc"}},
	{".opam", "OPAMROOT", []string{""}},
	{".pub-cache", "PUB_CACHE", []string{"hosted", "git"}},
	{".julia", "JULIA_DEPOT_PATH", []string{"packages", "artifacts"}},
	{".conan2", "CONAN_HOME", []string{"p"}},
	{".conan", "", []string{"data"}},
	{".cache/vcpkg", "", []string{""}},
	{".cache/zig", "ZIG_GLOBAL_CACHE_DIR", []string{"p"}},
	{".asdf", "ASDF_DATA_DIR", []string{"installs"}},
	{".local/share/mise", "MISE_DATA_DIR", []string{"installs"}},
}

// never are paths that may hold credentials wherever they lie: an installed node has an
// etc/npmrc, a virtual environment a pip.conf, a clone a configuration with its address.
var never = []string{"/.git/", "/cache/vcs/", "/.npmrc/", "/npmrc/", "/.yarnrc.yml/", "/.netrc/", "/pip.conf/", "/.pypirc/"}

// places are where a tool's directory may lie: in the home, and where the operator's environment says.
func (k kept) places(home string, variable func(string) string) []string {
	list := []string{path.Join(home, k.usual)}
	if k.variable != "" {
		list = append(list, strings.Split(variable(k.variable), ":")...)
	}
	return slices.DeleteFunc(list, func(at string) bool { return !path.IsAbs(at) })
}

// Roots are the directories of a home, and those that the operator's environment names
// instead: absolute, without those that are known as a pattern only.
func Roots(home string, variable func(string) string) []string {
	var list []string
	for _, k := range table {
		for _, place := range k.places(home, variable) {
			for _, b := range k.below {
				if at := path.Join(place, b); !strings.ContainsAny(at, `*?[]{}\`) {
					list = append(list, at)
				}
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Places are the tools' own directories, where the home or the operator's environment has them, with what is not readable
// in them: for a cell, whose tools need all of it, and which hides the credentials. GOPATH also holds people's sources.
func Places(home string, variable func(string) string) []string {
	var list []string
	for _, k := range table {
		for _, place := range k.places(home, variable) {
			if k.variable == "GOPATH" || path.Clean(place) == home {
				list = append(list, path.Join(place, "pkg"), path.Join(place, "bin"))
			} else {
				list = append(list, place)
			}
		}
	}
	return list
}

// Moved are those of some roots that lie outside the usual directories of a home, and that
// hold none of the other places: a variable that names the home says nothing about packages.
func Moved(roots []string, home string, others []string) []string {
	return slices.DeleteFunc(slices.Clone(roots), func(root string) bool {
		holds := func(o string) bool { return o != "" && paths.Within(o, root) }
		return root == "/" || Holds(root, home, nil) || holds(home) || slices.ContainsFunc(others, holds)
	})
}

// Holds reports whether an absolute, clean path lies in one of the usual directories of a
// home, or in one of those that were moved.
func Holds(p, home string, moved []string) bool {
	if home != "" && home != "/" && p != home && paths.Within(p, home) {
		rel := p[len(home)+1:]
		for _, k := range table {
			rest, ok := strings.CutPrefix(rel, k.usual)
			if ok && (rest == "" || rest[0] == '/') && k.holds(strings.TrimPrefix(rest, "/")) {
				return true
			}
		}
	}
	return slices.ContainsFunc(moved, func(root string) bool { return coveredBy(root, p) && open(p[min(len(p), len(root)):]) })
}

// holds reports whether a path below the tool's directory is readable.
func (k kept) holds(rel string) bool {
	return open(rel) && slices.ContainsFunc(k.below, func(b string) bool { return b == "" || coveredBy(b, rel) })
}

// open reports whether a path leads to no credentials.
func open(rel string) bool {
	whole := strings.ToLower("/" + rel + "/")
	return !slices.ContainsFunc(never, func(n string) bool { return strings.Contains(whole, n) })
}

// coveredBy reports whether a pattern matches a path or something above it.
func coveredBy(pattern, p string) bool {
	if !strings.ContainsAny(pattern, "*") {
		return p == pattern || strings.HasPrefix(p, pattern+"/")
	}
	for ; p != "" && p != "/" && p != "."; p = path.Dir(p) {
		if ok, _ := doublestar.Match(pattern, p); ok {
			return true
		}
	}
	return false
}
