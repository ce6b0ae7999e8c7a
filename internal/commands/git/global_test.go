package git

import (
	"strings"
	"testing"

	"cordon/internal/commands/table"
)

func TestGitGlobal(t *testing.T) { checkGit(t, gitGlobalTests) }

func TestGitVariables(t *testing.T) {
	checkGit(t, gitEnvTests)
	for name := range table.TableRows(gitKeys) {
		if !strings.Contains(name, ".") && !tested(gitEnvTests, name+"=") {
			t.Errorf("%s has no test", name)
		}
	}
}

func TestGitOddities(t *testing.T) {
	checkGit(t, []gitTest{
		{`git-upload-pack /w/x`, `read /w/x`},
		{`git-receive-pack /w/x`, `write /w/x`},
		{`git -C/w/repo status`, `enter /w/repo`},
		{`git switch --force main`, `switches main`},
		{`git push --force origin s1`, `write origin, pushes origin=+s1`},
		{`git rebase -ix "touch ../x" main`, `toprun touch ../x, grows=main`},
		{`git commit -qam"see /w/repo"`, `grows`},
		{`git blame --output=/w/x a`, `write /w/x, read a`},
		{`git range-diff --output=/w/x a...b`, `write /w/x`},
		{`git shortlog -sn --output=/w/x`, `write /w/x`},
		{`git stash show --output=/w/x`, `write /w/x`},
		{`git bisect visualize --output=/w/x`, `write /w/x`},
		{`git log --nonsense=/w/x`, `read /w/x`},
		{`git fetch "ext::a%% b% c %S"`, `run [a% b c git-upload-pack], fetches ext::a%% b% c %S`},
		{`git fetch ssh://u@127.0.0.1:22/~/x`, `read ~/x, fetches ssh://u@127.0.0.1:22/~/x`},
		{`git fetch "ssh://[::1]/w/x"`, `read /w/x, fetches ssh://[::1]/w/x`},
		{`git fetch hg::/w/x`, `read /w/x, fetches hg::/w/x`},
		{`git fetch ./a:b`, `read ./a:b, fetches ./a:b`},
		{`git clone host:`, `write ATOM, fetches host:`},
		{`git clone https://h/x/.git`, `write ATOM, fetches https://h/x/.git`},
		{`git annex sync /w/x`, `read /w/x, ask`},
		{`git remote-ext x "sh -c y"`, `ask`},
		{`git submodule--helper update`, `ask`},
		{`git log ../x..y`, `read ../x..y`},
		{`git diff ":(top,exclude)x" -- ":^y" ":!z" ":(glob)../a"`, `read ../a`},
		{`git -c alias.x="log '-1 a' \"b c\"" x`, `read b c`},
	})
}

// gitGlobalTests are git's own options and aliases.
var gitGlobalTests = []gitTest{
	{`git`, ``},
	{`git --version`, ``},
	{`git -C /w/repo status`, `enter /w/repo`},
	{`git -C .. -C s1 status`, `enter ../s1`},
	{`git -C a -C /b -C c log`, `enter /b/c`},
	{`git -C "" status`, ``},
	{`git --git-dir=/w/repo/.git status`, `enter /w/repo/.git`},
	{`git --git-dir /w/repo/.git --work-tree ../.. status`, `enter /w/repo/.git, enter ../..`},
	{`git -C sub --git-dir=.git commit -m x`, `enter sub, enter .git @sub, grows @sub/.git`},
	{`git --work-tree=/w/x checkout -- .`, `enter /w/x, write .`},
	{`git -p log`, ``},
	{`git -P --no-pager --bare --literal-pathspecs log`, ``},
	{`git --namespace /w/x status`, `read /w/x`},
	{`git --attr-source HEAD status`, ``},
	{`git --exec-path`, `prints SYSTEM`},
	{`git --exec-path=/w/x status`, `exec /w/x`},
	{`git --html-path`, `prints SYSTEM`},
	{`git --super-prefix=a/ status`, `read a/`},
	{`git --config-env=core.pager=X log`, `run ANY <ANY`},
	{`X=cat git --config-env core.pager=X log`, `run cat <ANY`},
	{`git -c user.name=x commit -m y`, `grows`},
	{`git -c core.bare log`, ``},
	{`git -c`, ``},
	{`git ANY`, `ask`},
	{`git co -b x`, ``},
	{`git ci -m /w/repo`, ``},
	{`git co /w/repo/x ../y`, `read /w/repo/x, read ../y`},
	{`git frob --dir=/w/repo`, `read /w/repo`},
	{`git -c alias.s="-C /w/repo status" s`, `enter /w/repo`},
	{`git -c alias.x="!touch /w/repo/x" x a b`, `toprun touch /w/repo/x "$@" +git +a +b`},
	{`git -c alias.x="log --output=/w/l" x -1`, `write /w/l`},
	{`git -c alias.a=b -c alias.b=a a`, ``},
	{`git -c alias.log="!rm -rf /w" log`, `run rm -rf /w`},
	{`git -c alias.x=ANY x`, `ask, ask`},
	{`git -c Alias.X=status x`, ``},
}

// gitEnvTests are the variables git knows.
var gitEnvTests = []gitTest{
	{`GIT_DIR=../../.git git status`, `enter ../../.git`},
	{`GIT_DIR=/w/repo/.git git --git-dir=.git status`, `enter .git`},
	{`GIT_WORK_TREE=/w/repo git checkout -- .`, `enter /w/repo, write .`},
	{`GIT_PAGER=cat git -C /w/s1 log -1`, `enter /w/s1, run cat <ANY @/w/s1`},
	{`PAGER="sh -c 'touch /w/repo/x'" git -p log`, `run sh -c 'touch /w/repo/x' <ANY`},
	{`EDITOR="sed -i s/a/b/" git commit --amend`, `run sed -i s/a/b/ "$@" +git +SCRATCH, grows`},
	{`VISUAL=vi git commit`, `run vi "$@" +git +SCRATCH, grows`},
	{`GIT_EDITOR=true git rebase --continue`, `run true "$@" +git +SCRATCH, grows`},
	{`GIT_SEQUENCE_EDITOR="sed -i 1d" git rebase -i HEAD~2`, `run sed -i 1d "$@" +git +SCRATCH, grows=HEAD~2`},
	{`GIT_COMMON_DIR=/w/repo/.git git status`, `enter /w/repo/.git`},
	{`GIT_INDEX_FILE=/w/i git add x`, `write /w/i, read x`},
	{`GIT_OBJECT_DIRECTORY=/w/o git add x`, `write /w/o, read x`},
	{`GIT_ALTERNATE_OBJECT_DIRECTORIES=/w/a:/w/b git log`, `read /w/a, read /w/b`},
	{`GIT_CONFIG=/w/c git config a.b c`, `read /w/c, write /w/c`},
	{`GIT_CONFIG_GLOBAL=/dev/null git log`, ``},
	{`GIT_CONFIG_GLOBAL=/w/c git log`, `read /w/c`},
	{`GIT_CONFIG_SYSTEM=/w/c git log`, `read /w/c`},
	{`GIT_CONFIG_GLOBAL=/w/c git config --global a.b c`, `read /w/c, write /w/c`},
	{`GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0=less GIT_CONFIG_KEY_1=core.hooksPath GIT_CONFIG_VALUE_1=/w/h git log`, `exec /w/h, run less <ANY`},
	{`GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager git log`, `run ANY <ANY`},
	{`GIT_CONFIG_COUNT=ANY GIT_CONFIG_KEY_0=core.sshCommand GIT_CONFIG_VALUE_0=ssh git fetch`, `run ssh, fetches`},
	{`GIT_CONFIG_COUNT=99999999999999999999 git log`, ``},
	{`GIT_CONFIG_PARAMETERS="'core.pager=tee /w/x' 'core.editor'='vi'" git log`, `run tee /w/x <ANY, run vi "$@" +git +SCRATCH`},
	{`GIT_TEMPLATE_DIR=/w/t git init`, `exec /w/t, write .`},
	{`GIT_EXEC_PATH=/w/e git log`, `exec /w/e`},
	{`GIT_SSH=/w/ssh git fetch`, `run [/w/ssh ATOM], fetches`},
	{`GIT_SSH_COMMAND="ssh -i k" git fetch`, `run ssh -i k, fetches`},
	{`GIT_PROXY_COMMAND=p git fetch`, `run [p ATOM], fetches`},
	{`GIT_EXTERNAL_DIFF="cp /w/x" git diff`, `run cp /w/x`},
	{`GIT_DIFFTOOL_EXTCMD="cp /w/x" git difftool`, `run cp /w/x`},
	{`GIT_ASKPASS=/w/a git fetch`, `run [/w/a ATOM], fetches`},
	{`SSH_ASKPASS=/w/a git fetch`, `run [/w/a ATOM], fetches`},
	{`GIT_TRACE=1 git status`, ``},
	{`GIT_TRACE=/w/t git status`, `write /w/t`},
	{`GIT_TRACE2=af_unix:/w/s git status`, `write /w/s`},
	{`GIT_TRACE2_EVENT=/w/t git status`, `write /w/t`},
	{`GIT_TRACE2_PERF=/w/t git status`, `write /w/t`},
	{`GIT_TRACE_CURL=/w/t git status`, `write /w/t`},
	{`GIT_TRACE_FSMONITOR=/w/t git status`, `write /w/t`},
	{`GIT_TRACE_PACKET=/w/t git status`, `write /w/t`},
	{`GIT_TRACE_PACKFILE=/w/t git status`, `write /w/t`},
	{`GIT_TRACE_PACK_ACCESS=/w/t git status`, `write /w/t`},
	{`GIT_TRACE_PERFORMANCE=/w/t git status`, `write /w/t`},
	{`GIT_TRACE_REFS=/w/t git status`, `write /w/t`},
	{`GIT_TRACE_SETUP=/w/t git status`, `write /w/t`},
	{`GIT_TRACE_SHALLOW=/w/t git status`, `write /w/t`},
	{`GIT_COOKIE_FILE=/w/c git fetch`, `read /w/c, fetches`},
	{`GIT_GRAFT_FILE=/w/g git log`, `read /w/g`},
	{`GIT_SHALLOW_FILE=/w/g git log`, `read /w/g`},
	{`GIT_QUARANTINE_PATH=/w/q git log`, `write /w/q`},
	{`GIT_PROJECT_ROOT=/w/q git http-backend`, `enter /w/q`},
	{`GIT_SSL_CAINFO=/w/a GIT_SSL_CERT=/w/b GIT_SSL_KEY=/w/c git fetch`, `read /w/a, read /w/b, read /w/c, fetches`},
	{`HOME=/w/other git status`, `read /w/other/.gitconfig`},
	{`HOME=/w/other git config --global a.b c`, `read /w/other/.gitconfig, write /w/other/.gitconfig`},
	{`XDG_CONFIG_HOME=/w/other git status`, `read /w/other/git/config`},
	{`GIT_AUTHOR_NAME=x GIT_CEILING_DIRECTORIES=/w git commit -m x`, `grows`},
	{`GIT_NAMESPACE=/w git log`, ``},
}
