// Package portable knows the names of files that Windows cannot have. It is pure, and
// refuses to decide what becomes of one.
package portable

import (
	"fmt"
	"strings"
)

// devices are names that Windows takes for a device, with any extension.
var devices = map[string]bool{"CON": true, "PRN": true, "AUX": true, "NUL": true, "CONIN$": true, "CONOUT$": true, "CLOCK$": true}

// Refused says why Windows cannot have a file of this name, or "".
func Refused(name string) string {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	port, numbered := strings.CutPrefix(stem, "COM")
	if !numbered {
		port, numbered = strings.CutPrefix(stem, "LPT")
	}
	switch {
	case devices[stem] || numbered && len([]rune(port)) == 1 && strings.ContainsAny(port, "0123456789¹²³"):
		return fmt.Sprintf("%s is a device on Windows", stem)
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return "Windows drops a dot or blank at the end of a name"
	case strings.ContainsAny(name, `<>:"|?*\`):
		return `Windows has no names with < > : " | ? * or \`
	}
	return ""
}
