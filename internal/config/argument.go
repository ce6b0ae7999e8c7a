package config

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cordon/internal/strictyaml"
)

// agentVariables can hold words of an agent.
var agentVariables = []string{"CORDON_SUBJECT", "CORDON_MESSAGE"}

// shells read an argument as code, and find the variables in their environment.
var shells = []string{
	"sh", "ash", "bash", "busybox", "csh", "dash", "elvish", "fish", "ksh", "ksh93",
	"mksh", "nu", "oksh", "rbash", "tcsh", "xonsh", "yash", "zsh",
}

// codeOption is the option of a shell before code, also among others: -c, -lc.
var codeOption = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(-[a-zA-Z]*c[a-zA-Z]*|--commands?)$`) })

// loneVariable is an argument that is one variable and nothing else.
var loneVariable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\$(CORDON_[A-Z_]+|\{CORDON_[A-Z_]+\})$`) })

// ShellReads reports whether a shell may read an argument of a command as code. Nothing is
// replaced in such an argument: a value in it would be code, too. The shell itself puts in
// the variables, from its environment.
func ShellReads(argv []string, i int) bool {
	shell := slices.IndexFunc(argv[:i], isShell)
	if shell < 0 {
		return false
	}
	option := slices.IndexFunc(argv[shell+1:i], func(a string) bool { return codeOption().MatchString(a) || strings.HasPrefix(a, "--command=") })
	if option < 0 {
		return strings.HasPrefix(argv[i], "--command=")
	}
	// A variable alone is an argument of the code, unless it stands in the place of the code.
	return !loneVariable().MatchString(argv[i]) || shell+1+option == i-1
}

func isShell(program string) bool {
	return slices.Contains(shells, strings.TrimPrefix(filepath.Base(program), "-"))
}

// plainAround is what may stand around words of an agent in an argument, as in --title=$CORDON_SUBJECT.
var plainAround = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w.:/@%+,=-]*$`) })

// checkWords refuses an argument in which a program may take words of the agent for code.
func checkWords(argv []string, i int) error {
	var words []string
	rest := variable().ReplaceAllStringFunc(argv[i], func(used string) string {
		if name := strings.TrimLeft(used, "${"); slices.Contains(agentVariables, name) {
			words = append(words, name)
		}
		return ""
	})
	switch code := ShellReads(argv, i); {
	case len(words) == 0, code && !loneVariable().MatchString(argv[i]), !code && plainAround().MatchString(strings.ReplaceAll(rest, "}", "")):
		return nil
	}
	return strictyaml.Fault(words[0]+" holds words of the agent, and a program may take them for commands in "+quote(argv[i]),
		"make $"+words[0]+" an argument of its own, or read it from the environment")
}
