package enclosure

// hiding is where the patterns of what is hidden lead on this machine.
type hiding struct {
	resolver resolver
	denied   []string
	err      error
}

// HideAhead looks for what is hidden while its caller does something else. Rules, Home and
// Over do not change any more.
func (e *Enclosure) HideAhead() {
	ahead := make(chan hiding, 1)
	early := *e
	go func() { ahead <- early.findHidden(); close(ahead) }()
	e.ahead = ahead
}

// hiding is what was found ahead, once, or is found now.
func (e Enclosure) hiding() hiding {
	if e.ahead != nil {
		if found, first := <-e.ahead; first {
			return found
		}
	}
	return e.findHidden()
}

func (e Enclosure) findHidden() hiding {
	found := hiding{resolver: resolver{}}
	globs, inTree, err := e.splitLayered(e.Rules.Hidden())
	if err == nil {
		found.denied, err = found.resolver.matches(append(globs, relocatedGlobs(globs, e.Home)...))
	}
	found.denied, found.err = append(found.denied, inTree...), err
	return found
}
