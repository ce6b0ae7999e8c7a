package view

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
)

const pageHead = `# JSON output

This page and the files in [docs/schema](schema/cordon.worker-1.json) are generated from the structs of
` + "`internal/view`: `go test ./internal/view -update`." + `

With ` + "`--json`" + `, a command prints one JSON object on stdout. Errors print an object too, and the exit code
is the same as without ` + "`--json`" + `. Every object has a ` + "`schema`" + ` field with a name and a version. Within a
version, fields are only added: ignore fields that you do not know. Control and invisible characters in
a worker's text are written as JSON escapes, so the output is safe on a terminal and loses nothing.

Times are RFC 3339 in UTC. Sizes are bytes. Fields with a ` + "`?`" + ` are absent if they do not apply.

` + "`cordon serve`" + ` answers HTTP requests with the same objects: [serve.md](serve.md).

` + "`check --batch`" + ` prints one JSON object for each line instead: ` + "`id`, `decision`, `reason`" + `.

`

// page is docs/json.md.
func page() []byte {
	var b strings.Builder
	b.WriteString(pageHead)
	b.WriteString("| schema | printed by | |\n|---|---|---|\n")
	for _, s := range Schemas() {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", s.Name, anchor(s.Name), commands(s.By), s.About)
	}
	b.WriteString("\n## States of a worker\n\n| `status` | |\n|---|---|\n")
	for _, s := range States() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", s.Word, s.Means)
	}
	var parts []reflect.Type
	for _, s := range Schemas() {
		fmt.Fprintf(&b, "\n## %s\n\n%s Printed by %s. [Schema](schema/%s)\n\n", s.Name, s.About, commands(s.By), fileOf(s.Name))
		b.WriteString(fieldTable(reflect.TypeOf(s.Object).Elem(), &parts))
	}
	b.WriteString("\n## Parts\n\nObjects inside the objects above.\n")
	for i := 0; i < len(parts); i++ { // parts have parts
		fmt.Fprintf(&b, "\n### %s\n\n", parts[i].Name())
		b.WriteString(fieldTable(parts[i], &parts))
	}
	return []byte(b.String())
}

// commands sets the names of commands apart from the words in parentheses.
func commands(by string) string {
	if strings.HasPrefix(by, "every ") {
		return by
	}
	var list []string
	for _, c := range strings.Split(by, ", ") {
		name, where, found := strings.Cut(c, " (")
		c = "`" + name + "`"
		if found {
			c += " (" + where
		}
		list = append(list, c)
	}
	return strings.Join(list, ", ")
}

// fieldTable is a row for each field. Structs that it names are added to parts.
func fieldTable(t reflect.Type, parts *[]reflect.Type) string {
	var b strings.Builder
	b.WriteString("| field | type | meaning |\n|---|---|---|\n")
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case f.Type == reflect.TypeFor[Head]():
			b.WriteString("| `schema` | string | Name and version of the schema of this object. |\n")
			continue
		case f.Anonymous:
			fmt.Fprintf(&b, "| … | | The fields of %s. |\n", word(f.Type, parts))
			continue
		}
		one, mark := fieldOf(f), ""
		kind := word(f.Type, parts)
		if one.optional {
			mark = "?"
		}
		if one.null {
			kind += " or null"
		}
		fmt.Fprintf(&b, "| `%s%s` | %s | %s |\n", one.name, mark, kind, one.doc)
	}
	return b.String()
}

// word names a type to a reader.
func word(t reflect.Type, parts *[]reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Time]():
		return "time"
	case reflect.TypeFor[Text]():
		return "string, or " + word(reflect.TypeFor[Bytes](), parts)
	case reflect.TypeFor[Document]():
		return "object"
	case reflect.TypeFor[[]byte]():
		return "base64"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return word(t.Elem(), parts)
	case reflect.Slice:
		return "list of " + word(t.Elem(), parts)
	case reflect.Map:
		return "object of " + word(t.Elem(), parts)
	case reflect.Struct:
		if !slices.Contains(*parts, t) {
			*parts = append(*parts, t)
		}
		return fmt.Sprintf("[%s](#%s)", t.Name(), anchor(t.Name()))
	}
	return shapeOf(t, nil).Type
}

// anchor is the link to a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
