package deskterm

import (
	"fmt"

	"cordon/internal/desk"
)

// machine are the lines about what workers take of the machine. What is not known is left out.
func machine(m desk.Machine, width int) []line {
	facts := []string{counted(m.Running, "cell")}
	if m.Processors > 0 {
		facts = append(facts, fmt.Sprintf("load %.1f on %s", m.Load, counted(m.Processors, "processor")))
	}
	if m.MemoryTotal > 0 {
		facts = append(facts, fmt.Sprintf("memory %s of %s", sizeOf(m.Memory), sizeOf(m.MemoryTotal)))
	}
	switch {
	case m.DiskFree > 0 && m.Disk > 0:
		facts = append(facts, fmt.Sprintf("disk %s, %s free", sizeOf(m.Disk), sizeOf(m.DiskFree)))
	case m.DiskFree > 0: // what those take that run is counted when they end
		facts = append(facts, "disk "+sizeOf(m.DiskFree)+" free")
	}
	if m.Cost > 0 || m.Tokens > 0 {
		facts = append(facts, fmt.Sprintf("today $%.2f, %s tokens", m.Cost, amount(float64(m.Tokens), 1000, "", " k", " M", " G")))
	}
	out, l := []line{clean(in(inkHead), " MACHINE")}, line(nil)
	for _, f := range facts {
		one := clean(in(inkDim), f)
		if len(l) > 0 && 2+l.width()+3+one.width() > width {
			out, l = append(out, join(blank(look{}, 2), l)), nil
		}
		if len(l) > 0 {
			l = append(l, blank(look{}, 3)...)
		}
		l = append(l, one...)
	}
	return append(out, join(blank(look{}, 2), l))
}

func sizeOf(n int64) string { return amount(float64(n), 1024, " B", " KiB", " MiB", " GiB", " TiB") }

// amount is a number in the unit in which it has at most three digits.
func amount(n, step float64, units ...string) string {
	i := 0
	for ; n >= step && i < len(units)-1; i++ {
		n /= step
	}
	if i == 0 || n >= 100 {
		return fmt.Sprintf("%.0f%s", n, units[i])
	}
	return fmt.Sprintf("%.1f%s", n, units[i])
}
