package consent

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/policy"
	"cordon/internal/strictyaml"
)

func needed(t *testing.T, text string) []string {
	t.Helper()
	p, err := policy.Parse("p", []byte("version: 1\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return Needed(p)
}

func TestNeeded(t *testing.T) {
	for text, want := range map[string]string{
		"": "",
		"isolation: none\nnetwork: {allowed_domains: [a.example]}\n": "isolation:none",
		"isolation: degraded\n": "isolation:degraded",
		"network: {allowed_domains: ['@npm', a.example, '*.b.example']}": "domain:@npm domain:a.example domain:*.b.example",
		"network: {host_ports: [5432]}\nagent: {web: true}\n":            "port:5432 web",
		"filesystem: {deny_read: [x]}\n":                                 "read:@default",
		"filesystem: {deny_read: ['@default', x]}\n":                     "",
		"filesystem: {read_roots: [/, /usr/share, /opt, /etc/ssl]}":      "",
		// Each of these may lead to something that is hidden.
		"filesystem: {read_roots: [~/.aws, ~/.kube/**, /home/other, ../host, link, /u*r, /opt/x, /etc/shadow]}\n": "read:~/.aws read:~/.kube/** read:/home/other " +
			"read:../host read:link read:/u*r read:/opt/x read:/etc/shadow",
	} {
		words := needed(t, text)
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%s opens %q, want %q", text, got, want)
		}
		for _, word := range words {
			if err := Check(word); err != nil {
				t.Errorf("%s cannot be agreed to: %v", word, err)
			}
			if left := Missing([]string{word}, []string{word}); len(left) > 0 {
				t.Errorf("%s does not cover itself", word)
			}
		}
		if left := Missing(words, nil); !slices.Equal(left, words) {
			t.Errorf("without any consent, only %q of %q is missing", left, words)
		}
	}
}

func TestMissing(t *testing.T) {
	for _, c := range []struct{ words, granted, want string }{
		{"isolation:degraded", "isolation:none", ""},
		{"isolation:none", "isolation:degraded", "isolation:none"},
		{"domain:registry.npmjs.org", "domain:@npm", ""},
		{"domain:@npm", "domain:registry.npmjs.org", "domain:@npm"},
		{"domain:api.b.example domain:b.example", "domain:*.b.example", "domain:b.example"},
		{"domain:a.example:8443", "domain:a.example", "domain:a.example:8443"},
		{"read:~/.aws", "read:~", "read:~/.aws"},
		{"domain:x.example port:1", "domain:any port:any", "domain:x.example port:1"}, // "any" is a word of rights alone
		{"domain:x.example port:1", "domain: port:", ""},
	} {
		if got := strings.Join(Missing(strings.Fields(c.words), strings.Fields(c.granted)), " "); got != c.want {
			t.Errorf("%s with consent to %s lacks %q, want %q", c.words, c.granted, got, c.want)
		}
	}
	for _, word := range []string{"domain:", "port:", "port:any", "port:0", "read:", "isolation:", "isolation:strict", "webs", "domain:@nmp", "x", "port:1]}\nagent: {web: true", "domain:A.example", "read:/usr"} {
		if Check(word) == nil {
			t.Errorf("%q is accepted", word)
		}
	}
}

// Only rights that were written are consent.
func TestWritten(t *testing.T) {
	all := policy.AllRights()
	if words := Written(all, nil); len(words) > 0 {
		t.Errorf("defaults agree to %q", words)
	}
	all.Network.AllowedDomains = []string{"anything.example"}
	given := strictyaml.Given{"rights.isolation": 2, "rights.network.allowed_domains": 3, "rights.network.host_ports": 4, "rights.agent.web": 5}
	if got, want := strings.Join(Written(all, given), " "), "isolation:none domain:anything.example port: web"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A link among the places of the system may lead to anywhere: where it leads counts.
func TestReadRootsThroughLinks(t *testing.T) {
	const link = "/etc/mtab" // to /proc, on every Linux that has it
	if to, err := filepath.EvalSymlinks(link); err != nil || !strings.HasPrefix(to, "/proc/") {
		t.Skipf("%s leads to %q here: %v", link, to, err)
	}
	for root, want := range map[string]bool{link: false, link + "/below": false, "/etc": true, "/etc/none": true, "/etc/none/below": true} {
		if ordinary(root) != want {
			t.Errorf("%s: got %v", root, !want)
		}
	}
}
