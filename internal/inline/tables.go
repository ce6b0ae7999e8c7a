package inline

import (
	_ "embed"
	"sort"
	"strconv"
	"strings"
	"sync"

	"cordon/internal/commands"
)

// functions are what is known of functions. Its first lines explain it.
//
//go:embed functions.txt
var functions string

// act is what a function does with its arguments; functions.txt explains them.
type act string

// row is what is known of a function.
type row struct {
	name string
	act  act
	a, b int
}

// findRow finds what is known of a function by its name: the whole, what is behind
// each dot, the bare name, and at last as a method of anything.
func (m *machine) findRow(name string) (row, bool) {
	if len(name) > 256 {
		return row{}, false
	}
	if !strings.Contains(name, ".") {
		for _, s := range m.stars {
			if r, ok := knownFunction(m.lang, s+"."+name); ok {
				return r, true
			}
		}
		if r, ok := knownFunction(m.lang, "="+name); ok {
			return r, true
		}
	}
	for s := name; ; {
		if r, ok := knownFunction(m.lang, s); ok {
			return r, true
		}
		i := strings.IndexByte(s, '.')
		if i < 0 {
			break
		}
		s = s[i+1:]
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return knownFunction(m.lang, name[i:])
	}
	return row{}, false
}

// knownFunction finds the line of a function.
func knownFunction(lang commands.Lang, name string) (row, bool) {
	key := string(lang) + " " + name + " "
	at := sort.Search(len(functions), func(i int) bool {
		return functions[strings.LastIndexByte(functions[:i], '\n')+1:] >= key
	})
	line, _, _ := strings.Cut(functions[at:], "\n")
	rest, ok := strings.CutPrefix(line, key)
	if !ok || name == "" || strings.Contains(name, " ") {
		return row{}, false
	}
	words := append(strings.Fields(rest), "0", "0")
	a, _ := strconv.Atoi(words[1])
	b, _ := strconv.Atoi(words[2])
	return row{name, act(words[0]), a, b}, true
}

// wordList holds classes of words. Its first lines explain it.
//
//go:embed words.txt
var wordList string

// wordSets are the classes of words.txt: the words of each, between blanks.
var wordSets = sync.OnceValue(func() map[string]string {
	sets, class := map[string]string{}, ""
	for line := range strings.Lines(wordList) {
		switch line = strings.TrimRight(line, "\n"); {
		case strings.HasSuffix(line, ":"):
			class = strings.TrimSuffix(line, ":")
			sets[class] = " "
		case strings.HasPrefix(line, " "):
			sets[class] += strings.TrimSpace(line) + " "
		}
	}
	return sets
})

// inSet reports whether a class of words.txt has a word.
func inSet(class, word string) bool {
	return word != "" && !strings.ContainsAny(word, " \n") && strings.Contains(wordSets()[class], " "+word+" ")
}

// oneOf reports whether a word is one of some that blanks separate.
func oneOf(word, list string) bool { return strings.Contains(" "+list+" ", " "+word+" ") }
