package metrics

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process is what this process costs, under the names that Prometheus's own libraries use. Memory is
// left out where the kernel has no /proc.
func Process() []Family {
	list := []Family{
		Number(Gauge, "go_goroutines", "Number of goroutines.", float64(runtime.NumGoroutine())),
	}
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) == nil {
		spent := time.Duration(used.Utime.Nano() + used.Stime.Nano())
		list = append(list, Number(Counter, "process_cpu_seconds_total", "Processor time that the process has used.", spent.Seconds()))
	}
	if pages, ok := resident(); ok {
		list = append(list, Number(Gauge, "process_resident_memory_bytes", "Memory of the process.", float64(pages*os.Getpagesize())))
	}
	return list
}

// resident is how many pages of memory the process has.
func resident() (pages int, ok bool) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	words := strings.Fields(string(text))
	if len(words) < 2 {
		return 0, false
	}
	pages, err = strconv.Atoi(words[1])
	return pages, err == nil
}
