// Package metrics writes the numbers of a home or a node in the text format of Prometheus, and
// serves them over HTTP.
//
// It refuses to be reached from other machines unless the operator names an address that they
// reach, to answer anything but GET /metrics, and to answer a page in a browser that reached a
// loopback address under another name. Numbers hold no secret, but the names of nodes.
package metrics

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Type is what kind of number a family has.
type Type string

// The types.
const (
	Gauge   Type = "gauge"
	Counter Type = "counter"
)

// Family is one metric with all its samples.
type Family struct {
	Name, Help string
	Type       Type
	Samples    []Sample
}

// Sample is one number. Labels are pairs: name, value, name, value.
type Sample struct {
	Labels []string
	Value  float64
}

// Number is a family with one sample.
func Number(t Type, name, help string, value float64, labels ...string) Family {
	return Family{name, help, t, []Sample{{labels, value}}}
}

// Pair is a family with two samples that differ in one label.
func Pair(t Type, name, help, label, first string, one float64, second string, two float64) Family {
	return Family{name, help, t, []Sample{{[]string{label, first}, one}, {[]string{label, second}, two}}}
}

// ContentType is that of what Write writes.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Write writes families in their order.
func Write(to io.Writer, families []Family) error {
	w := bufio.NewWriter(to)
	for _, f := range families {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", f.Name, helpText.Replace(f.Help), f.Name, f.Type)
		for _, s := range f.Samples {
			fmt.Fprintf(w, "%s%s %s\n", f.Name, labels(s.Labels), strconv.FormatFloat(s.Value, 'g', -1, 64))
		}
	}
	return w.Flush()
}

var (
	helpText   = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelValue = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

func labels(pairs []string) string {
	if len(pairs) == 0 {
		return ""
	}
	var all []string
	for i := 0; i+1 < len(pairs); i += 2 {
		value := strings.ToValidUTF8(pairs[i+1], "\uFFFD")
		all = append(all, pairs[i]+`="`+labelValue.Replace(value)+`"`)
	}
	return "{" + strings.Join(all, ",") + "}"
}
