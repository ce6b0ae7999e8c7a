package cellnet

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"cordon/internal/cell"
	"cordon/internal/policy"
	"cordon/internal/publish"
)

// JoinPublished has the ports that a policy publishes relayed as long as a command runs, and
// says when they are. The name becomes a part of the host name; the operator asks in dir, or
// nowhere. A command without a loopback of its own publishes nothing: its ports are the
// machine's.
func JoinPublished(c *cell.Command, p policy.Policy, name, dir string, opened func(*publish.Site)) {
	if len(p.Network.Publish) == 0 || c.Cell == nil {
		return
	}
	c.Cell.Inward = true
	c.Publish = func(s cell.Sockets) (func(), error) {
		site, err := publish.Open(publish.Order{Name: name, Ports: p.Network.Publish, Sources: pageSources(p.Network), Inward: s.Inward, Dir: dir})
		if err != nil {
			return nil, err
		}
		opened(site)
		return site.Close, nil
	}
}

// nameOrPort is an entry of allowed_domains that a Content-Security-Policy can name.
var nameOrPort = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\*\.)?[a-z0-9.-]+(:[0-9]+)?$`) })

// pageSources are the servers that a published page may use: those that its worker may.
func pageSources(n policy.Network) (list []string) {
	for _, d := range n.Expanded().AllowedDomains {
		if nameOrPort().MatchString(d) {
			list = append(list, d)
		}
	}
	return list
}

// Published says which ports of a policy are published, or "".
func Published(p policy.Policy) string {
	switch ports := p.Network.Publish; len(ports) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("port %d", ports[0])
	default:
		return "ports " + strings.Trim(strings.ReplaceAll(fmt.Sprint(ports), " ", ", "), "[]")
	}
}
