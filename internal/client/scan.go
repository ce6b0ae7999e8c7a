package client

import (
	"fmt"
	"strings"
)

// scan looks for paths and commands in an input by what its parts are called and
// what they look like.
type scan struct {
	r       *Request
	tool    string
	writing bool
	loose   []string // texts that may be paths, under names of what is only said
	unread  bool     // there is a text that may be a command, and was not taken for one
	err     error
}

// object looks through an object. A command and its arguments may be two members.
func (s *scan) object(v value, depth int) {
	if depth > maxDepth || s.err != nil {
		return
	}
	ran := s.commands(v)
	for _, m := range v.members {
		if shaped(m.key) {
			s.path(m.key, words(m.key))
		}
		list := words(m.key)
		switch {
		case ran && taken(m, list):
		case m.is == isObject:
			s.object(m.value, depth+1)
		default:
			s.value(m.value, m.key, depth+1)
		}
	}
}

// taken reports whether a member is a part of the commands of its object.
func taken(m member, list []string) bool {
	_, ok := m.texts()
	return ok && (lastWord(list, commandWords[:]) || m.is == isList && lastWord(list, argumentWords[:]))
}

// value looks at what a member holds. The items of a list have its name.
func (s *scan) value(v value, key string, depth int) {
	if depth > maxDepth || s.err != nil {
		return
	}
	switch v.is {
	case isString:
		s.text(v.text, key)
	case isObject:
		s.object(v, depth)
	case isList:
		for _, item := range v.list {
			s.value(item, key, depth+1)
		}
	}
}

// named looks at a member that its tool is not known to have: its name decides
// alone, since the text of tools that are known is often about files.
func (s *scan) named(m member) {
	list := words(m.key)
	if lastWord(list, proseWords[:]) {
		return
	}
	if someWord(list, pathWords[:]) || lastWord(list, commandWords[:]) {
		s.value(m.value, m.key, 0)
	}
}

// text judges one string.
func (s *scan) text(text, key string) {
	if len(s.r.Paths)+len(s.r.Commands) > maxFound {
		s.err = fmt.Errorf("it names too much at once")
		return
	}
	list := words(key)
	switch {
	case text == "":
	case s.globs(text, list):
		s.path(globRoot(".", text), list)
	case lastWord(list, proseWords[:]) && fileURL(text) == "":
		s.prose(text, list)
	case lastWord(list, commandWords[:]):
		s.r.Commands = append(s.r.Commands, s.interpreted(text, "", list))
	case lastWord(list, []string{"patch", "diff"}) && strings.Contains(text, "\n"):
		for _, name := range append(patchNames(text), diffNames(text)...) {
			s.r.Paths = append(s.r.Paths, Path{name, true})
		}
	case remote(text):
		s.unread = s.unread || strings.ContainsAny(text, " \t\n;|&`$")
	case someWord(list, pathWords[:]) || shaped(text):
		s.path(text, list)
	default:
		s.unread = s.unread || !plain(text) && !lastWord(list, statedWords[:])
	}
}

func (s *scan) path(text string, list []string) {
	if p := fileURL(text); p != "" {
		text = p
	}
	s.r.Paths = append(s.r.Paths, Path{text, s.writing || someWord(list, writtenWords[:])})
}

// commands takes the command of an object, with the arguments and the directory
// that stand beside it.
func (s *scan) commands(v value) (ran bool) {
	var args []string
	var at, language string
	for _, m := range v.members {
		list := words(m.key)
		texts, ok := m.texts()
		switch {
		case !ok:
		case lastWord(list, argumentWords[:]) && m.is == isList:
			args = texts
		case m.is == isString && (lastWord(list, placeWords[:]) || strings.EqualFold(strings.Join(list, ""), "workingdirectory")):
			at = m.text
		case m.is == isString && lastWord(list, []string{"language", "lang", "runtime", "interpreter"}):
			language = m.text
		}
	}
	for _, m := range v.members {
		texts, ok := m.texts()
		if !ok || len(texts) == 0 || !lastWord(words(m.key), commandWords[:]) {
			continue
		}
		ran = true
		s.r.Commands = append(s.r.Commands, s.run(m, texts, args, language))
	}
	if ran && at != "" && s.r.Dir == "" {
		s.r.Dir = at
	}
	return ran
}

// run is the shell text of a command: a list is an argv unless its name says that
// it is several commands.
func (s *scan) run(m member, texts, args []string, language string) string {
	text := m.text
	switch {
	case m.is == isList && strings.HasSuffix(m.key, "s"):
		text = strings.Join(texts, "\n")
	case m.is == isList:
		text = quoteAll(texts)
	default:
		text = s.interpreted(text, language, words(m.key))
	}
	if len(args) > 0 {
		text += " " + quoteAll(args)
	}
	return text
}

// interpreters run the code of a language from their command line.
var interpreters = [...][2]string{
	{"python", "python3 -c "}, {"python3", "python3 -c "}, {"py", "python3 -c "}, {"ipython", "python3 -c "}, {"jupyter", "python3 -c "},
	{"javascript", "node -e "}, {"js", "node -e "}, {"node", "node -e "}, {"nodejs", "node -e "}, {"typescript", "node -e "},
	{"browser", "node -e "}, {"page", "node -e "}, {"ruby", "ruby -e "}, {"perl", "perl -e "}, {"php", "php -r "},
}

// interpreted makes shell text of code whose language is said beside it, or in the
// name of the tool. What is called a command is one for a shell, whatever else the
// tool is called.
func (s *scan) interpreted(code, language string, key []string) string {
	if !lastWord(key, []string{"code", "script"}) {
		return code
	}
	named := words(language)
	if len(named) == 0 {
		named = words(s.tool)
	}
	for _, row := range interpreters {
		if someWord(named, []string{row[0]}) {
			return row[1] + Quote(code)
		}
	}
	return code
}
