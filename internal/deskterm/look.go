package deskterm

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
)

// ink is what a text means. Its colour follows from that; no meaning rests on colour alone.
type ink byte

const (
	inkText ink = iota
	inkDim
	inkHead
	inkStrong
	inkAccent
	inkAsk
	inkHold
	inkBad
	inkOK
	inkRun
	inkChip
	inkKeyword
	inkString
	inkComment
	inkFunc
	inkRule
	inkKey
	inkCount
)

// ground is what is behind a text.
type ground byte

const (
	groundNone ground = iota
	groundChosen
	groundAdded
	groundRemoved
	groundAddedWord
	groundRemovedWord
	groundFound
	groundBar
	groundCount
)

// look is how a text is drawn.
type look struct {
	ink    ink
	ground ground
}

func (l look) with(i ink) look { l.ink = i; return l }

// in is a look without a background.
func in(i ink) look { return look{ink: i} }

// inks and grounds are the colours, for light and for dark terminals; the renderer brings them down to
// what the terminal has. An empty one is the terminal's own.
var inks = [inkCount][2]string{
	inkDim: {"#5f6266", "#8d9195"}, inkHead: {"#55585c", "#a9acaf"}, inkAccent: {"#1f5fbf", "#7fb2ff"}, inkAsk: {"#5b3fb0", "#b9a3ff"},
	inkHold: {"#8a5300", "#f0b75a"}, inkBad: {"#b3261e", "#ff8d84"}, inkOK: {"#1c6b3c", "#7fd19b"}, inkRun: {"#1f5fbf", "#7fb2ff"},
	inkChip: {"#ffffff", "#111315"}, inkKeyword: {"#8250df", "#c9a6ff"}, inkString: {"#0a5a8c", "#8ccdf5"}, inkComment: {"#6a737d", "#8b949e"},
	inkFunc: {"#953800", "#ffb086"}, inkRule: {"#cfcdc4", "#3b4046"}, inkKey: {"#1f5fbf", "#7fb2ff"},
}

var grounds = [groundCount][2]string{
	groundChosen: {"#e8f0fb", "#17273d"}, groundAdded: {"#e5f5e9", "#12261a"}, groundRemoved: {"#fdeceb", "#2d1a19"},
	groundAddedWord: {"#b5e3c1", "#1f5233"}, groundRemovedWord: {"#f6c1bd", "#6a2b27"}, groundFound: {"#ffe58a", "#6b5900"}, groundBar: {"#f0f0ec", "#191c1f"},
}

// palette makes styles for a background.
type palette struct{ dark bool }

func (p palette) pick(pair [2]string) color.Color {
	if p.dark {
		return lipgloss.Color(pair[1])
	}
	return lipgloss.Color(pair[0])
}

func (p palette) style(l look) lipgloss.Style {
	s := lipgloss.NewStyle()
	if pair := inks[l.ink]; pair[0] != "" {
		s = s.Foreground(p.pick(pair))
	}
	if pair := grounds[l.ground]; pair[0] != "" {
		s = s.Background(p.pick(pair))
	}
	switch l.ink {
	case inkStrong, inkHead, inkKey, inkAsk, inkHold, inkBad:
		s = s.Bold(true)
	case inkChip:
		s = s.Background(p.pick(inks[inkHold])).Bold(true)
	case inkComment:
		s = s.Italic(true)
	}
	switch l.ground {
	case groundAddedWord, groundRemovedWord, groundFound:
		s = s.Underline(true) // also where there are no colours
	}
	return s
}

// paint is a line as the renderer takes it.
func (p palette) paint(l line) string {
	var b strings.Builder
	for i := 0; i < len(l); {
		j := i
		var text strings.Builder
		for ; j < len(l) && l[j].look == l[i].look; j++ {
			text.WriteString(l[j].text)
		}
		if l[i].look == (look{}) {
			b.WriteString(text.String())
		} else {
			b.WriteString(p.style(l[i].look).Render(text.String()))
		}
		i = j
	}
	return b.String()
}

// inkOf is the ink of a state's class.
func inkOf(class string) ink {
	switch class {
	case "ask":
		return inkAsk
	case "hold":
		return inkHold
	case "bad":
		return inkBad
	case "ok":
		return inkOK
	case "run":
		return inkRun
	case "quiet":
		return inkDim
	}
	return inkText
}
