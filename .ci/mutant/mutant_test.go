package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/testground"
)

const area = `=== one
breaks: 1: a promise
test: ./p TestOne/part
--- old
if a {
	b()
}
--- new

=== two
breaks: another
test: ./p TestTwo
hang
--- old
c()
--- new
d()
`

func TestParse(t *testing.T) {
	list, err := parse("area", area)
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	one, two := list[0], list[1]
	if one.old != "if a {\n\tb()\n}" || one.new != "" || one.hangs || one.test != (test{pkg: "./p", name: "TestOne/part"}) {
		t.Errorf("%+v", one)
	}
	if two.new != "d()" || !two.hangs || two.test != (test{pkg: "./p", name: "TestTwo"}) {
		t.Errorf("%+v", two)
	}
	for what, text := range map[string]string{
		"no test":       strings.Replace(area, "test: ./p TestOne/part\n", "", 1),
		"two tests":     strings.Replace(area, "hang\n", "test: ./p TestTwo\n", 1),
		"half a test":   strings.Replace(area, "./p TestTwo", "./p", 1),
		"no promise":    strings.Replace(area, "breaks: another\n", "", 1),
		"no change":     strings.Replace(area, "d()", "c()", 1),
		"an odd key":    strings.Replace(area, "hang", "hangs", 1),
		"text in front": "x\n" + area,
	} {
		if _, err := parse("area", text); err == nil || text == area {
			t.Errorf("%s is accepted", what)
		}
	}
}

// TestFind: the text is found once, wherever it is and however deep it is indented.
func TestFind(t *testing.T) {
	list, err := parse("area", area)
	if err != nil {
		t.Fatal(err)
	}
	one := list[0]
	for what, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"once":        {map[string]string{"/x.go": "\t\tif a {\n\t\t\tb()\n\t\t}\n"}, ""},
		"not at all":  {map[string]string{"/x.go": "if a { b() }\n"}, "is gone"},
		"in one file": {map[string]string{"/x.go": "if a {\n\tb()\n}\nif a {\n\tb()\n}\n"}, "2 times"},
		"in two":      {map[string]string{"/x.go": "if a {\n\tb()\n}\n", "/y.go": "if a {\n\tb()\n}\n"}, "2 times"},
	} {
		_, _, _, err := one.find(tree{files: c.files})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", what, err)
		}
	}
	in := tree{files: map[string]string{"/x.go": "before\n\tif a {\n\t\tb()\n\t}\nafter\n"}}
	scratch := t.TempDir()
	if _, err := one.write(in, scratch); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(scratch, "one.go")); err != nil || string(text) != "before\n\t\nafter\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestSized: a test has the size that is written for it, or for the test that it is a part of.
func TestSized(t *testing.T) {
	rows := []testground.Row{{Folder: "p", Test: "TestOne", Size: testground.Change}, {Folder: "p", Test: "TestTwo/part", Size: testground.Full}}
	for one, want := range map[test]testground.Size{
		{pkg: "./p", name: "TestOne"}: testground.Change, {pkg: "./p", name: "TestOne/part"}: testground.Change, {pkg: "./p", name: "TestOneMore"}: testground.Fast,
		{pkg: "./p", name: "TestTwo"}: testground.Fast, {pkg: "./p", name: "TestTwo/part"}: testground.Full, {pkg: "./q", name: "TestOne"}: testground.Fast,
	} {
		if got := one.sized(rows); got.size != want {
			t.Errorf("%s is %q", one, got.size)
		}
	}
}

// TestRead: only a test that failed by itself has caught something.
func TestRead(t *testing.T) {
	const pass, fail = `{"Action":"pass","Test":"TestOne"}`, `{"Action":"fail","Test":"TestOne/part"}` + "\n" + `{"Action":"fail","Test":"TestOne"}`
	for what, c := range map[string]struct {
		events string
		want   result
		by     string
	}{
		"it passed":       {pass, passed, ""},
		"it failed":       {fail, failed, "TestOne/part"},
		"another passed":  {`{"Action":"pass","Test":"TestTwo"}`, unknown, ""},
		"it was skipped":  {`{"Action":"skip","Test":"TestOne"}` + "\n" + `{"Action":"pass"}`, unknown, ""},
		"it is not built": {`{"Action":"build-fail","ImportPath":"p"}` + "\n" + `{"Action":"fail","Package":"p","FailedBuild":"p"}`, unknown, ""},
		"it took long":    {`{"Action":"output","Output":"panic: test timed out after 5m0s\n"}` + "\n" + fail, timedOut, "TestOne/part"},
		"nothing":         {"", unknown, ""},
	} {
		if got := read([]byte(c.events), test{pkg: "./p", name: "TestOne"}, ""); got.result != c.want || got.by != c.by {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

// TestSample: a seed is one sample, and another seed another.
func TestSample(t *testing.T) {
	var all []*mutant
	for range 60 {
		all = append(all, &mutant{})
	}
	draw := func(seed string) []*mutant {
		list, err := choose(all, nil, 5, seed)
		if err != nil || len(list) != 5 {
			t.Fatal(list, err)
		}
		return list
	}
	a, b, c := draw("a"), draw("a"), draw("c")
	same := func(x, y []*mutant) bool {
		for i := range x {
			if x[i] != y[i] {
				return false
			}
		}
		return true
	}
	if !same(a, b) || same(a, c) {
		t.Errorf("%v %v %v", a, b, c)
	}
	if _, err := choose(all, []string{"nobody"}, 0, ""); err == nil {
		t.Error("a name that is none was found")
	}
}
