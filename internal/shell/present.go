package shell

import (
	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
)

// Whether a file is there is asked in the conditions of loops only: how far one
// climbs depends on it. Elsewhere both answers are followed, since it may be
// another one when the script runs.

// fileTest answers [ -f FILE ] and [ ! -f FILE ].
func (m *Machine) fileTest(args []string) (Status, bool) {
	if m.looks == 0 || len(args) < 3 || args[0] != "[" && args[0] != "test" {
		return Unsure, false
	}
	words := args[1:]
	if args[0] == "[" {
		words = words[:len(words)-1]
	}
	not := len(words) == 3 && words[0] == "!"
	if not {
		words = words[1:]
	}
	if len(words) != 2 || len(words[0]) != 2 || words[0][0] != '-' {
		return Unsure, false
	}
	st := m.present(words[0][1], words[1])
	if not {
		st = st.not()
	}
	return st, true
}

// present answers a test of a file by its letter.
func (m *Machine) present(letter byte, path string) Status {
	if m.looks == 0 || mark.In(path) {
		return Unsure
	}
	kind, known := m.world.Present(m, path, letter == 'd')
	if !known {
		return Unsure
	}
	switch letter {
	case 'e', 'a':
		return statusOf(kind != Nothing)
	case 'f':
		return statusOf(kind == File)
	case 'd':
		return statusOf(kind == Directory)
	}
	return Unsure
}

// letterOf is a test of [[ by its letter.
func letterOf(op syntax.UnTestOperator) byte {
	switch op {
	case syntax.TsExists:
		return 'e'
	case syntax.TsRegFile:
		return 'f'
	case syntax.TsDirect:
		return 'd'
	}
	return 0
}
