package strictyaml

import "strings"

// suggest says what an unknown key was probably meant to be: a key of this
// section with nearly the same letters, else the section the key belongs in,
// else the keys there are.
func suggest[T any](key string, here, all []Field[T]) string {
	if near := nearest(key, here); near != "" {
		return "did you mean " + near + "?"
	}
	for _, section := range all {
		for _, f := range section.Fields {
			if f.Key == key {
				return key + " belongs under " + section.Key
			}
		}
	}
	var keys []string
	for _, f := range here {
		keys = append(keys, f.Key)
	}
	return "the keys here are " + strings.Join(keys, ", ")
}

func nearest[T any](key string, fields []Field[T]) string {
	var keys []string
	for _, f := range fields {
		keys = append(keys, f.Key)
	}
	return Nearest(key, keys)
}

// Nearest is the word with nearly the same letters, or "".
func Nearest(key string, words []string) string {
	best, found := 2+len(key)/4, ""
	for _, w := range words {
		if d := distance(strings.ToLower(key), w); d < best {
			best, found = d, w
		}
	}
	return found
}

// distance counts the single letters to insert, remove or exchange.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
