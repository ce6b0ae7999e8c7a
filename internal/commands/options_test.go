package commands

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	r := &row{name: "x", options: "-a -b,--bee=text -o,--output=write -p,--preserve?text --pair=text+read -s,--same", style: gnu}
	tests := []struct{ args, options, operands string }{
		{"-a -b v x", "a b:v", "x"},
		{"-abv x", "a b:v", "x"},
		{"-ab v x", "a b:v", "x"},
		{"-b=v", "b:=v", ""},
		{"--bee v x", "bee:v", "x"},
		{"--bee=v x", "bee:v", "x"},
		{"--bee= x", "bee:", "x"},
		{"--be v", "bee:v", ""},
		{"--out v", "output:v", ""},
		{"-p x", "p", "x"},
		{"-pall x", "p:all", "x"},
		{"--preserve x", "preserve", "x"},
		{"--preserve=all", "preserve:all", ""},
		{"--pr x", "preserve", "x"},
		{"--p x", "p", "x"}, // ambiguous: taken for a flag
		{"--pair n v x", "pair:n pair:v", "x"},
		{"x -a y --bee v z", "a bee:v", "x y z"},
		{"-a -- -b v", "a", "-b v"},
		{"- -a", "a", "-"},
		{"-z x", "z", "x"},
		{"-z../y x", "z:../y", "x"},
		{"--unknown=../y x", "unknown:../y", "x"},
		{"--unknown y", "unknown", "y"},
		{"-b", "b", ""},
		{"--pair n", "pair:n pair", ""},
	}
	for _, tt := range tests {
		p := parse(append([]string{"x"}, strings.Fields(tt.args)...), r)
		var options []string
		for _, o := range p.options {
			s := strings.TrimLeft(o.at, "-")
			if it, ok := p.item(o.at, true); ok && len(s) > 1 {
				names := strings.Split(it.names, ",")
				s = strings.TrimLeft(names[len(names)-1], "-")
			}
			if o.has {
				s += ":" + o.value
			}
			options = append(options, s)
		}
		if got := strings.Join(options, " "); got != tt.options {
			t.Errorf("%s: options %q, want %q", tt.args, got, tt.options)
		}
		if got := strings.Join(p.operands, " "); got != tt.operands {
			t.Errorf("%s: operands %q, want %q", tt.args, got, tt.operands)
		}
	}
}

func TestParseStyles(t *testing.T) {
	stopping := &row{name: "x", options: "-a", style: stop}
	if p := parse([]string{"x", "-a", "y", "-b"}, stopping); !slices.Equal(p.operands, []string{"y", "-b"}) {
		t.Errorf("stop: %q", p.operands)
	}
	single := &row{name: "x", options: "-o=write -out=write -I=read -W=text", style: dash}
	p := parse([]string{"x", "-out", "a", "-o=b", "-Idir", "--out=c", "-unknown", "-Wall", "d"}, single)
	for _, want := range []string{"a", "b", "dir", "c", "all"} {
		if !slices.ContainsFunc(p.options, func(o option) bool { return o.value == want }) {
			t.Errorf("dash: no value %q", want)
		}
	}
	if !slices.Equal(p.operands, []string{"d"}) {
		t.Errorf("dash: operands %q", p.operands)
	}
	keys := &row{name: "x", options: "if=read", style: equals}
	p = parse([]string{"x", "if=a", "b=c"}, keys)
	if v, ok := p.given("if"); !ok || v.value != "a" || !slices.Equal(p.operands, []string{"b=c"}) {
		t.Errorf("equals: %v %q", p.options, p.operands)
	}
}
