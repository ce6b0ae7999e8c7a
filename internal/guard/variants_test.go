package guard

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// ownTree is the worktree of the fixture.
const ownTree = "/w/repo/.worktrees/s1"

// variant is another way to write a command.
type variant struct {
	name, command string
	fed           bool // it has another input
}

// wrappings run a command within something else. What they do is what the command
// does, so none may turn a refusal into permission.
var wrappings = []struct {
	name   string
	params bool // it has parameters of its own, or something to return from
	fed    bool // it has another input
	wrap   func(c string) string
}{
	{"bash -c", true, false, func(c string) string { return "bash -c " + single(c) }},
	{"sh -c of bash", true, false, func(c string) string { return "sh -c 'exec bash -c \"$1\"' _ " + single(c) }},
	{"eval", false, false, func(c string) string { return "eval " + single(c) }},
	{"eval of words", false, false, func(c string) string { return "oracle=" + single(c) + "; eval \"$oracle\"" }},
	{"subshell", false, false, func(c string) string { return "(\n" + c + "\n)" }},
	{"block", false, false, func(c string) string { return "{\n" + c + "\n}" }},
	{"function", true, false, func(c string) string { return "oracle() {\n" + c + "\n}\noracle" }},
	{"command", true, false, func(c string) string { return "command bash -c " + single(c) }},
	{"env", true, false, func(c string) string { return "env ORACLE_A=1 bash -c " + single(c) }},
	{"timeout", true, false, func(c string) string { return "timeout 4 bash -c " + single(c) }},
	{"nice nohup", true, false, func(c string) string { return "nice -n 1 nohup bash -c " + single(c) }},
	{"time", false, false, func(c string) string { return "time {\n" + c + "\n}" }},
	{"here-document", true, true, func(c string) string { return "bash <<'ORACLE'\n" + c + "\nORACLE" }},
	{"here-string", true, true, func(c string) string { return "bash <<< " + single(c) }},
	{"pipe into bash", true, true, func(c string) string { return "printf '%s\\n' " + single(c) + " | bash" }},
	{"indirection", true, false, func(c string) string { return "oracle=" + single(c) + "; bash -c \"$oracle\"" }},
	{"positional", true, false, func(c string) string { return "bash -c 'eval \"$1\"' _ " + single(c) }},
	{"and", false, false, func(c string) string { return "true && {\n" + c + "\n}" }},
	{"or", false, false, func(c string) string { return "false || {\n" + c + "\n}" }},
	{"after", false, false, func(c string) string { return "pwd; {\n" + c + "\n}" }},
	{"before", false, false, func(c string) string { return "{\n" + c + "\n}; true" }},
	{"pipe", false, false, func(c string) string { return "{\n" + c + "\n} | cat" }},
	{"fed", false, true, func(c string) string { return ": | {\n" + c + "\n}" }},
	{"if", false, false, func(c string) string { return "if true; then\n" + c + "\nfi" }},
	{"for", true, false, func(c string) string { return "for oracle in 1; do\n" + c + "\ndone" }},
	{"case", false, false, func(c string) string { return "case a in a)\n" + c + "\n;; esac" }},
	{"cd and back", false, false, func(c string) string { return "cd src && cd .. && {\n" + c + "\n}" }},
	{"cd here", false, false, func(c string) string { return "cd " + ownTree + "; {\n" + c + "\n}" }},
	{"substitution", false, false, func(c string) string { return "echo \"$(\n" + c + "\n)\"" }},
	{"background", false, false, func(c string) string { return "{\n" + c + "\n} & wait" }},
	{"trap", false, false, func(c string) string { return "trap " + single(c) + " EXIT" }},
	{"xargs", true, true, func(c string) string {
		return replaced("echo 1 | xargs -I{} bash -c ", c, "")
	}},
	{"find -exec", true, false, func(c string) string {
		return replaced("find README.md -exec bash -c ", c, " \\;")
	}},
	{"script file", true, false, func(c string) string {
		return "cat > build/v.sh <<'ORACLE'\n" + c + "\nORACLE\nbash build/v.sh"
	}},
}

// replaced wraps a command in one that replaces {}. A command with such places of its
// own would mean something else then: there is no such variant of it.
func replaced(before, c, after string) string {
	if strings.Contains(c, "{}") {
		return ""
	}
	return before + single(c) + after
}

// single quotes a text for a shell.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// wrapped are the variants that run a command within something else. Of a command
// that ends in the middle of something there are none, nor of one that a shell
// would take for an option.
func wrapped(c string) []variant {
	if !parses(c) || strings.Contains(c, "ORACLE") || strings.HasPrefix(c, "-") || strings.HasPrefix(c, "+") || strings.HasSuffix(c, "\\") {
		return nil
	}
	for _, before := range []string{"$_", "{_", "$?", "OLDPWD", "cd -", "~-", "REPLY", "RANDOM"} {
		if strings.Contains(c, before) {
			return nil // it depends on what ran before
		}
	}
	var list []variant
	for _, w := range wrappings {
		if v := w.wrap(c); v != "" && parses(v) && !(w.params && usesParams(c)) {
			list = append(list, variant{w.name, v, w.fed})
		}
	}
	return list
}

// usesParams reports whether a command may ask for $1, $0, $$ or $_, which another
// shell or function has others of, or for what only the shell at work has.
func usesParams(c string) bool {
	for i, r := range c {
		if r == '$' && i+1 < len(c) && strings.IndexByte("0123456789@*#?!$-_{", c[i+1]) >= 0 {
			return true
		}
	}
	for _, word := range []string{"set ", "shift", "BASH", "return", "break", "continue"} {
		if strings.Contains(c, word) {
			return true
		}
	}
	return false
}

func parses(c string) bool {
	_, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(c), "")
	return err == nil
}

// quotings are ways to write a word that mean the same to bash.
var quotings = []struct {
	name  string
	quote func(word string) string
}{
	{"single quotes", single},
	{"double quotes", func(w string) string { return `"` + w + `"` }},
	{"hexadecimal", func(w string) string { return ansi(w, `\x%02x`) }},
	{"octal", func(w string) string { return ansi(w, `\%03o`) }},
	{"unicode", func(w string) string { return ansi(w, `\u%04x`) }},
	{"backslashes", backslashed},
	{"pieces", func(w string) string { return "'" + w[:len(w)/2] + `'"` + w[len(w)/2:] + `"` }},
	{"empty pieces", func(w string) string { return `""` + w + `''` }},
	{"line continuation", func(w string) string { return w[:1] + "\\\n" + w[1:] }},
}

func backslashed(w string) string {
	var b strings.Builder
	for _, r := range w {
		b.WriteString(`\` + string(r))
	}
	return b.String()
}

func ansi(w, format string) string {
	var b strings.Builder
	for i := range len(w) {
		fmt.Fprintf(&b, format, w[i])
	}
	return "$'" + b.String() + "'"
}

// quoted are the variants of a command that quote its plain words another way.
func quoted(c string) []variant {
	words, ok := plainWords(c)
	if !ok || len(words) == 0 || strings.Contains(c, "export -f") { // a function that is exported leaves its variables behind
		return nil
	}
	var list []variant
	for _, q := range quotings {
		list = append(list, variant{name: q.name, command: rewrite(c, words, q.quote)})
	}
	list = append(list, variant{name: "blanks", command: rewrite(c, words, func(w string) string { return " \t" + w + " " })})
	for _, h := range holdings {
		list = append(list, variant{name: h.name, command: held(c, words, h.put, h.take)})
	}
	return list
}

// span is a plain word of a command: what bash changes nothing about.
type span struct {
	from, to int
	assigns  bool // it may stand where a variable may
}

// plainWords are the words of a command's simple commands and redirections that
// are nothing but letters that mean themselves, in order.
func plainWords(c string) ([]span, bool) {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(c), "")
	// An alias is not expanded when it is quoted, and its text is no word.
	if err != nil || strings.Contains(c, "alias") {
		return nil, false
	}
	var list []span
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			for i, w := range n.Args {
				list = plainWord(list, c, w, i > 0)
			}
		case *syntax.Redirect:
			if n.Hdoc == nil && n.Op != syntax.DplIn && n.Op != syntax.DplOut {
				list = plainWord(list, c, n.Word, true)
			}
		case *syntax.CmdSubst:
			return !n.Backquotes // where backslashes mean something else
		}
		return true
	})
	for i := 1; i < len(list); i++ {
		if list[i].from < list[i-1].to {
			return nil, false
		}
	}
	return list, true
}

const plainLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:+@%-"

func plainWord(list []span, c string, w *syntax.Word, assigns bool) []span {
	if w == nil {
		return list
	}
	text := w.Lit()
	from, to := int(w.Pos().Offset()), int(w.End().Offset())
	if text == "" || strings.Trim(text, plainLetters) != "" || to > len(c) || c[from:to] != text {
		return list
	}
	return append(list, span{from, to, assigns})
}

// rewrite replaces each word.
func rewrite(c string, words []span, with func(string) string) string {
	var b strings.Builder
	at := 0
	for _, w := range words {
		b.WriteString(c[at:w.from] + with(c[w.from:w.to]))
		at = w.to
	}
	return b.String() + c[at:]
}

// holdings are ways to put a word somewhere and to take it from there.
var holdings = []struct {
	name, put string // put is said before the command; %[1]s is a name, %[2]s the word, %[3]s the word with backslashes
	take      string // stands for the word; %[1]s and %[3]s are the same
}{
	{"variables", "%[1]s=%[2]s; ", `"$%[1]s"`},
	{"variables with backslashes", "%[1]s=%[3]s; ", `$%[1]s`},
	{"exported", "export %[1]s='%[2]s'\n", `${%[1]s}`},
	{"declared", "declare %[1]s=%[3]s; ", `"${%[1]s}"`},
	{"array", "%[1]s=(x %[2]s); ", `"${%[1]s[1]}"`},
	{"map", "declare -A %[1]s; %[1]s[k]=%[3]s; ", `"${%[1]s[k]}"`},
	{"reference", "%[1]s=%[2]s; declare -n %[1]sr=%[1]s; ", `"$%[1]sr"`},
	{"indirect", "%[1]s=%[2]s; %[1]sn=%[1]s; ", `"${!%[1]sn}"`},
	{"printf", "printf -v %[1]s %%s %[2]s; ", `"$%[1]s"`},
	{"read", "read -r %[1]s <<< %[3]s; ", `"$%[1]s"`},
	{"appended", "%[1]s=; %[1]s+=%[2]s; ", `"$%[1]s"`},
	{"default", "", `${%[1]s:-%[3]s}`},
	{"default that is kept", "", `"${%[1]s:=%[2]s}"`},
	{"alternative", "%[1]s=1; ", `${%[1]s:+%[2]s}`},
	{"cut", "%[1]s=xx%[2]sxx; ", `"${%[1]s:2:${#%[1]s}-4}"`},
	{"without its ends", "%[1]s='(%[2]s)'; %[1]s=${%[1]s#'('}; ", `"${%[1]s%%')'}"`},
	{"replaced", "%[1]s='#%[2]s'; ", `"${%[1]s/'#'/}"`},
	{"transformed", "%[1]s=%[2]s; ", `"${%[1]s@E}"`},
	{"printed", "", `"$(printf %%s %[2]s)"`},
	{"printed by backquotes", "", "`printf %%s %[2]s`"},
	{"output of cat", "", `"$(cat <<< %[2]s)"`},
	{"arithmetic", "%[1]s=(%[2]s); ", `"${%[1]s[1-1]}"`},
	{"output of a function", "%[1]s() { printf %%s %[2]s; }; ", `"$(%[1]s)"`},
	{"last argument", ": %[2]s; %[1]s=$_; ", `"$%[1]s"`},
}

// held puts each word somewhere first, but for the names of commands: a shell
// that gets those from a value is refused where the value is not known.
func held(c string, words []span, put, take string) string {
	var head strings.Builder
	n := 0
	body := rewrite(c, words, func(w string) string {
		n++
		if !words[n-1].assigns {
			return w
		}
		name, slashed := fmt.Sprintf("oracle%d", n), backslashed(w)
		if put != "" {
			fmt.Fprintf(&head, put, name, w, slashed)
		}
		return fmt.Sprintf(take, name, w, slashed)
	})
	return head.String() + body
}
