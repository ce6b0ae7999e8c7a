package reach

import (
	"cordon/internal/strictyaml"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

const (
	maxName    = 253  // of a host name, without the dot at its end
	maxLabel   = 63   // of what stands between two dots
	maxRawName = 1024 // of what somebody wrote: more bytes than letters where they are not ASCII
)

// CleanName is a host name in the one form that names are compared in: lower case,
// ASCII, without the dot at its end. What comes from a worker goes through it too,
// so it accepts what is asked for in practice (a part may have an underscore, or
// hyphens anywhere but at its ends) and refuses whatever two programs could read
// in two ways: a NUL, an empty part, a name that ends in a number and so may be
// taken for an address, letters that have no agreed form.
func CleanName(s string) (string, error) {
	if len(s) > maxRawName {
		return "", strictyaml.Fault("a host name of "+strconv.Itoa(len(s))+" bytes is too long", "")
	}
	name, ok := asciiName(s)
	if !ok {
		return "", strictyaml.Fault(brief(s)+" is not a host name", "its letters have no form that is agreed on")
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if why := unclean(name); why != "" {
		return "", strictyaml.Fault(brief(s)+" is not a host name", why)
	}
	return name, nil
}

// brief quotes a name that a worker may have made: what is kept of a refusal has to
// stay small.
func brief(s string) string {
	if len(s) > 80 {
		return strconv.Quote(s[:80]) + "…"
	}
	return strconv.Quote(s)
}

// asciiName maps what is not ASCII to it, and holds the names that were mapped by
// somebody else to the same rules. A name that has neither is left alone: the rules
// for international names forbid hyphens that ordinary names have.
func asciiName(s string) (string, bool) {
	if !utf8.ValidString(s) {
		return "", false
	}
	if isASCII(s) && !strings.Contains(strings.ToLower(s), "xn--") {
		return s, true
	}
	profile := idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(false), idna.CheckHyphens(false))
	name, err := profile.ToASCII(s)
	if err != nil || !isASCII(name) {
		return "", false
	}
	// Mapping twice must change nothing more, or there is no one form.
	again, err := profile.ToASCII(name)
	return name, err == nil && again == name
}

// unclean says what is wrong with a name that is ASCII and in lower case.
func unclean(name string) string {
	if name == "" {
		return "it is empty"
	}
	if len(name) > maxName {
		return "it is longer than 253 characters"
	}
	for label := range strings.SplitSeq(name, ".") {
		switch {
		case label == "":
			return "it has an empty part"
		case len(label) > maxLabel:
			return "it has a part of more than 63 characters"
		case strings.ContainsFunc(label, notOfNames):
			return "use letters, digits, - and _"
		case strings.Trim(label, "-") != label:
			return "a part begins or ends with a hyphen"
		}
	}
	if endsInNumber(name) {
		return "its last part is a number"
	}
	return ""
}

const (
	digits     = "0123456789"
	characters = "abcdefghijklmnopqrstuvwxyz" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + digits + "-_"
)

func notOfNames(r rune) bool { return !strings.ContainsRune(characters, r) }

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// isNumber reports whether s is a decimal number above zero without a leading
// zero, sign or separator.
func isNumber(s string) bool {
	return s != "" && s[0] != '0' && strings.Trim(s, digits) == ""
}

// endsInNumber reports whether the last part of a name is a number in any of the
// forms that programs take for one of an IPv4 address: 127.1, 0x7f000001.
func endsInNumber(name string) bool {
	_, last, _ := cutLast(strings.TrimSuffix(name, "."))
	if hex, found := strings.CutPrefix(strings.ToLower(last), "0x"); found {
		return strings.Trim(hex, digits+"abcdef") == ""
	}
	return last != "" && strings.Trim(last, digits) == ""
}
