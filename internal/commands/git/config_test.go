package git

import (
	"strings"
	"testing"

	"cordon/internal/commands/table"
)

func TestGitConfiguration(t *testing.T) {
	checkGit(t, gitConfigTests)
	for row := range table.TableRows(gitKeys) {
		if strings.Contains(row, ".") && !settingTested(row) {
			t.Errorf("%s has no test", row)
		}
	}
}

// settingTested reports whether a test sets a key of a row.
func settingTested(row string) bool {
	section, sub, name := splitKey(row)
	for _, test := range gitConfigTests {
		for _, word := range strings.Fields(test.line) {
			key, _, _ := strings.Cut(word, "=")
			s, below, n := splitKey(key)
			if s == section && (n == name || name == "*") && (sub == "?" || (sub == "*") == (below != "")) {
				return true
			}
		}
	}
	return false
}

// gitConfigTests are the keys of configuration.
var gitConfigTests = []gitTest{
	{`git -c alias.x="!touch /w/x" status`, `run touch /w/x`},
	{`git -c blame.ignoreRevsFile=/w/f log`, `read /w/f`},
	{`git -c branch.s1.pushRemote=/w/o push`, `write /w/o, pushes`},
	{`git -c branch.s1.remote=/w/o pull`, `read /w/o, fetches, grows`},
	{`git -c browser.x.cmd="touch /w/x" help -w log`, `run touch /w/x`},
	{`git -c browser.x.path=/w/x help -w log`, `run [/w/x ATOM]`},
	{`git -c bundle.x.uri=/w/b fetch`, `read /w/b, fetches`},
	{`git -c commit.template=/w/t commit`, `read /w/t, grows`},
	{`git -c core.alternateRefsCommand="touch /w/x" fetch`, `run touch /w/x, fetches`},
	{`git -c core.askPass=/w/a fetch`, `run [/w/a ATOM], fetches`},
	{`git -c core.attributesFile=/w/a add x`, `read /w/a, read x`},
	{`git -c core.editor=true commit --amend`, `run true "$@" +git +SCRATCH, grows`},
	{`git -c core.excludesFile=/w/a status`, `read /w/a`},
	{`git -c core.fsmonitor="touch /w/x" status`, `run touch /w/x`},
	{`git -c core.fsmonitor=false status`, `run false`},
	{`git -c core.gitProxy="/w/p for x" fetch`, `run /w/p for x, fetches`},
	{`git -c core.hooksPath=/w/h commit -m x`, `exec /w/h, grows`},
	{`git -c core.hooksPath=/dev/null commit -m x`, `grows`},
	{`git -c core.hooksPath= commit -m x`, `grows`},
	{`git -c CORE.HooksPath=.husky commit -m x`, `exec .husky, grows`},
	{`git -c core.pager=cat show --stat HEAD`, `read HEAD, run cat <ANY`},
	{`git -c core.pager="less -R" log`, `run less -R <ANY`},
	{`git -c core.sshCommand="touch /w/x" fetch`, `run touch /w/x, fetches`},
	{`git -c core.virtualFilesystem=/w/x status`, `run /w/x`},
	{`git -c core.worktree=/w/repo status`, `enter /w/repo`},
	{`git -c credential.helper="!touch /w/x" fetch`, `run touch /w/x, fetches`},
	{`git -c credential.helper=store fetch`, `run git-credential-store, fetches`},
	{`git -c credential.helper=/w/h fetch`, `run /w/h, fetches`},
	{`git -c credential.helper= fetch`, `fetches`},
	{`git -c credential.https://h.helper="!touch /w/x" fetch`, `run touch /w/x, fetches`},
	{`git -c diff.external="touch /w/x" diff`, `run touch /w/x`},
	{`git -c diff.orderFile=/w/o diff`, `read /w/o`},
	{`git -c diff.x.command="touch /w/x" diff`, `run touch /w/x`},
	{`git -c diff.x.textconv="sh /w/x" diff`, `run sh /w/x <ANY`},
	{`git -c difftool.x.cmd="touch /w/x" difftool -t x`, `run touch /w/x`},
	{`git -c difftool.x.path=/w/x difftool -t x`, `run [/w/x ATOM]`},
	{`git -c fetch.bundleURI=/w/b fetch`, `read /w/b, fetches`},
	{`git -c filter.x.clean="touch /w/x" add y`, `read y, run touch /w/x <ANY`},
	{`git -c filter.x.process="touch /w/x" add y`, `read y, run touch /w/x <ANY`},
	{`git -c filter.x.smudge="touch /w/x" checkout -- y`, `write y, run touch /w/x <ANY`},
	{`git -c filter.lfs.required=false checkout -- y`, `write y`},
	{`git -c format.outputDirectory=/w/d format-patch -1 --stdout`, `write /w/d`},
	{`git -c format.signatureFile=/w/d format-patch -1 --stdout`, `read /w/d`},
	{`git -c fsck.skipList=/w/s fsck`, `read /w/s`},
	{`git -c gc.recentObjectsHook="touch /w/x" fsck`, `run touch /w/x`},
	{`git -c gpg.program=/w/g log`, `run [/w/g ATOM]`},
	{`git -c gpg.ssh.program=/w/g log`, `run [/w/g ATOM]`},
	{`git -c gpg.ssh.allowedSignersFile=/w/g log`, `read /w/g`},
	{`git -c gpg.ssh.defaultKeyCommand="touch /w/x" log`, `run touch /w/x`},
	{`git -c gpg.ssh.revocationFile=/w/g log`, `read /w/g`},
	{`git -c guitool.x.cmd="touch /w/x" gui`, `run touch /w/x`},
	{`git -c help.browser=/w/b help -w x`, `run [/w/b ATOM]`},
	{`git -c hook.x.command="touch /w/x" commit -m x`, `run touch /w/x, grows`},
	{`git -c http.cookieFile=/w/c fetch`, `read /w/c, fetches`},
	{`git -c http.https://h.sslKey=/w/c fetch`, `read /w/c, fetches`},
	{`git -c http.sslCert=/w/c fetch`, `read /w/c, fetches`},
	{`git -c http.sslCAInfo=/w/c fetch`, `read /w/c, fetches`},
	{`git -c http.proxy=h:1 fetch`, `fetches`},
	{`git -c imap.tunnel="touch /w/x" log`, `run touch /w/x`},
	{`git -c include.path=/w/c log`, `read /w/c`},
	{`git -c includeIf.gitdir:/.path=/w/c log`, `read /w/c`},
	{`git -c init.templateDir=/w/t init`, `exec /w/t, write .`},
	{`git -c init.defaultBranch=main init`, `write .`},
	{`git -c instaweb.browser=/w/b instaweb`, `run [/w/b ATOM]`},
	{`git -c instaweb.httpd="touch /w/x" instaweb`, `run touch /w/x`},
	{`git -c instaweb.modulePath=/w/x instaweb`, `exec /w/x`},
	{`git -c interactive.diffFilter="touch /w/x" add -p`, `run touch /w/x <ANY`},
	{`git -c lfs.extension.x.clean="touch /w/x" add y`, `read y, run touch /w/x <ANY`},
	{`git -c lfs.customtransfer.x.path=/w/p add y`, `read y, run [/w/p ATOM]`},
	{`git -c lfs.extension.x.smudge="touch /w/x" checkout -- y`, `write y, run touch /w/x <ANY`},
	{`git -c lfs.storage=/w/l add y`, `write /w/l, read y`},
	{`git -c lfs.url=file:///w/l add y`, `read /w/l, read y`},
	{`git -c mailmap.file=/w/m log`, `read /w/m`},
	{`git -c man.x.cmd="touch /w/x" help x`, `run touch /w/x`},
	{`git -c man.x.path=/w/x help x`, `run [/w/x ATOM]`},
	{`git -c man.viewer=x help x`, `run [x ATOM]`},
	{`git -c merge.x.driver="touch /w/x %A" merge main`, `run touch /w/x %A, grows=main`},
	{`git -c merge.conflictStyle=diff3 merge main`, `grows=main`},
	{`git -c mergetool.x.cmd="touch /w/x" mergetool`, `run touch /w/x`},
	{`git -c mergetool.x.path=/w/x mergetool`, `run [/w/x ATOM]`},
	{`git -c pager.log="touch /w/x" log`, `run touch /w/x <ANY`},
	{`git -c pager.branch=false branch`, `run false <ANY`},
	{`git -c receive.fsck.skipList=/w/s fsck`, `read /w/s`},
	{`git -c remote.origin.pushurl=/w/o push`, `write /w/o, pushes`},
	{`git -c remote.origin.receivepack="touch /w/x" push`, `run touch /w/x, pushes`},
	{`git -c remote.origin.uploadpack="touch /w/x" fetch`, `run touch /w/x, fetches`},
	{`git -c remote.origin.url=/w/o fetch`, `write /w/o, fetches`},
	{`git -c remote.origin.url=https://h/x fetch`, `fetches`},
	{`git -c remote.origin.push=HEAD:main push`, `pushes origin=HEAD:main, pushes`},
	{`git -c remote.origin.fetch=main:main fetch`, `moves refs/heads/main=main, fetches`},
	{`git -c remote.origin.vcs=x fetch`, `fetches, ask`},
	{`git -c remote.pushDefault=/w/o push`, `write /w/o, pushes`},
	{`git -c sendemail.ccCmd="touch /w/x" log`, `run touch /w/x`},
	{`git -c sendemail.id.headerCmd="touch /w/x" log`, `run touch /w/x`},
	{`git -c sendemail.sendmailCmd="touch /w/x" log`, `run touch /w/x`},
	{`git -c sendemail.toCmd="touch /w/x" log`, `run touch /w/x`},
	{`git -c sendemail.smtpServer=/w/p log`, `run [/w/p ATOM]`},
	{`git -c sendemail.smtpServer=mail.h log`, ``},
	{`git -c sequence.editor="touch /w/x" rebase -i HEAD~2`, `run touch /w/x "$@" +git +SCRATCH, grows=HEAD~2`},
	{`git -c submodule.x.update="!touch /w/x" log`, `run touch /w/x`},
	{`git -c submodule.x.update=rebase log`, ``},
	{`git -c submodule.x.url=/w/o log`, `read /w/o`},
	{`git -c tar.x.command="touch /w/x" archive HEAD`, `run touch /w/x <ANY`},
	{`git -c trace2.eventTarget=/w/t log`, `write /w/t`},
	{`git -c trace2.normalTarget=/w/t log`, `write /w/t`},
	{`git -c trace2.perfTarget=1 log`, ``},
	{`git -c trailer.x.cmd="touch /w/x" log`, `run touch /w/x`},
	{`git -c trailer.x.command="touch /w/x" log`, `run touch /w/x`},
	{`git -c uploadpack.packObjectsHook="touch /w/x" log`, `run touch /w/x`},
	{`git -c url./w/other.insteadOf=https://h/ fetch`, `write /w/other, fetches`},
	{`git -c url./w/other.pushInsteadOf=https://h/ push`, `write /w/other, pushes`},
	{`git -c url.https://h/.insteadOf=git@h: fetch`, `fetches`},
	{`git -c web.browser=/w/b help -w x`, `run [/w/b ATOM]`},
	{`git -c ANY=x log`, `ask`},
	{`git -c core.pager=ANY log`, `run ANY <ANY`},
	{`git -c core.hooksPath=ANY log`, `exec ANY`},
	{`git -c safe.directory=* -c user.email=/w/x -c advice.detachedHead=false -c color.ui=always log`, ``},
}
