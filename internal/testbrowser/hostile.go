package testbrowser

import "strings"

// Hostile are texts that a worker chooses: as a name, a question, a line of a diff, an event.
var Hostile = []string{
	`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `</pre><script>alert(1)</script>`, `</title><script>alert(1)</script>`,
	`</bdi></code><h1>Approved</h1>`, `"><svg onload=alert(1)>`, `' onfocus=alert(1) autofocus='`, "` onclick=alert(1) `", `<a href="javascript:alert(1)">x</a>`,
	`javascript:alert(1)`, `data:text/html,<script>alert(1)</script>`, `//evil.test/x`, `<style>*{display:none}</style>`, `<link rel=stylesheet href=//evil.test>`,
	`<meta http-equiv=refresh content="0;url=//evil.test">`, `<base href=//evil.test>`, `<form action=//evil.test><button>ok</button></form>`,
	`<iframe src=//evil.test></iframe>`, `<!--`, `-->`, `]]>`, `{{.Worker}}`, `{{template "top"}}`, `&lt;script&gt;`, `&#x202e;`, `%3Cscript%3E`,
	"\x1b]52;c;ZXZpbA==\x07", "\x1b[2J\x1b[H", "\x1b]8;;http://evil.test\x07x\x1b]8;;\x07", "\x1bP+q\x1b\\", "\u009b31m", "a\rb", "a\bb", "a\x00b",
	"moc.\u202egpj.exe", "\u2066a\u2069\u200f", "a\u200bb\ufeffc", "a\u2028b\u2029c", "\xff\xfe\x80", "z" + strings.Repeat("\u0301", 40), "\U000e0041\U000e0042",
	strings.Repeat("A", 1<<10), "name\nwith a line break", "\u3164\u2800",
}
