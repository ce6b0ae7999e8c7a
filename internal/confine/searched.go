package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/agent/clients"
	"cordon/internal/git"
	"cordon/internal/paths"
)

// alwaysRun are programs that people type in every directory, or that their tools run there.
var alwaysRun = strings.Fields(`git sh bash dash zsh fish env cat ls true less more pager ssh ssh-keygen gpg gpg2
	vi vim nvim nano emacs editor sudo su doas cordon cordon-fleet cordon-probe`)

// oftenRun are the names of programs that git, a prompt or cordon runs outside of any cell,
// whatever the settings say. A file of such a name in a directory of PATH would run in the
// place of the operator's own.
func oftenRun() []string {
	list := slices.Clone(alwaysRun)
	for _, a := range clients.All() {
		list = append(list, a.Program)
	}
	if shell := os.Getenv("SHELL"); shell != "" {
		list = append(list, filepath.Base(shell))
	}
	return list
}

// searchedIn lists the directories of a variable such as PATH that lie in trees.
func searchedIn(variable string, places []git.Place, tops []string) []string {
	tops = slices.Clone(tops)
	for _, p := range places {
		tops = append(tops, p.Top)
	}
	var list []string
	for _, dir := range filepath.SplitList(os.Getenv(variable)) {
		for _, top := range tops {
			at := joinPath(top, dir)
			if (paths.Within(at, top) || paths.Within(resolveLinks(at), resolveLinks(top))) && !slices.Contains(list, at) {
				list = append(list, at)
			}
		}
	}
	return list
}

// shadow adds what would run in the place of programs.
func (v *viewed) shadow(from git.Setting, programs ...string) {
	for _, dir := range v.search {
		for _, name := range programs {
			at := filepath.Join(dir, name)
			if fi, err := os.Stat(at); err != nil || !fi.IsDir() {
				v.add(from, at)
			}
		}
	}
}

// commandsOnPath lists the commands of a setting that PATH finds. The interpreter of a virtual
// environment is made together with the directory that PATH finds it in.
func commandsOnPath(s git.Setting, words []git.Word) []string {
	var list []string
	for _, w := range words {
		name := w.Text
		bare := !strings.ContainsAny(name, "/\x00"+unwritable) && name != "" && name != "." && name != ".."
		if bare && (w.Command || plainAlias(s)) && !strings.HasPrefix(name, "python") && !strings.HasPrefix(name, "pip") {
			list = append(list, name, "git-"+name, "git-credential-"+name)
		}
	}
	return list
}
