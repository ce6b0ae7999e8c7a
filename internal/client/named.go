package client

import "strconv"

// NamedHooks renders hooks for the clients that run a line of shell for each and know it by its name.
// second is what a client counts a second as; check may refuse an entry, and may be nil.
func NamedHooks(w Wiring, hooks Hooks, second int, check func(e Entry, word, matcher string) error) (Object, error) {
	var rendered Object
	number := 0
	for _, e := range hooks {
		word, err := e.Word(w.Client)
		if err != nil {
			return nil, err
		}
		matcher, err := e.Pattern(w.Client)
		if err != nil {
			return nil, err
		}
		if check != nil {
			if err := check(e, word, matcher); err != nil {
				return nil, err
			}
		}
		var handlers []any
		for _, h := range e.Handlers {
			text, err := h.ShellText()
			if err != nil {
				return nil, err
			}
			number++
			handlers = append(handlers, Object{
				{"type", "command"}, {"command", text}, {"name", w.Label + "-" + strconv.Itoa(number)}, {"timeout", second * h.Limit()},
			})
		}
		rendered.Add(word, Object{{"matcher", matcher}, {"hooks", handlers}})
	}
	return rendered, nil
}
