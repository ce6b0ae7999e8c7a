// Package consent knows what the policy of a repository opens, and to what the operator has
// agreed. Both are words: each names one value, so that a policy with another value has
// another word.
//
// The package looks where links of the machine lead, and at nothing else. It refuses to ask anybody, and to take what a word does not name for
// agreed: package worksite keeps the consent, and cmd/cordon asks for it.
package consent

import (
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/policy"
	"cordon/internal/strictyaml"
)

// The kinds of words. A word without a value, which only rights give, covers its kind.
const (
	isolation = "isolation:"
	domain    = "domain:"
	port      = "port:"
	read      = "read:"
	web       = "web"
)

// hidden is the word for a deny_read without the built-in list.
const hidden = read + policy.DefaultUnread

// Forms are the forms of the words, for a person.
var Forms = []string{isolation + "WORD", domain + "ENTRY", port + "NUMBER", read + "ROOT", web}

// Domain is the word for an entry of allowed_domains.
func Domain(entry string) string { return domain + entry }

// Needed lists what a policy opens that a repository may not open by itself: on the machine,
// in the home of the operator and in the network. Without a cell everything is open, which
// is one word. Secrets are not among them: whether one is given away depends on the
// operator's environment.
func Needed(p policy.Policy) []string {
	if p.Isolation == policy.None {
		return []string{isolation + string(policy.None)}
	}
	words := []string{}
	if p.Isolation == policy.Degraded {
		words = append(words, isolation+string(policy.Degraded))
	}
	for _, entry := range p.Network.AllowedDomains {
		words = append(words, domain+entry)
	}
	for _, number := range p.Network.HostPorts {
		words = append(words, port+strconv.Itoa(number))
	}
	if !slices.Contains(p.Filesystem.DenyRead, policy.DefaultUnread) {
		words = append(words, hidden)
	}
	for _, root := range p.Filesystem.ReadRoots {
		if !ordinary(root) {
			words = append(words, read+root)
		}
	}
	if p.Agent.Web {
		words = append(words, web)
	}
	return words
}

// OfMachine are the words about the machine on which a worker runs. Of a stage that came
// from another machine, the others were agreed to there.
func OfMachine(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == web || strings.HasPrefix(w, domain) })
}

// ordinary reports whether a read root shows nothing that is hidden: it is "/", which lifts
// nothing, or a place of programs and system settings that no row of @default names. Any
// other may name a row, the operator's checkout or somebody's home, also through a link.
func ordinary(root string) bool {
	place := strings.TrimSuffix(root, "/**")
	return place == "" || place == "/" || ofSystem(place) && ofSystem(real(place))
}

// real is where a path leads, as far as it is there.
func real(place string) string {
	if to, err := filepath.EvalSymlinks(place); err == nil || place == "/" {
		return to
	}
	return filepath.Join(real(filepath.Dir(place)), filepath.Base(place))
}

func ofSystem(place string) bool {
	if !path.IsAbs(place) || policy.HasWildcard(place) {
		return false
	}
	first, _, below := strings.Cut(place[1:], "/")
	if below && first == "opt" { // people work there, and some homes lie there
		return false
	}
	return slices.Contains([]string{"usr", "bin", "sbin", "lib", "lib32", "lib64", "opt", "nix", "etc"}, first) &&
		!slices.ContainsFunc(policy.UnreadByDefault(), func(row policy.Unread) bool { return row.Entry == place })
}

// Missing are the words that none of the granted ones covers.
func Missing(words, granted []string) []string {
	rights := policy.AllRights()
	rights.Network.AllowedDomains, rights.Isolation = []string{}, policy.Strict
	for _, g := range granted {
		switch kind, value := split(g); {
		case kind == domain && value != "" && value != policy.Anything: // that is a word of rights alone
			rights.Network.AllowedDomains = append(rights.Network.AllowedDomains, value)
		case g == isolation+string(policy.None), g == isolation+string(policy.Degraded) && rights.Isolation == policy.Strict:
			rights.Isolation = policy.Isolation(value)
		}
	}
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool {
		kind, value := split(word)
		if slices.Contains(granted, word) || slices.Contains(granted, kind) {
			return true
		}
		var p policy.Policy
		switch kind {
		case domain:
			p.Network.AllowedDomains = []string{value}
		case isolation:
			p.Isolation = policy.Isolation(value)
		default:
			return false
		}
		_, lost := p.Within(rights)
		return len(lost) == 0
	})
}

func split(word string) (kind, value string) {
	kind, value, found := strings.Cut(word, ":")
	if found {
		kind += ":"
	}
	return kind, value
}

// Check accepts a word that Needed may list: that of a policy with this value.
func Check(word string) error {
	if word == web || word == hidden {
		return nil
	}
	kind, value := split(word)
	text, known := map[string]string{
		isolation: "isolation: " + value, port: "network: {host_ports: [" + value + "]}",
		domain: "network: {allowed_domains: [" + strictyaml.Quote(value) + "]}", read: "filesystem: {read_roots: [" + strictyaml.Quote(value) + "]}",
	}[kind]
	p, err := policy.Parse(word, []byte("version: 1\n"+text+"\n"))
	var bad *policy.Error
	switch {
	case known && errors.As(err, &bad):
		return strictyaml.Fault(bad.Problem, bad.Hint)
	case !known || err != nil || !slices.Equal(Needed(p), []string{word}):
		return strictyaml.Fault(strconv.Quote(word)+" opens nothing", "the words are "+strings.Join(Forms, ", "))
	}
	return nil
}

// Unconfined says what isolation: none means.
const Unconfined = "runs commands UNCONFINED as you (isolation: none)"

// Describe says what words open, for a person; it continues a sentence that begins with the
// policy.
func Describe(words []string) string {
	var says, domains, ports, reads []string
	for _, word := range words {
		switch kind, value := split(word); {
		case word == isolation+string(policy.None):
			says = append(says, Unconfined)
		case kind == isolation:
			says = append(says, "runs commands although layers of the cell are missing (isolation: "+value+")")
		case kind == domain:
			domains = append(domains, value)
		case kind == port:
			ports = append(ports, value)
		case word == hidden:
			reads = append(reads, "everything that deny_read hides by default")
		case kind == read:
			reads = append(reads, value)
		case word == web:
			says = append(says, "lets the client search and fetch from its maker's servers (agent.web)")
		}
	}
	for _, list := range []struct {
		verb  string
		items []string
	}{{"reaches ", domains}, {"connects to ports of this machine: ", ports}, {"shows ", reads}} {
		if len(list.items) > 0 {
			says = append(says, list.verb+strings.Join(list.items, ", "))
		}
	}
	return strings.Join(says, "; ")
}

// Written are the words that rights stand for, of the keys that somebody wrote: the operator
// who lists what workers may have agrees to it for every repository. A default agrees to
// nothing.
func Written(r policy.Rights, given strictyaml.Given) []string {
	var words []string
	for _, list := range []struct {
		key, kind string
		values    []string
	}{
		{"isolation", isolation, []string{r.Isolation.String()}},
		{"network.allowed_domains", domain, r.Network.AllowedDomains},
		{"network.host_ports", port, r.Network.HostPorts},
	} {
		if given["rights."+list.key] == 0 {
			continue
		}
		for _, value := range list.values {
			if value == policy.Anything {
				value = ""
			}
			words = append(words, list.kind+value)
		}
	}
	if given["rights.agent.web"] > 0 && r.Agent.Web {
		words = append(words, web)
	}
	return words
}
