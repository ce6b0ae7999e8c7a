package inline

import (
	"cordon/internal/commands"
	"cordon/internal/inline/lex"
)

// group evaluates what is in parentheses or brackets: one value, or a list.
func (m *machine) group(end int) value {
	loose := m.loose
	m.loose = 0
	defer func() { m.loose = loose }()
	square := m.op("[")
	m.i++
	m.comprehend(end)
	var items []value
	d := value{shape: dict}
	comma := false
	for m.i < end && m.tok().Kind != lex.End && m.step() {
		at := m.i
		spread := m.op("*") || m.op("...") || m.op("@")
		v := m.expr(levelAssign)
		switch {
		case m.skip("=>"):
			if v.shape == named {
				v = literal(v.name)
			}
			d.keys, d.items = append(d.keys, v), append(d.items, m.expr(levelChoice))
		case v.shape == dict && m.lang == commands.Perl && !square:
			d.keys, d.items = append(d.keys, v.keys...), append(d.items, v.items...)
		case spread && v.shape == list || v.shape == list && m.lang == commands.Perl && !square:
			items = append(items, v.items...)
		case at < m.i:
			items = append(items, v)
		}
		for m.i < end && (m.op(",") || m.op(";") || m.tok().Kind == lex.Line) {
			comma = true
			m.i++
		}
		if m.i <= at {
			m.i++
		}
	}
	m.i = max(m.i, end+1)
	return grouped(d, items, square || comma)
}

// grouped is what a group of entries and items comes to.
func grouped(d value, items []value, many bool) value {
	switch {
	case len(d.keys) > 8*maxAlts:
		return value{}
	case len(d.keys) > 0:
		for _, v := range items[:min(len(items), maxAlts)] {
			d.keys, d.items = append(d.keys, value{}), append(d.items, v)
		}
		return d
	case !many && len(items) == 1:
		items[0].from = ""
		return items[0]
	}
	return listOf(items)
}

// comprehend binds the variables of a comprehension before its element is
// evaluated, and then stands at the element again.
func (m *machine) comprehend(end int) {
	if m.lang != commands.Python {
		return
	}
	start, looked := m.i, 0
	defer func() { m.spend(looked) }()
	for i := start; i < end; i++ {
		t := m.at(i)
		looked++
		if t.Kind == lex.Op && t.N > i {
			i = t.N
			continue
		}
		if t.Kind == lex.Word && t.Text == "for" {
			m.i = i + 1
			names := m.targets()
			if m.word("in") || m.op("=") {
				m.i++
				m.bind(names, m.expr(levelCompare).elements())
			}
			i = max(i, m.i-1)
		}
	}
	m.i = start
}

// braces evaluates a dictionary, or a block as far as an expression holds one.
func (m *machine) braces(end int) value {
	loose := m.loose
	m.loose = 0
	defer func() { m.loose = loose }()
	m.i++
	d := value{shape: dict}
	m.comprehend(end)
	for m.i < end && m.tok().Kind != lex.End && m.step() {
		at := m.i
		m.entry(&d)
		for m.i < end && (m.op(",") || m.op(";") || m.tok().Kind == lex.Line) {
			m.i++
		}
		if m.i <= at {
			m.i++
		}
	}
	m.i = max(m.i, end+1)
	return d
}

// entry reads one entry of a dictionary: k: v, "k" => v, k = v, [k] = v, k, ...d.
func (m *machine) entry(d *value) {
	spread := m.op("**") || m.op("...")
	var k value
	if t := m.tok(); t.Kind == lex.Word && (m.at(m.i+1).Text == ":" || m.at(m.i+1).Text == "=>" || m.at(m.i+1).Text == "=") && m.at(m.i+1).Kind == lex.Op &&
		m.lang != commands.Python {
		k = literal(t.Text)
		m.i++
	} else {
		k = m.expr(levelAssign)
	}
	if spread && k.shape == dict {
		d.keys, d.items = append(d.keys, k.keys...), append(d.items, k.items...)
		return
	}
	v := k
	if m.skip(":") || m.skip("=>") || m.skip("=") {
		v = m.expr(levelChoice)
	} else if t := m.at(m.i - 1); t.Kind == lex.Word {
		k = literal(t.Text) // {a, b} of JavaScript
	}
	if len(d.keys) < 4*maxAlts {
		d.keys, d.items = append(d.keys, k), append(d.items, v)
	}
}
