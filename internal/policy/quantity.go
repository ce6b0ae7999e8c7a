package policy

import (
	"strconv"
	"strings"
	"time"
)

// Duration is a span written as one number and one unit: 90s, 30m, 4h, 7d.
type Duration time.Duration

// Bytes is a size written as one number and one unit (512MiB, 2GB), or none.
// Zero means no limit.
type Bytes int64

// noLimit is the word for a limit that is switched off. It is a word and not a
// zero because an operator must type the weaker mode.
const noLimit = "none"

type unit struct {
	name   string
	size   int64
	digits int // most digits its number may have, so that nothing overflows
}

// The largest unit that divides a value exactly is its canonical one.
var durationUnits = []unit{
	{"d", int64(24 * time.Hour), 5},
	{"h", int64(time.Hour), 5},
	{"m", int64(time.Minute), 5},
	{"s", int64(time.Second), 5},
}

var byteUnits = []unit{
	{"TiB", 1 << 40, 6}, {"TB", 1e12, 6},
	{"GiB", 1 << 30, 6}, {"GB", 1e9, 6},
	{"MiB", 1 << 20, 6}, {"MB", 1e6, 6},
	{"KiB", 1 << 10, 6}, {"KB", 1e3, 6},
	{"B", 1, 15},
}

// ParseDuration reads 90s, 30m, 4h or 7d: one whole number above zero, one
// unit.
func ParseDuration(s string) (Duration, error) {
	n, ok := parseQuantity(s, durationUnits)
	if !ok {
		return 0, fault{quote(s) + " is not a duration", "write one whole number and one unit, such as 90s, 30m, 4h or 7d"}
	}
	return Duration(n), nil
}

// ParseBytes reads 512MiB, 2GB or none.
func ParseBytes(s string) (Bytes, error) {
	if s == noLimit {
		return 0, nil
	}
	n, ok := parseQuantity(s, byteUnits)
	if !ok {
		return 0, fault{quote(s) + " is not a size", "write one whole number and one unit, such as 512MiB or 2GB, or none"}
	}
	return Bytes(n), nil
}

func (d Duration) String() string {
	if d == 0 {
		return "0s"
	}
	return formatQuantity(int64(d), durationUnits)
}

func (b Bytes) String() string {
	switch b {
	case 0:
		return noLimit
	case Auto:
		return auto
	}
	return formatQuantity(int64(b), byteUnits)
}

// Fits reports whether a size can be written as one: no rule prefers one of those to another.
func (b Bytes) Fits() bool {
	n, ok := parseQuantity(b.String(), byteUnits)
	return ok && n == int64(b)
}

func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
func (b Bytes) MarshalText() ([]byte, error)    { return []byte(b.String()), nil }

func (d *Duration) UnmarshalText(text []byte) error {
	v, err := ParseDuration(string(text))
	if err == nil {
		*d = v
	}
	return err
}

func (b *Bytes) UnmarshalText(text []byte) error {
	if string(text) == auto {
		*b = Auto
		return nil
	}
	v, err := ParseBytes(string(text))
	if err == nil {
		*b = v
	}
	return err
}

func parseQuantity(s string, units []unit) (int64, bool) {
	for _, u := range units {
		digits, found := strings.CutSuffix(s, u.name)
		if !found || !isNumber(digits) || len(digits) > u.digits {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		return n * u.size, err == nil
	}
	return 0, false
}

// isNumber reports whether s is a decimal number above zero without a leading
// zero, sign or separator.
func isNumber(s string) bool {
	return s != "" && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}

// formatQuantity picks the unit that needs the smallest number.
func formatQuantity(v int64, units []unit) string {
	best := units[len(units)-1]
	n := v / best.size
	for _, u := range units {
		if v%u.size == 0 && v/u.size < n && len(strconv.FormatInt(v/u.size, 10)) <= u.digits {
			best, n = u, v/u.size
		}
	}
	return strconv.FormatInt(n, 10) + best.name
}
