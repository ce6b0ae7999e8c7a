package inline

import (
	_ "embed"
	"strings"
	"sync"
)

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
