package inline

import (
	"cordon/internal/commands"
	"cordon/internal/inline/lex"
)

// between evaluates what is between brackets, one element after another, and
// reports whether something separates them.
func (m *machine) between(end int, element func()) (separated bool) {
	loose := m.loose
	m.loose = 0
	defer func() { m.loose = loose }()
	m.i++
	m.comprehend(end)
	for m.i < end && m.tok().Kind != lex.End && m.step() {
		at := m.i
		element()
		for m.i < end && (m.op(",") || m.op(";") || m.tok().Kind == lex.Line) {
			separated = true
			m.i++
		}
		if m.i <= at {
			m.i++
		}
	}
	m.i = max(m.i, end+1)
	return separated
}

// group evaluates what is in parentheses or brackets: one value, or a list.
func (m *machine) group(end int) value {
	square := m.op("[")
	var items []value
	d := value{shape: dict}
	separated := m.between(end, func() {
		at := m.i
		spread := m.op("*") || m.op("...") || m.op("@") || m.lang == commands.Perl && !square
		v := m.expr(levelAssign)
		switch {
		case m.skip("=>"):
			if v.shape == named {
				v = literal(v.name)
			}
			d.keys, d.items = append(d.keys, v), append(d.items, m.expr(levelChoice))
		case v.shape == dict && m.lang == commands.Perl && !square:
			d.keys, d.items = append(d.keys, v.keys...), append(d.items, v.items...)
		case spread && v.shape == list:
			items = append(items, v.items...)
		case at < m.i:
			items = append(items, v)
		}
	})
	return grouped(d, items, square || separated)
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
			names := m.loopTargets()
			if m.word("in") || m.op("=") {
				m.i++
				m.bindNames(names, m.expr(levelCompare).elements())
			}
			i = max(i, m.i-1)
		}
	}
	m.i = start
}

// braces evaluates a dictionary, or a block as far as an expression holds one.
func (m *machine) braces(end int) value {
	d := value{shape: dict}
	m.between(end, func() { m.entry(&d) })
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
