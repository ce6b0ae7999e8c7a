package inline

import (
	"sort"
	"strings"

	"cordon/internal/tool"
)

// rows are the functions of a language, sorted by name.
func rows(lang tool.Lang) []row {
	switch lang {
	case tool.Python:
		return pythonRows[:]
	case tool.JavaScript:
		return javaScriptRows[:]
	case tool.Ruby:
		return rubyRows[:]
	case tool.Perl:
		return perlRows[:]

	case tool.Awk:
		return awkRows[:]

	}
	return nil
}

// row finds what is known of a function by its name: the whole, what is behind
// each dot, the bare name, and at last as a method of anything.
func (m *machine) row(name string) (row, bool) {
	all := rows(m.lang)
	if len(name) > 256 {
		return row{}, false
	}
	if !strings.Contains(name, ".") {
		for _, s := range m.stars {
			if r, ok := exactly(all, s+"."+name); ok {
				return r, true
			}
		}
		if r, ok := exactly(all, "="+name); ok {
			return r, true
		}
	}
	for s := name; ; {
		if r, ok := exactly(all, s); ok {
			return r, true
		}
		i := strings.IndexByte(s, '.')
		if i < 0 {
			break
		}
		s = s[i+1:]
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return exactly(all, name[i:])
	}
	return row{}, false
}

func exactly(all []row, name string) (row, bool) {
	i := sort.Search(len(all), func(i int) bool { return all[i].name >= name })
	if i < len(all) && all[i].name == name {
		return all[i], true
	}
	return row{}, false
}
