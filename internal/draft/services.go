package draft

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// serviceFiles name the services that a project talks to while it is developed.
var serviceFiles = []string{
	"compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml", ".env.example", ".env.sample", ".env.template", ".env.dist",
}

// composePort is an entry of a list of ports: the part of this machine comes before that
// of the container, behind an address perhaps.
var composePort = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*-\s*["']?(?:(?:\d{1,3}\.){3}\d{1,3}:|localhost:)?(?:\$\{[A-Za-z_0-9]+:?-)?(\d{2,5})\}?:\d{2,5}(?:/tcp)?["']?\s*(?:#.*)?$` +
		`|(?m)^\s*published:\s*["']?(\d{2,5})["']?\s*$`)
})

// envPort is a port of this machine in a file of variables.
var envPort = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*(?:export\s+)?[A-Z0-9_]*` +
		`(?:DB|DATABASE|POSTGRES|PG|MYSQL|REDIS|MONGO|AMQP|RABBITMQ|KAFKA|ELASTIC[A-Z]*|S3|MINIO|SMTP|MAIL)` +
		`[A-Z0-9_]*PORT\s*=\s*["']?(\d{2,5})["']?\s*$|(?:localhost|127\.0\.0\.1):(\d{2,5})\b`)
})

// servicePorts are the ports that files about services name, in order.
func servicePorts(texts map[string]string) []string {
	var ports []int
	for _, name := range serviceFiles {
		pattern := composePort()
		if strings.HasPrefix(name, ".env") {
			pattern = envPort()
		}
		for _, m := range pattern.FindAllStringSubmatch(texts[name], 50) {
			for _, digits := range m[1:] {
				if port, err := strconv.Atoi(digits); err == nil && port > 0 && port < 65536 && !slices.Contains(ports, port) {
					ports = append(ports, port)
				}
			}
		}
	}
	slices.Sort(ports)
	var list []string
	for _, port := range ports[:min(len(ports), maxSources)] {
		list = append(list, strconv.Itoa(port))
	}
	return list
}
