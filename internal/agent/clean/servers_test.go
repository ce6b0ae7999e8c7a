package clean

import (
	"slices"
	"testing"
)

func TestServers(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
		fail bool
	}{
		{text: "no front matter, mcp-servers: {a: 1}"},
		{text: "---\nname: x\n---\nYou help.\n"},
		{text: "---\nname: x\nmcp-servers:\n  b: {command: sh}\n  a: {command: sh}\n---\n", want: []string{"a", "b"}},
		{text: "---\nmcpServers: [one, {two: {command: sh}}]\n---\n", want: []string{"one", "two"}},
		{text: "---\n\"mcp\\x2dservers\": {a: {}}\n---\n", want: []string{"a"}},
		{text: "---\nmcp-servers: {a: {}}\nmcp_servers: {b: {}}\n---\n", want: []string{"a", "b"}},
		{text: "---\nmcp-servers:\n---\n"},
		{text: "---\nx: &a {s: {command: sh}}\nmcp-servers: *a\n---\n", fail: true},
		{text: "---\n<<: {mcp-servers: {a: {}}}\n---\n", fail: true},
		{text: "---\nname: x: y\nmcp-servers: {a: {}}\n---\n", fail: true},
		{text: "---yaml\nmcp-servers: {a: {}}\n---\n", fail: true},
		{text: "---\nmcp-servers: {a: {}}\n", fail: true},
		{text: "---\ndescription: it says: a colon\n---\n"}, // the clients read it, and nothing in it names a server
	} {
		got, err := Servers([]byte(c.text))
		if (err != nil) != c.fail || !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, %v", c.text, got, err)
		}
	}
}
