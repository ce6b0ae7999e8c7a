package table

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	r := &Row{Name: "x", Options: "-a -b,--bee=text -o,--output=write -p,--preserve?text --pair=text+read -s,--same", Style: gnu}
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
		p := Parse(append([]string{"x"}, strings.Fields(tt.args)...), r)
		var options []string
		for _, o := range p.Options {
			s := strings.TrimLeft(o.At, "-")
			if it, ok := p.Item(o.At, true); ok && len(s) > 1 {
				names := strings.Split(it.names, ",")
				s = strings.TrimLeft(names[len(names)-1], "-")
			}
			if o.Has {
				s += ":" + o.Value
			}
			options = append(options, s)
		}
		if got := strings.Join(options, " "); got != tt.options {
			t.Errorf("%s: options %q, want %q", tt.args, got, tt.options)
		}
		if got := strings.Join(p.Operands, " "); got != tt.operands {
			t.Errorf("%s: operands %q, want %q", tt.args, got, tt.operands)
		}
	}
}

func TestParseStyles(t *testing.T) {
	stopping := &Row{Name: "x", Options: "-a", Style: Stop}
	if p := Parse([]string{"x", "-a", "y", "-b"}, stopping); !slices.Equal(p.Operands, []string{"y", "-b"}) {
		t.Errorf("stop: %q", p.Operands)
	}
	single := &Row{Name: "x", Options: "-o=write -out=write -I=read -W=text", Style: dash}
	p := Parse([]string{"x", "-out", "a", "-o=b", "-Idir", "--out=c", "-unknown", "-Wall", "d"}, single)
	for _, want := range []string{"a", "b", "dir", "c", "all"} {
		if !slices.ContainsFunc(p.Options, func(o Option) bool { return o.Value == want }) {
			t.Errorf("dash: no value %q", want)
		}
	}
	if !slices.Equal(p.Operands, []string{"d"}) {
		t.Errorf("dash: operands %q", p.Operands)
	}
	keys := &Row{Name: "x", Options: "if=read", Style: equals}
	p = Parse([]string{"x", "if=a", "b=c"}, keys)
	if v, ok := p.Given("if"); !ok || v.Value != "a" || !slices.Equal(p.Operands, []string{"b=c"}) {
		t.Errorf("equals: %v %q", p.Options, p.Operands)
	}
}
