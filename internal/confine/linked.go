package confine

import (
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/paths"
)

// startFiles are the files of a home that shells, editors and desktops run or obey. Many people keep them in a repository and
// have links to them in the home.
var startFiles = strings.Fields(`.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zprofile .zshenv .zlogin
	.zlogout .kshrc .inputrc .vimrc .vim .gvimrc .exrc .nanorc .emacs .emacs.d .tmux.conf .screenrc .gdbinit .ssh .ssh/config .ssh/rc
	.xprofile .xinitrc .xsession .pam_environment .config/nvim .config/nvim/init.lua .config/vim .config/fish .config/fish/config.fish
	.config/emacs .config/tmux .config/zsh .config/systemd .config/systemd/user .config/autostart .config/environment.d .config/direnv`)

// addStarted takes what shells, editors and desktops start without a word: the start files of the home, and the programs of
// oftenRun on PATH that are links, or lie behind one.
func (o *obeyed) addStarted() {
	if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		for _, name := range startFiles {
			o.take(filepath.Join(home, name), "your shell, editor or login obeys it as ~/"+name, true, false)
			for prefix, variable := range map[string]string{".z": "ZDOTDIR", ".config/": "XDG_CONFIG_HOME"} {
				if dir := os.Getenv(variable); filepath.IsAbs(dir) && strings.HasPrefix(name, prefix) {
					at := filepath.Join(dir, strings.TrimPrefix(name, ".config/"))
					o.take(at, "your shell, editor or login obeys it as "+at, true, false)
				}
			}
		}
	}
	programs := oftenRun()
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) || paths.Holding(dir, o.dirs) != "" { // shadows judges programs there
			continue
		}
		_, real := wayTo(dir)
		for _, name := range programs {
			if _, err := os.Readlink(filepath.Join(real, name)); err == nil || real != dir {
				o.take(filepath.Join(dir, name), "your "+filepath.Join(dir, name)+" leads to it", false, false)
			}
		}
	}
}
