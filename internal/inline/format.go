package inline

import (
	"strconv"
	"strings"

	"cordon/internal/mark"
)

// format puts values where a text has %s and its like.
func format(v value, args []value) value {
	if v.shape != text {
		return literal(mark.Any)
	}
	out := literal("")
	s, n := firstText(v), 0
	if len(v.alts) > 1 {
		return literal(mark.Any)
	}
	for i := 0; i < len(s); {
		j := strings.IndexByte(s[i:], '%')
		if j < 0 || n > 8*maxAlts {
			return concat(out, literal(s[i:]))
		}
		out = concat(out, literal(s[i:i+j]))
		i += j + 1
		if i < len(s) && s[i] == '%' {
			out = concat(out, literal("%"))
			i++
			continue
		}
		for i < len(s) && strings.IndexByte("0123456789.-+ #", s[i]) >= 0 {
			i++
		}
		if i < len(s) && s[i] == '(' {
			i += max(1, strings.IndexByte(s[i:], ')')+1)
		}
		w := literal(mark.Any)
		if i < len(s) && strings.IndexByte("diuxXof", s[i]) >= 0 {
			w = literal(mark.Atom)
		} else if n < len(args) {
			w = asText(args[n])
		}
		i = min(i+1, len(s))
		out = concat(out, w)
		n++
	}
	return out
}

// formatBraces puts values where a text has {}, {0} or {name}.
func formatBraces(v value, args []arg) value {
	s := firstText(v)
	if v.shape != text || len(v.alts) > 1 {
		return literal(mark.Any)
	}
	out, n := literal(""), 0
	for n <= 8*maxAlts {
		before, rest, found := strings.Cut(s, "{")
		out = concat(out, literal(before))
		if !found {
			break
		}
		key, after, _ := strings.Cut(rest, "}")
		s = after
		key, _, _ = strings.Cut(key, ":")
		w, ok := value{}, false
		if i, err := strconv.Atoi(key); err == nil {
			w, ok = nthArg(args, i)
		} else if key == "" {
			w, ok = nthArg(args, n)
		} else {
			w, ok = nthArg(args, 1<<20, key)
		}
		n++
		if !ok {
			w = value{}
		}
		out = concat(out, asText(w))
	}
	return out
}
