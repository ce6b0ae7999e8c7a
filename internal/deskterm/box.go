package deskterm

import (
	"fmt"

	"cordon/internal/view"
)

// box is a path that can be chosen. None is chosen beforehand, and only the one of the cursor can be, so that nobody
// chooses a path that was not on the screen.
type box struct {
	path string
	on   bool
}

func boxesOf(paths []view.Text) (list []box) {
	for _, p := range paths {
		list = append(list, box{path: string(p)})
	}
	return list
}

// onBoxes reports whether keys move in the list of boxes.
func (f *form) onBoxes() bool { return f.fields[f.at].name == fieldRoots && !f.sending }

// boxKey takes a key that moves in the list of boxes, or chooses one and goes on.
func (f *form) boxKey(name string) bool {
	step := map[string]int{"space": 1, "down": 1, "up": -1}[name]
	if step == 0 {
		return false
	}
	if name == "space" {
		f.boxes[f.box].on = !f.boxes[f.box].on
		f.said = nil
		f.grave()
	}
	if next := f.box + step; next >= 0 && next < len(f.boxes) {
		f.box = next
		return true
	}
	if name == "space" { // the list ends, and a key that is held must not take the last choice back
		f.at = (f.at + 1) % len(f.fields)
	}
	return name == "space"
}

// chosen are the paths whose boxes are ticked.
func (f *form) chosen() (list []string) {
	for _, b := range f.boxes {
		if b.on {
			list = append(list, b.path)
		}
	}
	return list
}

// drawBoxes says how many are chosen, and draws as many boxes as there is room for. The path of the cursor is drawn whole,
// as far as a few lines have it.
func (f *form) drawBoxes(d *document, names, room int) {
	here, head := f.onBoxes(), inkHead
	if here {
		head = inkAccent
	}
	count := fmt.Sprintf("%d of %d paths chosen", len(f.chosen()), len(f.boxes))
	d.few(2, names, clean(in(head), fieldRoots), join(clean(in(inkStrong), count), clean(in(inkDim), "  space chooses, ⇥ leaves")))
	f.boxTop = scrolled(f.boxTop, f.box, len(f.boxes), room)
	for i, b := range f.boxes[f.boxTop:min(len(f.boxes), f.boxTop+room)] {
		tick := "[ ] "
		if b.on {
			tick = "[x] "
		}
		mark, most := " ", 1
		if here && f.boxTop+i == f.box {
			mark, most = "▌", 2*room
		}
		first := join(blank(look{}, names-2), clean(in(inkAccent), mark+" "), clean(in(inkKey), tick))
		d.few(most, names+len(tick), first, clean(in(inkStrong), b.path))
	}
}
