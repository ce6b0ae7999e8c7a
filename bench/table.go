package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"
)

// measure is what is known of one thing: times, or bytes, and how often it failed.
type measure struct {
	times      []time.Duration
	bytes      int64
	failed, of int
}

func (m *measure) value() float64 {
	if len(m.times) > 0 {
		return float64(median(m.times))
	}
	return float64(m.bytes)
}

func (m *measure) String() string {
	text := short(m.value())
	if len(m.times) == 0 {
		text = fmt.Sprintf("%.2f MB", m.value()/1e6)
	}
	if m.of > 0 {
		text += fmt.Sprintf(", %d of %d failed", m.failed, m.of)
	}
	return text
}

// short is a time in three digits or so.
func short(ns float64) string {
	switch {
	case ns >= 10e9:
		return fmt.Sprintf("%.0f s", ns/1e9)
	case ns >= 1e9:
		return fmt.Sprintf("%.1f s", ns/1e9)
	case ns >= 100e6:
		return fmt.Sprintf("%.0f ms", ns/1e6)
	case ns >= 1e6:
		return fmt.Sprintf("%.1f ms", ns/1e6)
	}
	return fmt.Sprintf("%.2f ms", ns/1e6)
}

// figures are the measures of one repository, by the keys of rows.
type figures map[string]*measure

func (f figures) at(key string) *measure {
	if f[key] == nil {
		f[key] = &measure{}
	}
	return f[key]
}

func (f figures) add(key string, took time.Duration) {
	m := f.at(key)
	m.times = append(m.times, took)
}

// time measures an act.
func (f figures) time(key string, act func() error) error {
	began := time.Now()
	if err := act(); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	f.add(key, time.Since(began))
	return nil
}

// row is one line of the table: a measure, and the one that it is compared with.
type row struct{ what, key, against string }

// group is some rows that belong together.
type group struct {
	title string
	rows  []row
}

// cell says what a row holds for a repository.
func (f figures) cell(r row) string {
	m, ref := f[r.key], f[r.against]
	switch {
	case m == nil:
		return "–"
	case ref == nil || ref.value() == 0:
		return m.String()
	}
	return m.String() + " " + over(m.value()/ref.value())
}

// over is a ratio: ÷ for less than the other, × for more.
func over(r float64) string {
	switch {
	case r > 0 && r < 0.1:
		return fmt.Sprintf("(÷%.0f)", 1/r)
	case r > 0 && r < 0.995:
		return fmt.Sprintf("(÷%.1f)", 1/r)
	}
	return fmt.Sprintf("(×%.2f)", r)
}

// show prints what was measured, repositories side by side.
func show(groups []group, all []*project) {
	for _, g := range groups {
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
		line(w, g.title, all, func(p *project) string { return p.name })
		line(w, "---", all, func(*project) string { return "---" })
		for _, r := range g.rows {
			line(w, r.what, all, func(p *project) string { return p.figures.cell(r) })
		}
		w.Flush()
		fmt.Println()
	}
}

func line(w io.Writer, first string, all []*project, text func(*project) string) {
	cells := []string{first}
	for _, p := range all {
		cells = append(cells, text(p))
	}
	fmt.Fprintf(w, "| %s\t|\n", strings.Join(cells, "\t| "))
}
