package agent

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"
)

// Version is the version of a client.
type Version [3]int

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

// Less reports whether a version came before another.
func (v Version) Less(w Version) bool {
	for i := range v {
		if v[i] != w[i] {
			return v[i] < w[i]
		}
	}
	return false
}

var versionText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[^\d.])v?(\d{1,6})\.(\d{1,6})\.(\d{1,6})\b`) })

// ParseVersion finds the version in what a client says of itself.
func ParseVersion(text string) (Version, error) {
	m := versionText().FindStringSubmatch(text)
	if m == nil {
		return Version{}, fmt.Errorf("%.60q names no version", text)
	}
	var v Version
	for i := range v {
		v[i], _ = strconv.Atoi(m[i+1]) // digits
	}
	return v, nil
}

// Check refuses a version that is too old. A newer one than was tested is a word
// for the operator.
func (a *Adapter) Check(v Version) (note string, err error) {
	switch {
	case v.Less(a.Oldest):
		return "", fmt.Errorf("%s %s is too old: its hooks are only known to hold from %s on (npm install -g %s)", a.Name, v, a.Oldest, a.Package)
	case a.Tested.Less(v):
		return fmt.Sprintf("%s %s is newer than the %s that cordon was tested with", a.Name, v, a.Tested), nil
	}
	return "", nil
}
