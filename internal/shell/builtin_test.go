package shell

import (
	"strings"
	"testing"
)

// What builtins, arrays, arithmetic and expansions make of values that bash
// would have. Each row is everything that any way through the script does.
func TestMachineValues(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		// Arrays.
		{"i=0; a[i]=w; x ${a[0]}", "/t: x w"},
		{"a=(p q); i=0; x ${a[i++]} $i", "/t: x p 1"},
		{"a=(p q); i=0; x ${a[++i]}", "/t: x q"},
		{"i=0; a=(p q); a[i++]=w; x ${a[0]} $i", "/t: x w 1"},
		{"a=(p ../q); x ${a[$?]}", "/t: x ‹unknown›"},
		{"a=(p q); x ${a[RANDOM]}", "/t: x ‹word›"},
		{"a=(p q r); unset 'a[0]'; x \"${a[@]}\" ${!a[@]}", "/t: x q r 1 2"},
		{"a=([2+3]=w); x ${a[5]}", "/t: x w"},
		{"a=([1]=p q); x ${a[2]}", "/t: x q"},
		{"a=([0]=p); a+=(q); x ${a[1]}", "/t: x q"},
		{"a=(p q); a=r; x ${a[@]}", "/t: x r q"},
		{"a[5000]=w; x ${a[5000]}", "/t: x w"},
		{"read 'a[1]' <<<w; x ${a[1]}", "/t: x w"},
		{"printf -v 'a[1]' %s w; x ${a[1]}", "/t: x w"},
		{"declare 'a[1]=w'; x ${a[1]}", "/t: x w"},
		{"declare -a 'a=(p q)'; x ${a[1]}", "/t: x q"},
		{"declare x={p,q}; x $x", "/t: x q"},
		{"declare -A m; m[k]=p; m[a-b]=q; x ${m[k]} ${m[a-b]}", "/t: x p q"},
		{"a=($(list)); x ${a[1]}", "/t: list|/t: x ‹files of the tree›"},
		{"set -- $(list); x $2", "/t: list|/t: x ‹files of the tree›"},
		// Unsetting.
		{"f() { x; }; f=1; unset f; f", "/t: x"},
		{"v=w; unset -f v; x $v", "/t: x w"},
		{"unset IFS; read a b <<<'p q'; x $b", "/t: x q"},
		{"readonly v=1; unset v || x", "/t: x"},
		{"v=w; g() { unset v; x $v; }; f() { local v=p; g; }; f", "/t: x w"},
		// Arithmetic.
		{"((n += $(cat f))); ((n>0)) && x; y $n", "/t: cat f|/t: x|/t: y ‹word›"},
		{"((EUID)) && x", "/t: x"},
		{"let \"n+=1\"; x $n", "/t: x 1"},
		{"declare -i n=1+1; x $n", "/t: x 2"},
		{"v='1+1'; ((v==2)) && x", "/t: x"},
		{"c=(0); ((c[0]++)); x ${c[0]}", "/t: x 1"},
		{"[[ 010 -eq 8 ]] && x; [[ v=2 -eq 2 ]] && y $v", "/t: x|/t: y 2"},
		{"x $((2#101 + 0x10)) $((1 ? 2 : 3)) $((7/0))", "/t: x 21 ‹word› ‹word›"},
		{"s='a[$(x)]'; echo ${s:s}", "/t: x"},
		{"s='a[$(x)]'; echo ${!s}", "/t: x"},
		{"s='a[$(x)]'; [[ s -eq 1 ]]", "/t: x"},
		{"s='a[$(x)]' v=s; ((v))", "/t: x"},
		{"declare -i n; n='a[$(x)]'", "/t: x"},
		{"[ -v p -o -v 'a[$(x)]' ]", "/t: x|/t: [ -v p -o -v a[$(x)] ]"},
		// Expansions.
		{"f=(p q); x \"${f[@]/#/../}\"", "/t: x ../p ../q"},
		{"v=src/y; x ${v/#src/..} ${v/%y/z} ${v/#y/z}", "/t: x ../y src/z src/y"},
		{"v='#p'; x \"${v/'#'/}\" ${v/\\#/}", "/t: x p p"},
		{`v=a.b; x ${v//./\/} "${v//./\/}"`, "/t: x a/b a/b"},
		{"a=(p q); y() { x $#; }; y \"${a[@]}/z\" \"w$@\"", "/t: x 3"},
		{"set -- p q; x \"a$@b\"", "/t: x ap qb"},
		{"a=(); x \"${a[@]-p}\" \"${a[@]}\"", "/t: x p"},
		{"v='q*w'; p='*'; x \"${v#q\"$p\"}\"", "/t: x w"},
		{"v=abc; x ${v:1} ${v:0:1} ${v: -1} ${v:0:-1} ${#v}", "/t: x bc a c ab 3"},
		{"v=a/b/$$; x ${v%%/*}/w ${v%/*} ${v##*/}", "/t: x a/w a/b ‹word›"},
		{"v=aa/$$; x ${v//a/.}", "/t: x ‹unknown›"},
		{"x ${V:+a/b/}c", "/t: x a/b/c|/t: x c"},
		{"IFS=:; v=p::q; set -- $v; x $3 $#", "/t: x q 3"},
		// What a status is.
		{"shopt -q login_shell || x", "/t: x"},
		{"declare -F f || x", "/t: x"},
		{"declare -p V || x", "/t: x"},
		{"alias f || x", "/t: x"},
		{"unalias f || x", "/t: x"},
		{"shift || x", "/t: x"},
		{"export v=$(false) && x", "/t: v= x"},
		{"f() { local v=$(false) && x; }; f", "/t: x"},
		{"read -rd '' z <<<p || x $z", "/t: x p"},
		// Parameters.
		{"set -- p; shift 2; x $1", "/t: x p"},
		{"set -- p q; shift 0; x $1", "/t: x p"},
		{"set -- p ../q; shift $(cat f); x $1", "/t: cat f|/t: x ‹unknown›"},
		{"set -- -a -b p; while getopts ab o; do :; done; shift $((OPTIND-1)); x \"$1\"", "/t: x p"},
		{"set -- -o f -vq w; while getopts o:vq o; do x $o $OPTARG; done", "/t: x o f|/t: x v f|/t: x q f"},
		{"while getopts o: o; do x $OPTARG; done; y", "/t: y"},
		// Input.
		{"IFS=: read a b c <<<p::q; x $c", "/t: x q"},
		{"IFS=/ read a b <<<p/q/r; x $b", "/t: x q/r"},
		{`read z <<<'p\/q'; x $z`, "/t: x p/q"},
		{"read -n 2 z <<<pqr; x $z", "/t: x pq"},
		{"mapfile -s 1 -t a <<<$'p\\nq'; x ${a[0]}", "/t: x q"},
		{"mapfile -O 3 -t a <<<p; x ${a[3]}", "/t: x p"},
		{"f() { x $2; }; mapfile -t -c 1 -C f <<<p", "/t: x p"},
		// Traps.
		{"trap 'rm \"$v\"' EXIT; v=p", "/t: rm p"},
		{"trap 'x $v' exit; trap - SIGEXIT; v=p", ""},
		{"v=p; trap 'v=q' ERR; x $v", "/t: x ‹unknown›"},
		{"v=p; trap 'x $v' usr1; v=q", "/t: x q"},
		{"f() { local v=p; trap 'x $v' RETURN; }; f", "/t: x p|/t: x"},
		// Scope and attributes.
		{"f() { local v=w; local v; x $v; }; f", "/t: x w"},
		{"v=p; f() { local v=q; declare -g v=w; }; f; x $v", "/t: x w"},
		{"v=p; v=w export v; x", "/t: v=w x"},
		{"v=p; export \"v+=q\"; x", "/t: v=pq x"},
		{"v=p; declare -n r; r=v; r=w; x $v", "/t: x w"},
		{"a=(p q); declare -n r='a[1]'; r=w; x ${a[1]} $r", "/t: x w ‹unknown›"},
		{"readonly v=w; v=p; read v <<<q; x $v", "/t: x w"},
		{"declare -l v=ABC; x $v; declare -u v; v=abc; x $v", "/t: x abc|/t: x ABC"},
		// Builtins.
		{"compgen -W '$(x)'", "/t: x"},
		{"compgen -C x", "/t: x"},
		{"HISTFILE=w; history -w", "> w"},
		{"bind -f w", "< w"},
		{"builtin -- eval x", "/t: x"},
		{"enable -n exit; exit; x", "/t: exit|/t: x"},
		{": p; declare -p w; x $_", "/t: x w"},
		{"PATH=/w; . s", "< /w/s|< s"},
		{"command_not_found_handle() { x $1; }; nope", "/t: nope|/t: x nope"},
		{"v=p; PS4='$(x $v)'; v=q", "/t: x p|/t: x q"},
		{"P=x:~; x ${P#x:}", "/t: x /h"},
		{"BASH_CMDS[p]=/w/x; p", "/t: /w/x|/t: p"},
		{"unset HOME; x ~/p", "/t: x ‹another tree›/p"},
		{"[[ é == ? ]] || x; p='@(a)'; case '@(a)' in $p) y;; esac", "/t: y|/t: x"},
		{"shopt -s nocasematch", "doubt the option nocasematch, which changes the meaning of later text"},
		{"set -k", "doubt set -k, which treats words as assignments"},
		{"x ${BASH_SOURCE[0]}", "/t: x bash"},
	} {
		if got := strings.Join(acts(t, c.script), "|"); got != c.want {
			t.Errorf("%q\n got  %s\n want %s", c.script, got, c.want)
		}
	}
}
