package enclosure

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/cell"
	"cordon/internal/depcache"
	"cordon/internal/gitfile"
	"cordon/internal/paths"
	"cordon/internal/policy"
)

// shownTools are the directories of a home, beside those of package depcache, in which toolchains lie or
// tools keep what they can make again. What is secret in them is hidden by its name.
var shownTools = []string{
	"bin", ".bin", ".cache", ".ccache", ".local/bin", ".local/lib", ".local/include", ".local/share/man", ".fonts",
	".local/share/fonts", ".config/fontconfig", ".terminfo", ".texlive", "texlive", "texmf", ".TinyTeX", ".config/go", "sdk",
	".goenv", ".gvm", ".bun", ".deno", ".fnm", ".yarn", ".nodenv", ".npm-global", ".npm-packages", ".node-gyp",
	".local/share/corepack", ".local/share/uv", ".local/share/hatch", ".local/share/pypoetry", ".rye", ".pixi", ".virtualenvs",
	"miniconda", "anaconda", "mambaforge", "micromamba", ".micromamba", ".jenv", ".jbang", ".bazel", ".local/share/coursier",
	"Android", ".android", ".scala-cli", ".rvm", ".rubies", ".phpbrew", ".nuget", ".dotnet", ".templateengine",
	".local/share/NuGet", ".elan", ".elm", ".lein", ".gitlibs", ".jdks", ".juliaup", ".kerl", ".kiex", ".luarocks", ".zvm",
	".nimble", ".choosenim", ".dub", "perl5", ".cpan", ".cpanm", ".plenv", "R", "google-cloud-sdk", ".local/share/renv",
	".swiftpm", ".swiftly", ".local/share/swiftly", "flutter", ".fvm", "fvm", "emsdk", ".wasmtime", ".wasmer", ".platformio",
	".arduino15", ".espressif", ".vcpkg", ".terraform.d", ".tfenv", ".tenv", ".krew", ".arkade", ".foundry", ".svm", ".solcx",
	".nix-profile", ".nix-defexpr", ".local/state/nix/profiles", ".guix-profile", ".linuxbrew", ".proto", ".vfox",
	".local/share/aquaproj-aqua", ".local/share/devbox",
}

// shownFiles are those of a home that choose the version of a tool or the form of what it writes.
var shownFiles = []string{
	".tool-versions", ".asdfrc", ".node-version", ".nvmrc", ".python-version", ".ruby-version", ".java-version", ".editorconfig",
	".clang-format", ".rustfmt.toml", ".prettierrc", ".rspec", ".inputrc",
}

// toolVariables name the directory of a tool or a cache, which may be a checkout of the tool's repository.
var toolVariables = []string{
	"GOROOT", "GOBIN", "GOCACHE", "GOENV_ROOT", "JAVA_HOME", "JDK_HOME", "M2_HOME", "MAVEN_HOME", "GRADLE_HOME", "KOTLIN_HOME",
	"SCALA_HOME", "JENV_ROOT", "ANDROID_SDK_ROOT", "ANDROID_NDK_HOME", "ANDROID_NDK_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX",
	"BUN_INSTALL", "HOMEBREW_PREFIX", "NODENV_ROOT", "ASDF_DIR", "GEM_HOME", "FLUTTER_ROOT", "EMSDK", "CUDA_HOME", "CUDA_PATH",
	"WASMTIME_HOME", "CCACHE_DIR", "SCCACHE_DIR", "GOLANGCI_LINT_CACHE", "STATICCHECK_CACHE", "RUFF_CACHE_DIR", "MYPY_CACHE_DIR",
	"PRE_COMMIT_HOME", "PUPPETEER_CACHE_DIR", "CYPRESS_CACHE_FOLDER", "ELECTRON_CACHE",
}

// searchVariables are lists of directories with libraries, and files with certificates.
var searchVariables = []string{
	"LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH",
	"ACLOCAL_PATH", "PYTHONPATH", "NODE_PATH", "PERL5LIB", "GEM_PATH", "R_LIBS", "R_LIBS_USER", "CLASSPATH", "OCAMLPATH",
	"CAML_LD_LIBRARY_PATH", "ERL_LIBS", "SSL_CERT_FILE", "SSL_CERT_DIR", "NIX_SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS",
	"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT", "CARGO_HTTP_CAINFO", "DENO_CERT",
}

// sideBySide are directories of a home in which unrelated things lie.
var sideBySide = []string{".local", ".local/share", ".local/state", ".config"}

// homeView is what a worker sees of the operator's home in the one of its own, which begins empty. A directory is copied
// on write.
type homeView struct {
	at    string // without links; "": there is none
	named string // as the rules have it
	whole bool   // read_roots names it
	rules policy.Rules
	taken []string // seen in another way
	parts []cell.Over
	binds []cell.Bind // files
}

// viewHome finds what is shown: tools and caches if the machine may be read, and what read_roots names.
func (e Enclosure) viewHome(read []string) (homeView, error) {
	h := homeView{named: e.Home, rules: e.Rules, taken: e.ownDirs()}
	var err error
	if h.at, err = realHome(e.Home); h.at == "" || err != nil {
		return h, err
	}
	if h.whole = (cell.Order{Home: h.at, Read: read}).ReadsHome(); h.whole {
		return h, nil
	}
	for _, at := range read {
		h.show(at)
	}
	if len(read) == 0 || slices.Contains(read, "/") {
		h.showTools()
	}
	return h, nil
}

// addTo puts what is shown of the home into an order that hides already what it hides.
func (h *homeView) addTo(o *cell.Order) {
	for _, b := range h.binds {
		if !hiddenByName(o, b.At) && !hiddenByName(o, b.From) {
			o.Bind = append(o.Bind, b)
		}
	}
	for _, c := range h.parts {
		if hiddenByName(o, c.At) || hiddenByName(o, c.Below[0]) {
			continue
		}
		o.Over = append(o.Over, c)
		if c.Below[0] != c.At {
			hideMoved(o, c)
		}
	}
}

// hiddenByName reports whether an order hides a path for itself, and not only as it hides everybody's home.
func hiddenByName(o *cell.Order, path string) bool {
	return slices.ContainsFunc(o.Hide, func(hide string) bool {
		return paths.Within(path, hide) && (!paths.Within(o.Home, hide) || !paths.Within(path, o.Home))
	})
}

// ShowTyped shows the files of the home that the operator named on the command line.
func ShowTyped(o *cell.Order, rules policy.Rules, home string, argv []string) {
	if o == nil || o.Home == "" || o.ReadsHome() {
		return
	}
	h := homeView{at: o.Home, named: home, rules: rules, taken: slices.DeleteFunc(o.Placed(), func(p string) bool { return paths.Within(o.Home, p) })}
	for _, word := range argv {
		if fi, err := os.Stat(word); filepath.IsAbs(word) && err == nil && fi.Mode().IsRegular() {
			h.show(filepath.Clean(word))
		}
	}
	h.addTo(o)
}

// showTools shows what toolchains consist of: by the table, by the environment, and by PATH.
func (h *homeView) showTools() {
	for _, rel := range slices.Concat(shownTools, shownFiles) {
		h.show(filepath.Join(h.at, rel))
	}
	places := depcache.Places(h.at, os.Getenv)
	for _, name := range toolVariables {
		places = append(places, os.Getenv(name))
	}
	for _, at := range places {
		if at = filepath.Clean(at); !h.sharedBy(at) && !isProject(at) {
			h.showFound(at)
		}
	}
	for _, name := range searchVariables {
		for _, at := range filepath.SplitList(os.Getenv(name)) {
			if at = filepath.Clean(at); paths.Below(at, h.at) && !h.personal(at) {
				h.showFound(at)
			}
		}
	}
	var list []searched // before PATH shows more
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if s, ok := h.search(filepath.Clean(dir)); ok && filepath.IsAbs(dir) {
			list = append(list, s)
		}
	}
	for _, s := range list {
		h.showPrograms(s)
	}
}

// sharedBy reports whether unrelated things lie in a directory side by side.
func (h *homeView) sharedBy(dir string) bool {
	return paths.Within(h.at, dir) || slices.ContainsFunc(sideBySide, func(rel string) bool { return dir == filepath.Join(h.at, rel) })
}

// personal reports whether a directory is likely to hold more than tools: unrelated things lie in it, there are repositories in
// it, or it is in one.
func (h *homeView) personal(dir string) bool {
	return h.sharedBy(dir) || h.inRepository(dir) || holdsRepository(dir, 3)
}

// holdsRepository looks for repositories in a directory and so many levels below it.
func holdsRepository(dir string, levels int) bool {
	entries, _ := os.ReadDir(dir) // what cannot be read shows nothing to a worker either
	return slices.ContainsFunc(entries, func(d os.DirEntry) bool {
		return d.Name() == ".git" || levels > 0 && d.IsDir() && holdsRepository(filepath.Join(dir, d.Name()), levels-1)
	})
}

func (h *homeView) inRepository(path string) bool {
	at, ok := gitfile.Around(path)
	return ok && paths.Below(at.Top, h.at)
}

// searched is a directory of PATH, and the repository that its links may not leave into the home; "": they may.
type searched struct{ dir, real, bounds string }

func (h *homeView) search(dir string) (searched, bool) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || slices.Contains([]string{"/usr/bin", "/usr/sbin"}, real) { // packages put no link into a home there
		return searched{}, false
	}
	s := searched{dir: dir, real: real}
	if !paths.Below(dir, h.at) {
		s.dir = real
	}
	// Nobody works in a tool that was cloned, such as ~/.pyenv.
	if at, ok := gitfile.Around(real); ok && !(h.seen(s.dir) && paths.Below(at.Top, h.at) && at.Top[len(h.at)+1] == '.') {
		s.bounds = at.Top
	}
	return s, !h.strays(dir, real)
}

// showPrograms shows a directory of PATH, and what its links lead to.
func (h *homeView) showPrograms(s searched) {
	dir := s.dir
	if whole := filepath.Dir(dir); filepath.Base(dir) == "bin" && h.isTool(whole) {
		h.showFound(whole)
	}
	h.showFound(dir)
	entries, _ := os.ReadDir(s.real)
	for _, entry := range entries {
		if entry.Type()&os.ModeSymlink != 0 {
			h.showCode(filepath.Join(dir, entry.Name()), s.bounds)
		}
	}
}

// showCode shows what a link to a program leads to, and each link on the way. One in a repository, where workers make links,
// leads to nothing of the home outside of its bounds.
func (h *homeView) showCode(link, bounds string) {
	program, err := os.Stat(link)
	if err != nil || !program.Mode().IsRegular() || program.Mode()&0o111 == 0 {
		return
	}
	if real, err := filepath.EvalSymlinks(link); err != nil || bounds != "" && paths.Below(real, h.at) && !paths.Within(real, bounds) {
		return
	}
	for range maxLinks {
		to, err := os.Readlink(link)
		if err != nil {
			return // it is the program
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(link), to)
		}
		link = filepath.Clean(to)
		if fi, err := os.Stat(link); err != nil || !os.SameFile(fi, program) {
			return // ".." behind a link is another place
		}
		if paths.Below(link, h.at) && !h.seen(link) {
			h.showFound(h.codeOf(link))
		}
	}
}

// maxLinks is how many links the kernel follows.
const maxLinks = 40

// codeOf is what a program consists of that a link in PATH leads to: the packages that it lies among, the tool's directory, or
// the file alone, among a person's own files and in a repository.
func (h *homeView) codeOf(program string) string {
	dir := filepath.Dir(program)
	if h.inRepository(dir) {
		return program
	}
	const packages = "/node_modules/"
	if i := strings.Index(program, packages); i > len(h.at) {
		return program[:i+len(packages)-1]
	}
	if whole := filepath.Dir(dir); filepath.Base(dir) == "bin" && h.isTool(whole) {
		return whole
	}
	if h.isTool(dir) {
		return dir
	}
	// People do not work deep in the hidden directories of a home, but settings lie there, and files of many tools.
	rel := strings.TrimPrefix(dir, h.at+"/")
	if rel[0] == '.' && strings.Count(rel, "/") > 2 && !strings.HasPrefix(rel, ".config/") {
		return dir
	}
	return program
}

// isTool reports whether a directory with programs, or with a bin, is a tool's own, by what lies in it or by its name.
func (h *homeView) isTool(dir string) bool {
	if !paths.Below(dir, h.at) || h.sharedBy(dir) {
		return false
	}
	if slices.Contains([]string{"flutter", "emsdk", "homebrew"}, filepath.Base(dir)) { // people install them by cloning
		return true
	}
	if exists(dir, virtualEnvironment) { // also one that lies in a repository
		return !isProject(dir)
	}
	rel := dir[len(h.at)+1:]
	marks := []string{"lib", "lib64", "libexec"}
	if rel[0] == '.' || strings.Contains(rel, "/") { // at the top of a home, people have a "share" of their own
		marks = append(marks, "share")
	}
	has := func(name string) bool { return directory(filepath.Join(dir, name)) }
	return !strings.HasPrefix(rel, ".config/") && slices.ContainsFunc(marks, has) && !h.personal(dir)
}

// virtualEnvironment marks a directory of Python's.
const virtualEnvironment = "pyvenv.cfg"

// isProject reports whether somebody made a virtual environment of a repository itself.
func isProject(dir string) bool { return exists(dir, virtualEnvironment) && exists(dir, ".git") }

func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// seen reports whether a path lies in something that is shown.
func (h *homeView) seen(path string) bool {
	return slices.ContainsFunc(h.parts, func(c cell.Over) bool { return paths.Within(path, c.At) }) ||
		slices.ContainsFunc(h.binds, func(b cell.Bind) bool { return paths.Within(path, b.At) })
}

// leavesOut reports whether a path lies in the home and is not shown.
func (h *homeView) leavesOut(path string) bool {
	return h.at != "" && !h.whole && paths.Below(path, h.at) && !paths.WithinAny(path, h.taken) && !h.seen(path)
}

// showFound shows what PATH or a variable names. A link among a person's own files leads to nothing but a tool: what runs there
// makes links.
func (h *homeView) showFound(at string) {
	real, err := filepath.EvalSymlinks(at)
	if err != nil || !paths.Below(at, h.at) {
		return
	}
	if real != at && paths.Below(real, h.at) {
		rel := at[len(h.at)+1:]
		own := rel[0] != '.' && strings.Contains(rel, "/")
		if h.sharedBy(real) || own && directory(real) && !h.isTool(real) {
			return
		}
	}
	h.show(at)
}

// show adds a directory or a file of the home, if it is there and the rules do not hide it.
func (h *homeView) show(at string) {
	if !paths.Below(at, h.at) || paths.WithinAny(at, h.taken) || h.seen(at) {
		return
	}
	real, err := filepath.EvalSymlinks(at)
	if err != nil || paths.Within(h.at, real) || h.strays(at, real) || h.hides(at) || h.hides(real) {
		return
	}
	fi, err := os.Stat(real)
	switch {
	case err != nil:
	case fi.Mode().IsRegular():
		h.binds = append(h.binds, cell.Bind{From: real, At: at})
	case fi.IsDir():
		below := func(c cell.Over) bool { return paths.Below(c.At, at) } // it is in this one
		h.parts = append(slices.DeleteFunc(h.parts, below), cell.Over{At: at, Below: []string{real}, Layer: cell.HomePart(at[len(h.at)+1:]), Spare: true})
	}
}

// strays reports whether a path leads out of a repository that it lies in, to something else of the home. Whoever works in a
// repository makes links in it.
func (h *homeView) strays(path, real string) bool {
	if real == path || !paths.Below(real, h.at) {
		return false
	}
	for dir := filepath.Dir(path); dir != "/" && dir != h.at; dir = filepath.Dir(dir) {
		top, err := filepath.EvalSymlinks(dir)
		if err == nil && exists(dir, ".git") && !paths.Within(real, top) {
			return true
		}
	}
	return false
}

// hides reports whether deny_read is about a path, by the name that the rules have for the home.
func (h *homeView) hides(path string) bool {
	if paths.Within(path, h.at) {
		path = filepath.Join(h.named, path[len(h.at):])
	}
	return h.rules.Hides(path)
}

// hideMoved hides in a part that lies elsewhere what is hidden where it lies.
func hideMoved(o *cell.Order, c cell.Over) {
	for _, hide := range slices.Clone(o.Hide) {
		if paths.Below(hide, c.Below[0]) {
			o.Hide = append(o.Hide, filepath.Join(c.At, hide[len(c.Below[0]):]))
		}
	}
}
