package agent

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Choice is a setting of the operator's that every worker gets, because losing it would
// change the bill or the language: a model, an effort, a style. It is a name, a number
// or a switch, never a path, an address or a command.
type Choice struct {
	File string // below the home
	Key  string // its members, joined with dots
	Fits func(any) bool
}

// Unused is a setting that no worker gets, in the words that the operator reads.
type Unused struct{ File, Key, Noun string }

// Chosen are the operator's choices, by their keys.
type Chosen map[string]any

// Choose takes the choices of the operator's from their settings files. left names what
// is there and does not go in.
func (a *Adapter) Choose(files map[string][]byte) (chosen Chosen, left []string, err error) {
	chosen = Chosen{}
	settings := map[string]map[string]any{}
	for name, text := range files {
		if settings[name], err = a.readSettings(text); err != nil {
			return nil, nil, fmt.Errorf("~/%s cannot be read: %w", name, err)
		}
	}
	for _, c := range a.Choices {
		switch v := memberOf(settings[c.File], c.Key); {
		case v == nil:
		case c.Fits(v):
			chosen[c.Key] = v
		default:
			left = append(left, c.Key)
		}
	}
	for _, u := range a.Unused {
		if !isEmpty(memberOf(settings[u.File], u.Key)) {
			left = append(left, u.Noun)
		}
	}
	if a.Adjust != nil {
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			left = append(left, a.Adjust(chosen, settings[name])...)
		}
	}
	return chosen, left, nil
}

func (a *Adapter) readSettings(text []byte) (map[string]any, error) {
	if a.ReadSettings != nil {
		return a.ReadSettings(text)
	}
	if len(strings.TrimSpace(string(text))) == 0 {
		return nil, nil
	}
	return readJSON(text)
}

// ChoiceFiles are the files that the choices stand in, below the home.
func (a *Adapter) ChoiceFiles() []string {
	var list []string
	for _, c := range a.Choices {
		list = append(list, c.File)
	}
	for _, u := range a.Unused {
		list = append(list, u.File)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func memberOf(settings map[string]any, key string) any {
	return Inside(settings, strings.Split(key, ".")...)
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// Settings are the choices as members of members, as a settings file has them.
func (c Chosen) Settings() map[string]any {
	all := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(c)) {
		all = Over(all, Nested(c[key], strings.Split(key, ".")...))
	}
	return all
}

var modelName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:@+-]*(/[A-Za-z0-9][A-Za-z0-9._:@+-]*){0,3}(\[[A-Za-z0-9]+\])?$`)
})

// ModelName fits what models are called: sonnet, gpt-5.1, vendor/model, opus[1m].
func ModelName(v any) bool {
	s, ok := v.(string)
	return ok && len(s) <= 200 && modelName().MatchString(s) && !strings.Contains(s, "..") && !strings.Contains(s, ":/")
}

// Switch fits true and false.
func Switch(v any) bool { _, ok := v.(bool); return ok }

// OneOf fits words of a list.
func OneOf(words ...string) func(any) bool {
	return func(v any) bool {
		s, ok := v.(string)
		return ok && slices.Contains(words, s)
	}
}

// Word fits one name of a level, a tier or a theme.
func Word(v any) bool {
	s, ok := v.(string)
	return ok && s != "" && len(s) <= 40 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// Language fits the name of a language, in any script.
func Language(v any) bool {
	s, ok := v.(string)
	other := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != ' ' && r != '-' && r != '(' && r != ')'
	}
	return ok && s != "" && len(s) <= 60 && !strings.ContainsFunc(s, other)
}

// Digits fits a number that is written as a text, as variables are.
func Digits(v any) bool {
	s, ok := v.(string)
	return ok && s != "" && len(s) <= 9 && strings.Trim(s, "0123456789") == ""
}

// PlainName is a name of the operator's settings for a message, or words in its place.
func PlainName(s string) string {
	if Word(s) {
		return s
	}
	return "(its name is not plain)"
}
