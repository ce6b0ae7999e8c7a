package argtext

import "strings"

// DataPath returns the path in a value that is data, or says where data is.
func DataPath(kind, v string) (string, bool) {
	switch kind {
	case "at":
		return strings.CutPrefix(v, "@")
	case "field":
		_, v, _ = strings.Cut(v, "=")
		return strings.CutPrefix(v, "@")
	case "form":
		return formPath(v)
	case "urlencode": // @path, name@path, but name=data
		if i := strings.IndexAny(v, "@="); i >= 0 && v[i] == '@' {
			return v[i+1:], true
		}
	case "cookie": // a file, unless it is a cookie itself
		return v, !strings.Contains(v, "=")
	case "item": // name@path, name=@path, name:=@path
		i := strings.IndexByte(v, '@')
		if i == 0 { // all of what is sent
			return v[1:], true
		}
		if i <= 0 || strings.Contains(v[:i], "/") || strings.Contains(v[:i], ":") && v[i-1] != '=' {
			return "", false
		}
		return v[i+1:], true
	}
	return "", false
}

// formPath returns the path in a field of a form: name=@path;type=text/plain or
// name=<path. Several paths are joined with commas; the first one that is not
// plain tells.
func formPath(v string) (string, bool) {
	_, f, _ := strings.Cut(v, "=")
	if f == "" || (f[0] != '@' && f[0] != '<') {
		return "", false
	}
	f, _, _ = strings.Cut(f[1:], ";")
	f = strings.Trim(f, `"`)
	for _, p := range strings.Split(f, ",") {
		if StartsPath(p) {
			return p, true
		}
	}
	return f, true
}

// ImagePath returns the path of an image, which may have a format or an @ before
// it: png:../x.
func ImagePath(v string) string {
	v = strings.TrimPrefix(v, "@")
	if format, rest, ok := strings.Cut(v, ":"); ok && format != "" && !strings.ContainsAny(format, "/.") {
		return rest
	}
	return v
}

// MediaPath returns the path in a value that may name a protocol.
func MediaPath(v string) (string, bool) {
	if p, ok := strings.CutPrefix(v, "file://"); ok {
		return p, true
	}
	if strings.Contains(v, "://") {
		return "", false
	}
	v = strings.TrimPrefix(v, "concat:")
	v = strings.TrimPrefix(v, "file:")
	for _, p := range strings.Split(v, "|") {
		if StartsPath(p) {
			return p, true
		}
	}
	return v, true
}
