package view

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestOpenAPI fails when the published description of the HTTP interface is not what the
// routes and structs say. With -update it writes it, for the documentation and for serve.
func TestOpenAPI(t *testing.T) {
	text := openAPI(t)
	current(t, "../serve/openapi.json", text)
	current(t, filepath.Join(docs, "openapi.json"), text) // a copy: archives and checkouts without links have it too
	defined, used := map[string]bool{}, regexp.MustCompile(`"#/components/schemas/([^"]+)"`).FindAllSubmatch(text, -1)
	var doc struct {
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for name := range doc.Components.Schemas {
		defined[name] = true
	}
	for _, m := range used {
		if !defined[string(m[1])] {
			t.Errorf("nothing defines %s", m[1])
		}
	}
	if bytes.Contains(text, []byte("$defs")) || len(used) < 20 {
		t.Errorf("%d references, or some that lead nowhere", len(used))
	}
}

type (
	anyMap  = map[string]any
	nameMap = map[string]anyMap
)

// openAPI is the description in version 3.1, whose schemas are JSON Schemas.
func openAPI(t *testing.T) []byte {
	t.Helper()
	var defs properties
	paths := map[string]nameMap{}
	failure := named(&Error{}, &defs)
	for _, r := range Routes() {
		one := anyMap{"summary": r.About, "operationId": operation(r), "responses": responses(r, failure, &defs)}
		if r.Scope != "" {
			one["security"] = []anyMap{{"token": []string{r.Scope}}}
		}
		if list := parameters(r); len(list) > 0 {
			one["parameters"] = list
		}
		if r.Body != nil {
			one["requestBody"] = anyMap{"required": true, "content": content("application/json", shapeOf(reflect.TypeOf(r.Body), &defs))}
		}
		if paths[r.Path] == nil {
			paths[r.Path] = nameMap{}
		}
		paths[r.Path][strings.ToLower(r.Method)] = one
	}
	raw, err := plain(anyMap{
		"openapi": "3.1.0",
		"info": anyMap{"title": "cordon serve", "version": "1",
			"description": "The interface of cordon serve, on a unix socket. Within a version, routes and fields are only added."},
		"paths": paths,
		"components": anyMap{"schemas": defs, "securitySchemes": anyMap{"token": anyMap{
			"type": "http", "scheme": "bearer", "description": "A token of cordon token new. Each route names the scope that it needs."}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.ReplaceAll(raw, []byte("#/$defs/"), []byte("#/components/schemas/"))
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	return append(b.Bytes(), '\n')
}

// named is a reference to an object, whose schema field has its name.
func named(o Object, defs *properties) *shape {
	ref := definition(reflect.TypeOf(o).Elem(), defs)
	name, err := nameOf(o)
	if err != nil {
		panic(err)
	}
	for _, d := range *defs {
		if d.name == reflect.TypeOf(o).Elem().Name() {
			d.shape.Properties[0].Const = name
		}
	}
	return ref
}

// operation is a name for a route: getWorkersDiff.
func operation(r Route) string {
	name := strings.ToLower(r.Method)
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.TrimSuffix(r.Path, ".json"), "/v1/"), "/") {
		part = strings.Trim(part, "{}")
		name += strings.ToUpper(part[:1]) + part[1:]
	}
	return name
}

func parameters(r Route) (list []anyMap) {
	for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(r.Path, -1) {
		list = append(list, anyMap{"name": m[1], "in": "path", "required": true, "schema": anyMap{"type": "string"}})
	}
	form := anyMap{"type": "integer", "minimum": 0}
	if r.Stream {
		form = anyMap{"type": "string", "pattern": `^[0-9]+(\.[0-9a-f]{64})?$`}
	}
	for _, p := range r.Query {
		list = append(list, anyMap{"name": p.Name, "in": "query", "description": p.About, "schema": form})
	}
	if r.Later {
		list = append(list, anyMap{"name": "Idempotency-Key", "in": "header", "schema": anyMap{"type": "string"},
			"description": "A word of the caller's. A request with the same word and body is not another decision, and gets the same answer."})
	}
	if r.Stream {
		list = append(list, anyMap{"name": "Last-Event-ID", "in": "header", "description": "The same as after, as a browser sends it.", "schema": form})
	}
	return list
}

func responses(r Route, failure *shape, defs *properties) nameMap {
	good := anyMap{"description": "Success."}
	switch {
	case r.Stream:
		good["description"] = "Server-sent events. The data of each is the object that is described here."
		good["content"] = content("text/event-stream", named(r.Answer, defs))
	case r.Answer != nil:
		good["content"] = content("application/json", named(r.Answer, defs))
	default:
		good["content"] = content("application/json", &shape{Type: "object"})
	}
	all := nameMap{strconv.Itoa(r.Status): good}
	if r.Later {
		all["202"] = anyMap{"description": "It is in the journal, and being carried out.", "content": good["content"]}
	}
	codes := append([]int{}, r.Fails...)
	if r.Scope != "" {
		codes = append(codes, 400, 401, 403, 500)
	}
	for _, code := range codes {
		all[strconv.Itoa(code)] = anyMap{"description": failures[code], "content": content("application/json", failure)}
	}
	return all
}

// failures say what a status means here.
var failures = map[int]string{
	400: "The request is not understood.",
	401: "There is no token, or it is not known.",
	403: "The token has not the scope, or the request comes from a page in a browser.",
	404: "There is no such worker or plan, or it has no such record.",
	409: "There is no such open question, or the worker is not as the decision says; stale says what has changed.",
	410: "The journal was repaired or replaced, or never had that event: begin anew.",
	413: "The request is too long.",
	415: "The body is not application/json.",
	422: "cordon refused, with the reason.",
	500: "The request failed, with the reason.",
}

func content(kind string, s *shape) anyMap { return anyMap{kind: anyMap{"schema": s}} }
