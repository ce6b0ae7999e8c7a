package policy

import "sync"

// validTexts are canonical forms that Validate accepted in this process. The answer
// depends on the text alone, and most leases of a journal share a few policies: a process
// that reads the journal would otherwise parse the same text for each of them.
var validTexts textSet

// maxTexts bounds how many texts are remembered.
const maxTexts = 64

// textSet is a set of at most maxTexts texts. A full set starts again empty.
type textSet struct {
	mu    sync.Mutex
	texts map[string]bool
}

func (s *textSet) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.texts[text]
}

func (s *textSet) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts == nil || len(s.texts) >= maxTexts {
		s.texts = map[string]bool{}
	}
	s.texts[text] = true
}
