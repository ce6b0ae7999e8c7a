package enclosure

import (
	"path/filepath"
	"slices"

	"cordon/internal/paths"
)

// hiding is where the patterns of what is hidden lead on this machine, and what is shown of the home.
type hiding struct {
	read, scratch []string
	home          homeView
	resolver      resolver
	denied        []string
	err           error
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
	if found.read, found.err = matches(e.Rules.ReadRoots()); found.err != nil {
		return found
	}
	if found.scratch, found.err = matches(e.Rules.ScratchRoots()); found.err != nil {
		return found
	}
	if found.home, found.err = e.viewHome(found.read); found.err != nil {
		return found
	}
	globs, inTree, err := e.splitLayered(e.Rules.Hidden())
	if err == nil {
		globs = append(globs, relocatedGlobs(globs, e.Home)...)
		found.denied, err = found.resolver.matches(globs)
		found.denied = e.concerning(found.denied, found.home)
	}
	found.denied, found.err = append(found.denied, inTree...), err
	return found
}

// concerning leaves out what the rules hide of the home by its name and what is not shown in any case. Where a link or a variable
// leads stays: no name says that it is hidden.
func (e Enclosure) concerning(denied []string, h homeView) []string {
	if h.at == "" || h.whole {
		return denied
	}
	places := e.ownDirs()
	for _, b := range h.binds {
		places = append(places, b.At, b.From)
	}
	for _, c := range h.parts {
		places = append(places, c.At, c.Below[0])
	}
	for i, place := range places {
		places[i] = filepath.Clean(place)
	}
	return slices.DeleteFunc(denied, func(p string) bool {
		concerns := func(place string) bool { return paths.Inside(p, place) || paths.Inside(place, p) }
		return paths.Below(p, h.at) && !slices.ContainsFunc(places, concerns) && h.hides(p)
	})
}
