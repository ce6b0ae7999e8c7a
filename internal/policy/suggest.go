package policy

import "strings"

// suggest says what an unknown key was probably meant to be: a key of this
// section with nearly the same letters, else the section the key belongs in,
// else the keys there are.
func suggest(key string, here, all []field) string {
	if near := nearest(key, here); near != "" {
		return "did you mean " + near + "?"
	}
	for _, section := range all {
		for _, f := range section.fields {
			if f.key == key {
				return key + " belongs under " + section.key
			}
		}
	}
	var keys []string
	for _, f := range here {
		keys = append(keys, f.key)
	}
	return "the keys here are " + strings.Join(keys, ", ")
}

func nearest(key string, fields []field) string {
	var keys []string
	for _, f := range fields {
		keys = append(keys, f.key)
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

// suggestPreset says what an unknown preset was probably meant to be, else the
// presets there are.
func suggestPreset(entry string) string {
	if near := Nearest(entry[:min(len(entry), 64)], presetNames()); near != "" {
		return "did you mean " + near + "?"
	}
	return "the presets are " + strings.Join(presetNames(), ", ")
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
