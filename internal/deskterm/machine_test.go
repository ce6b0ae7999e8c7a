package deskterm

import (
	"strings"
	"testing"

	"cordon/internal/desk"
)

// What is not known is left out, and no line is wider than there is room.
func TestMachine(t *testing.T) {
	for _, c := range []struct {
		m    desk.Machine
		want string
	}{
		{desk.Machine{}, " MACHINE|  0 cells"},
		{desk.Machine{Running: 1, DiskFree: 5 << 30}, " MACHINE|  1 cell   disk 5.0 GiB free"},
		{desk.Machine{Running: 2, Disk: 512, DiskFree: 200 << 20, Tokens: 900}, " MACHINE|  2 cells   disk 512 B, 200 MiB free|  today $0.00, 900 tokens"},
	} {
		var got []string
		for _, l := range machine(c.m, 40) {
			got = append(got, l.text())
		}
		if text := strings.Join(got, "|"); text != c.want {
			t.Errorf("%+v: %s", c.m, text)
		}
	}
}
