package mailbox

import "errors"

// maxYes is how often a launch may agree to one thing.
const maxYes = 3

// doubted is what is written down instead of an agreement that does not count.
const doubted = "It agreed after it had said no, or for the fourth time: something that it runs may be speaking for it."

// votes are what one launch has said about one thing. A program that it runs, such as the tests of the author, speaks with
// its voice: so a no is final, and whoever agrees after that, or again and again, is not believed.
type votes struct {
	yes         int
	no, doubted bool
}

// cast counts an answer, or says why it does not count. Doubt is to be written down, once.
func (v *votes) cast(yes bool) (doubt bool, refused error) {
	switch {
	case yes && (v.no || v.yes == maxYes):
		doubt, v.no, v.doubted = !v.doubted, true, true
		return doubt, errors.New("you have said no before, or agreed three times: a person decides now")
	case v.no:
		return false, errors.New("you have said no already")
	case yes:
		v.yes++
	}
	v.no = !yes
	return false, nil
}
