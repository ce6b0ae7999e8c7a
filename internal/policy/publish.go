package policy

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"cordon/internal/strictyaml"
)

// The ports that can be published. A worker cannot listen on those below, and each costs
// a listener on the machine.
const (
	firstPublished = 1024
	maxPublished   = 16
)

func readPublish(n *yaml.Node) ([]int, error) {
	list, err := readPorts(n)
	if err != nil {
		return nil, err
	}
	for i, port := range list {
		if port < firstPublished {
			return nil, strictyaml.At(n.Content[i], fault{fmt.Sprintf("a worker cannot listen on port %d", port), fmt.Sprintf("use %d or more", firstPublished)})
		}
	}
	if len(list) > maxPublished {
		return nil, fault{fmt.Sprintf("%d ports are published", len(list)), fmt.Sprintf("at most %d can be", maxPublished)}
	}
	return list, nil
}

// WithPublished is a policy that publishes more ports.
func (p Policy) WithPublished(ports []int) (Policy, error) {
	p.Network.Publish = slices.Clone(p.Network.Publish)
	for _, port := range ports {
		if !slices.Contains(p.Network.Publish, port) {
			p.Network.Publish = append(p.Network.Publish, port)
		}
	}
	_, err := Parse("--publish", p.YAML())
	return p, err
}

// checkPublish refuses ports on which a worker cannot listen, because cordon does: in the
// cell, they lead to servers outside.
func (n Network) checkPublish() error {
	reach, err := n.Reach()
	if err != nil || len(n.Publish) == 0 {
		return nil // reported elsewhere
	}
	for _, port := range n.Publish {
		switch {
		case slices.Contains(n.HostPorts, port):
			return fault{fmt.Sprintf("network.publish and network.host_ports both name port %d", port), "in the cell it can be one of them only"}
		case slices.Contains(reach.Ports(), uint16(port)):
			return fault{fmt.Sprintf("network.publish names port %d, which allowed_domains uses too", port), "let the worker's server listen on another port"}
		}
	}
	return nil
}
