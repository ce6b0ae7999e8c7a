package known

import (
	"strings"
	"testing"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

func TestPrints(t *testing.T) {
	const inside, scratch, system, atom = mark.Inside, mark.Scratch, mark.System, mark.Atom
	tests := []struct {
		command string
		stdin   string // "" is none
		want    string
	}{
		{"echo a  b", "", "a b\n"},
		{"echo -n a", "", "a"},
		{`echo -e a\tb\x41\0101`, "", "a\tbAA\n"},
		{`echo -ne a\cb`, "", "a"},
		{`echo -E a\tb`, "", `a\tb` + "\n"},
		{"echo -x -n", "", "-x -n\n"},
		{"echo -- a", "", "-- a\n"},
		{"echo ../" + inside, "", "../" + inside + "\n"},
		{`printf %s\n a b`, "", "a\nb\n"},
		{`printf %s/%s /w repo`, "", "/w/repo"},
		{`printf '%d-%03d' 7 5`, "", "7-005"},
		{`printf '\057w\x2frepo'`, "", "/w/repo"},
		{`printf %b \057w`, "", `/w`},
		{`printf %5s|%-3s| ab c`, "", mark.Any},
		{`printf %x 255`, "", "ff"},
		{`printf plain`, "", "plain"},
		{`printf %z a`, "", mark.Any},
		{"printf %s " + mark.Any, "", mark.Any},
		{"printf %d " + mark.Any, "", atom},
		{"pwd", "", mark.Any},
		{"dirname /w/repo/x", "", "/w/repo\n"},
		{"dirname x", "", ".\n"},
		{"dirname /x", "", "/\n"},
		{"dirname a/b/ /w", "", "a\n/\n"},
		{"dirname src/" + atom, "", "src\n"},
		{"dirname " + inside, "", inside + "\n"},
		{"dirname " + mark.Outside, "", mark.Outside + "\n"},
		{"dirname /w/" + mark.Any, "", mark.Any + "\n"},
		{"basename /w/repo/x.go .go", "", "x\n"},
		{"basename -s .go a.go b.go", "", "a\nb\n"},
		{"basename " + inside, "", atom + "\n"},
		{"basename ..", "", "..\n"},
		{"realpath ../x", "", "../x\n"},
		{"readlink -f ../x", "", "../x\n"},
		{"readlink x", "", mark.Any},
		{"realpath --relative-to=. x", "", mark.Any},
		{"seq 1 5", "", atom + "\n"},
		{"seq -s / 1 5", "", mark.Any},
		{"seq -f ../x%03g.y 1 5", "", mark.Any},
		{"seq -f %% 1", "", mark.Any},
		{"date", "", mark.Any},
		{"date +%s", "", atom + "\n"},
		{"date +%Y/%m", "", mark.Any},
		{"date +%c", "", mark.Any},
		{"uname", "", atom + "\n"},
		{"uname -a", "", mark.Any},
		{"whoami", "", atom + "\n"},
		{"hostname -I", "", mark.Any},
		{"id -u", "", atom + "\n"},
		{"id", "", mark.Any},
		{"nproc", "", atom + "\n"},
		{"stat -c %s f", "", atom + "\n"},
		{"stat -c %n f", "", mark.Any},
		{"wc -l", "a\n", atom + "\n"},
		{"md5sum f", "", atom + "  f\n"},
		{"which ls", "", "/usr/bin/ls\n"},
		{"mktemp", "", scratch + "\n"},
		{"mktemp -d", "", scratch + "\n"},
		{"mktemp -p ../d x.XXX", "", "../d/x." + atom + "\n"},
		{"mktemp ./x.XXX", "", "./x." + atom + "\n"},
		{"cat", "a\nb\n", "a\nb\n"},
		{"cat -", "a\n", "a\n"},
		{"cat", inside + "\n", inside + "\n"},
		{"cat", "x" + mark.Any + "\n", "x" + mark.Any + "\n"},
		{"cat -n", "a\n", mark.Any},
		{"cat f", "a\n", mark.Any},
		{"cat", "", mark.Any},
		{"tee f", "a\n", "a\n"},
		{"sponge f", "a\n", ""},
		{"head -1", "a\nb\n", mark.Any},
		{"head -c 3", "abcdef", mark.Any},
		{"head -n 1", inside + "\n", inside + "\n"},
		{"head -n 1", mark.Outside + "\n", mark.Outside + "\n"},
		{"head -n 1", mark.Any, mark.Any},
		{"tail -1", "a\nb\n", mark.Any},
		{"sort", "b\na\n", "b\na\n"},
		{"sort -n", inside + "\n", inside + "\n"},
		{"uniq", "a\na\nb\n", "a\na\nb\n"},
		{"uniq -c", "a\n", mark.Any},
		{"tac", "a\nb\n", "a\nb\n"},
		{"rev", "oper/w/\n", mark.Any},
		{"rev", inside + "\n", mark.Any + "\x0e" + inside + "\n"},
		{"tr a-z A-Z", "/w/repo\n", mark.Any},
		{"tr _ /", "_w_repo\n", mark.Any},
		{`tr \n ' '`, "a\nb\n", atom},
		{"tr -s x", "xx\n", atom},
		{`tr \n ' '`, inside + "\n", inside + "\n"},
		{"tr a /", inside + "\n", mark.Any},
		{"tr _ .", inside + "\n", mark.Any},
		{"cut -d: -f2", "a:/w/repo:c\n", mark.Any},
		{"cut -d: -f1", inside + "\n", inside + "\n"},
		{"cut -c2-", inside + "\n", mark.Any + "\n"},
		{"cut -c3-", inside + "\n", inside + "\n"},
		{"cut -d' ' -f1", mark.Outside + "\n", mark.Outside + "\n"},
		{"grep w", "/w/repo\n/x\n", mark.Any},
		{"grep -v w", "/w/repo\n/x\n", mark.Any},
		{"grep x.*", "x\n", mark.Any},
		{"grep go", inside + "\n", inside + "\n"},
		{"grep -c go", inside + "\n", atom + "\n"},
		{"grep -o go", inside + "\n", mark.Any},
		{"grep go f", inside + "\n", mark.Any},
		{"base64 -d", "L3cvcmVwbw==\n", "/w/repo"},
		{"base64 --decode", "L3cvcmVwbw==", "/w/repo"},
		{"base64 -D", "!", mark.Any},
		{"base64", "/w/repo", mark.Any},
		{"base32 -d", "L3cvcmVwbw==", mark.Any},
		{"openssl base64 -d", "L3cvcmVwbw==\n", "/w/repo"},
		{"openssl enc -base64 -d -A", "L3cvcmVwbw==\n", "/w/repo"},
		{"openssl enc -aes128 -d", "L3cvcmVwbw==\n", mark.Any},
		{"openssl rand -hex 8", "", atom + "\n"},
		{"openssl rand -base64 8", "", mark.Any},
		{"yes ../x", "", mark.Any},
		{"tput bold", "", mark.Any},
		{"printenv HOME", "", mark.Any},
		{"printenv X", "", mark.Any},
		{"getent passwd agent", "", mark.Any},
		{"grep -c x f", "", atom + "\n"},
		{"grep -rc x src", "", inside + ":" + atom + "\n"},
		{"grep -q x f", "", ""},
		{"xxd -r -p", "2f772f\n", "/w/"},
		{"xxd -p", "a", atom + "\n"},
		{"nl -ba", inside + "\n", mark.Any},
		{"ls", "", inside + "\n"},
		{"ls src", "", inside + "\n"},
		{"ls -d */", "", inside + "\n"},
		{"ls -la", "", strings.Repeat(atom+" ", 8) + inside + "\n" + strings.Repeat(atom+" ", 8) + inside + " -> " + mark.Any + "\n"},
		{"ls ../x", "", atom + "\n"},
		{"ls -d ../x", "", mark.Any + "\n"},
		{"ls -d /tmp/x", "", scratch + "\n"},
		{"ls /tmp/x", "", atom + "\n"},
		{"fd pat", "", inside + "\n"},
		{"fd pat /tmp/x", "", scratch + "\n"},
		{"fd pat ../x", "", mark.Any + "\n"},
		{"fd pat --base-directory ../x", "", mark.Any + "\n"},
		{"rg --files", "", inside + "\n"},
		{"rg -l foo src", "", inside + "\n"},
		{"rg -l foo /tmp/../w", "", mark.Any + "\n"},
		{"rg foo", "", inside + ":" + mark.Any + "\n"},
		{"rg foo", inside + "\n", inside + "\n"},
		{"grep -l foo a b", "", inside + "\n"},
		{"grep -rl foo src", "", inside + "\n"},
		{"grep -rL foo ../src", "", mark.Any + "\n"},
		{"grep -rn foo src", "", inside + ":" + atom + ":" + mark.Any + "\n" + atom + ":" + mark.Any + "\n"},
		{"mkdir x", "", ""},
		{"mkdir -v x", "", mark.Any},
		{"cp a b", "", ""},
		{"direnv export bash", "", ""},
		{"npm test", "", mark.Any},
		{"somebody", "", mark.Any},
	}
	for _, tt := range tests {
		c := commands.Call{Args: words(tt.command), Stdin: tt.stdin, Fed: tt.stdin != ""}
		if got := Of(c).Out; got != tt.want {
			t.Errorf("%s <<< %q prints %q, want %q", mark.Words(tt.command), mark.Words(tt.stdin), mark.Words(got), mark.Words(tt.want))
		}
	}
}

// An escape that makes a mark's own character does not make a mark.
func TestPrintsNoMark(t *testing.T) {
	for _, command := range []string{`echo -e \U0010FF02`, `printf \U0010FF02`, `printf %b \U0010ff02`, `echo -e \xf4\x8f\xbc\x82`} {
		if got := Of(commands.Call{Args: words(command)}).Out; got != mark.Any {
			t.Errorf("%s prints %q", command, got)
		}
	}
	c := commands.Call{Args: []string{"base64", "-d"}, Stdin: "9I+8gg==", Fed: true}
	if got := Of(c).Out; got != mark.Any {
		t.Errorf("base64 -d prints %q", got)
	}
}

// However long the input is, the output has a bound.
func TestPrintsAreBounded(t *testing.T) {
	long := strings.Repeat("x", 3*argtext.MaxPrint)
	for _, args := range [][]string{{"echo", long}, {"printf", "%s%s", long, long}, {"printf", "%9999999s", "x"}, {"printf", strings.Repeat("%4000s", 100)}} {
		if got := Of(commands.Call{Args: args}).Out; got != mark.Any {
			t.Errorf("%s: %d bytes", args[0], len(got))
		}
	}
}
