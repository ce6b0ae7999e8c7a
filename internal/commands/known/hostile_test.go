package known

import (
	"strings"
	"testing"
	"time"

	"cordon/internal/commands"
)

// However a call is made up, it is dealt with at once. The bound is generous,
// for busy machines; a hundredth of it is usual.
func TestHostileCallsAreQuick(t *testing.T) {
	many := func(name, arg string) []string {
		return append([]string{name}, strings.Split(strings.Repeat(arg+" ", (64<<10)/(len(arg)+1)), " ")...)
	}
	in := strings.Repeat("a:b/c ../x\n", 6000)
	calls := [][]string{
		many("curl", "-a"), many("curl", "--a"), many("tar", "-x"), many("gcc", "-x"), many("rm", "x"), many("unheardof", "../x"),
		many("test", "!"), many("test", "("), many("[", "a"), many("go", "-x"), many("cp", "a"), many("ln", "-s"), many("ar", "-r"),
		{"curl", "-" + strings.Repeat("s", 64<<10)}, {"tar", strings.Repeat("x", 64<<10)}, {"unheardof", strings.Repeat("../x:", 12000)},
		{"printf", strings.Repeat("%s", 30000), "x"}, {"printf", strings.Repeat("%.0s", 16000), "a", "b"}, {"echo", "-e", strings.Repeat(`\x41`, 16000)},
		{"tr", strings.Repeat("a-z", 20000), "x"}, {"tr", strings.Repeat("abc", 20000), "x"}, {"cut", "-f" + strings.Repeat("1,", 30000)},
		{"cut", "-d/", "-f1-"}, {"sort"}, {"grep", "x"}, {"rev"}, {"date", "+" + strings.Repeat("%Y", 30000)}, many("printf", "%s"), many("fd", "-x"),
	}
	for _, args := range calls {
		begin := time.Now()
		Of(commands.Call{Args: args, Stdin: in, Fed: true, Env: func(string) (string, bool) { return strings.Repeat("-x ", 20000), true }})
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("%s %.10s…: %v", args[0], args[len(args)-1], took)
		} else if testing.Verbose() {
			t.Logf("%s %.10s…: %v", args[0], args[len(args)-1], took)
		}
	}
}
