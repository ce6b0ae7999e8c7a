package main

import (
	"fmt"
	"os"
	"time"
)

// refill is how long it takes until a cell may open a thousand connections at the
// same moment again.
const refill = 2500 * time.Millisecond

// many measures connections that are open at the same moment.
func (t *theatre) many() error {
	const n, messages = 1000, 10
	fmt.Printf("| %d connections at once, × plain | opened | %d messages on each | failed | relay's memory before | while open and idle | at most "+
		"|\n|---|---|---|---|---|---|---|\n", n, messages)
	var plain [2]time.Duration
	for i, w := range t.ways {
		if w.route.Name != "" && !w.route.TLS {
			continue // an answer is not one byte there
		}
		time.Sleep(refill)
		opened, talked, memory, err := w.hold(n, messages)
		if err != nil {
			return err
		}
		if i == 0 {
			plain = [2]time.Duration{opened.Took, talked.Took}
		}
		fmt.Printf("| %s | %s %s | %s %s | %d | %s |\n", w.name,
			short(float64(opened.Took)), over(ratio(opened.Took, plain[0])), short(float64(talked.Took)), over(ratio(talked.Took, plain[1])),
			opened.Failed+talked.Failed, memory)
		if e := opened.Error + talked.Error; e != "" {
			fmt.Fprintf(os.Stderr, "%s: %s\n", w.name, e)
		}
	}
	fmt.Println()
	return nil
}

// hold opens connections, lets them idle and talks on them.
func (w *way) hold(n, messages int) (opened, talked reply, memory string, err error) {
	before := w.memory("VmRSS")
	if opened, err = w.client.ask(question{Act: "open", Route: w.route, Count: n}); err != nil {
		return opened, talked, "", err
	}
	idle := w.memory("VmRSS")
	if talked, err = w.client.ask(question{Act: "talk", Count: messages}); err != nil {
		return opened, talked, "", err
	}
	most := w.memory("VmHWM")
	_, err = w.client.ask(question{Act: "shut"})
	return opened, talked, before + " | " + idle + " | " + most, err
}

// memory is a line of what the kernel says of what stands between.
func (w *way) memory(key string) string {
	if w.relay == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f MB", float64(w.relay.memory(key))/1e6)
}
