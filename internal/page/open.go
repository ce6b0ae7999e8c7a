package page

import (
	"cordon/internal/publish"
	"cordon/internal/view"
)

// Open prints the addresses of a worker's published ports: one alone, so that a program can
// take it.
func (p Page) Open(worker string, list []publish.Port) error {
	v := view.Open{Worker: worker, Ports: []view.Published{}}
	for _, port := range list {
		v.Ports = append(v.Ports, view.Published{Port: port.Port, URL: port.URL, Listening: port.Listening})
		switch {
		case p.JSON:
			continue
		case !port.Listening:
			p.Say("nothing listens on port %d in %s yet", port.Port, worker)
		}
		if len(list) == 1 {
			p.Print("%s", port.URL)
			continue
		}
		p.Print("%d %s", port.Port, port.URL)
	}
	if p.JSON {
		return p.Object(&v)
	}
	return nil
}
