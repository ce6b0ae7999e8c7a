package state

import (
	"os"
	"strings"
)

// Boot names this start of the machine; "" where nothing does.
func Boot() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
