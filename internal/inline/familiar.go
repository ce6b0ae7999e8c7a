package inline

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// use is what a function that is in no table does with its arguments, as far as
// its name tells.
type use uint8

const (
	strange  use = iota // not known: a path among its arguments may be opened
	says                // prints, compares or stores them
	holds               // gives them back, or something made of them
	measures            // gives a number, a date or a hash
)

// unfamiliar is a call of something that is not in the tables: what looks like a
// path among its arguments is reported as weak unless the function is known to
// handle data, what is a function runs.
func (m *machine) unfamiliar(callee value, args []arg) value {
	if r := callee.recv; r != nil && r.from != "" && r.shape == text && strings.HasSuffix(callee.name, "!") {
		m.vars[r.from] = literal(mark.Any) // changed in place
	}
	if v, ok := m.sent(callee, args); ok {
		return v
	}
	if lastName(callee.name) == "partial" && len(args) > 1 && m.depth < maxDepth && m.step() {
		m.depth++
		defer func() { m.depth-- }()
		return m.call(args[0].v, args[1:])
	}
	given := m.callbacks(callee, args)
	if r := callee.recv; r != nil && len(r.of) > 0 && rereads(callee.name) {
		return value{shape: text, alts: []string{mark.Any}, of: r.of}
	}
	switch m.uses(callee, args) {
	case says:
		m.absorb(callee.recv, args)
		if lastName(callee.name) == "urlopen" {
			return value{of: []string{mark.Any}}
		}
	case holds:
		m.absorb(callee.recv, args)
		return m.held(callee, args, given)
	case measures:
		return number(mark.Atom)
	default:
		m.strange(callee, args)
	}
	if callee.recv != nil && callee.recv.shape == text && callee.recv.path {
		return *callee.recv
	}
	if callee.recv != nil {
		return value{hints: callee.recv.hints}
	}
	return value{}
}

// sent is File.send(:write, …) of Ruby and its like: a call by a name.
func (m *machine) sent(callee value, args []arg) (value, bool) {
	switch lastName(callee.name) {
	case "send", "public_send", "__send__", "method":
	default:
		return value{}, false
	}
	if m.lang != commands.Ruby || callee.recv == nil || len(args) == 0 || m.depth >= maxDepth || !m.step() {
		return value{}, false
	}
	s, ok := args[0].v.known()
	if !ok {
		if r := callee.recv; r.shape == named && hasModule(r.name) {
			m.rep.opaque("the code calls a function by a name that is not known")
		}
		return value{}, false
	}
	f := m.attr(*callee.recv, s)
	if lastName(callee.name) == "method" {
		return f, true
	}
	m.depth++
	defer func() { m.depth-- }()
	return m.call(f, args[1:]), true
}

// rereads reports whether a method of an open file gives its text.
func rereads(name string) bool {
	switch lastName(name) {
	case "read", "decode", "toString", "readlines", "strip", "getvalue", "__enter__":
		return true
	}
	return false
}

// held is what a function gives that hands on its arguments.
func (m *machine) held(callee value, args []arg, given value) value {
	v := value{}
	if given.shape == text {
		v = given
	}
	if callee.recv != nil {
		v = hinted(v, value{hints: callee.recv.hints})
	}
	for _, a := range args {
		v = hinted(v, a.v)
		if s, ok := a.v.known(); ok && (lastName(callee.name) == "loads" || lastName(callee.name) == "parse") {
			v = hinted(v, literals(firstN(strings.Split(s, `"`)))...)
		}
	}
	return v
}

// strange reports the paths that a function gets whose use of them is not known.
func (m *machine) strange(callee value, args []arg) {
	for _, a := range args {
		switch {
		case dataName(a.name):
		case a.v.shape == list && runsList(callee.name):
			for _, x := range a.v.items[:min(len(a.v.items), maxAlts)] {
				m.weak(x, callee.name)
			}
		case a.v.shape == dict && a.name == "":
			m.settings(a.v, callee.name)
		default:
			m.weak(a.v, callee.name)
		}
	}
	if callee.recv != nil && callee.recv.path {
		m.weak(*callee.recv, callee.name)
	}
}

// settings reports the entries of a dictionary that say where a function works.
func (m *machine) settings(d value, why string) {
	for i, k := range d.keys[:min(len(d.keys), maxAlts)] {
		if s, ok := k.known(); ok && pathName(s) {
			m.weak(d.items[i], why)
		}
	}
}

// pathName reports whether an option of that name holds a path.
func pathName(s string) bool {
	s = strings.ToLower(s)
	for _, part := range [...]string{"cwd", "dir", "root", "path", "file", "prefix", "dest", "output", "target", "entry", "config", "source", "src", "out"} {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}

// dataName reports whether an argument of that name is data.
func dataName(s string) bool {
	switch s {
	case "json", "params", "data", "headers", "body", "text", "message", "msg", "content", "help", "description", "title", "label", "default", "value", "values",
		"pattern", "regex", "replacement", "fields", "extra", "tags", "key", "sep", "end", "payload", "query", "epilog", "usage", "metavar", "prompt", "id", "url":
		return true
	}
	return false
}

// runsList reports whether a function is likely to run the list it gets.
func runsList(name string) bool {
	last := strings.ToLower(lastName(name))
	for _, part := range [...]string{"run", "main", "call", "exec", "spawn", "popen", "invoke", "command", "cmd", "process", "shell", "open", "read",
		"write", "remove", "delete", "copy", "glob"} {
		if strings.Contains(last, part) {
			return true
		}
	}
	return last == "sh"
}

func lastName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// uses tells what a function does with its arguments by its name.
func (m *machine) uses(callee value, args []arg) use {
	name := callee.name
	last := lastName(name)
	if m.addresses(last, args) {
		return strange
	}
	if says := speaks(name, last); says != strange {
		return says
	}
	switch last {
	case "execute", "executemany", "executescript", "exec_driver_sql", "query", "prepare":
		if len(args) > 0 && args[0].v.shape == text && !pathLike(firstText(args[0].v)) {
			for _, s := range args[0].v.alts {
				sqlText(m.rep, s)
			}
			return says
		}
	}
	if u := pureName(last); u != strange {
		return u
	}
	if contains(m.classes, name) && m.find("__init__") == nil && m.find("constructor") == nil && m.find("initialize") == nil {
		return holds // a record
	}
	if callee.recv != nil {
		if u := dataMethod(last); u != strange {
			return u
		}
	}
	return pureModule(name, last)
}

// addresses reports whether a function that fetches is given a file.
func (m *machine) addresses(last string, args []arg) bool {
	switch last {
	case "urlopen", "fetch", "Request", "URL", "get", "open_uri", "parse":
		for _, v := range values(args) {
			if _, ok := fileURL(firstText(v)); ok && v.shape == text {
				return true
			}
		}
	}
	return false
}

// speaks reports whether a function only says its arguments, or asks about text.
func speaks(name, last string) use {
	if strings.HasSuffix(last, "Error") || strings.HasSuffix(last, "Exception") || strings.HasPrefix(last, "assert") || strings.HasPrefix(last, "print") {
		return says
	}
	switch head, _, _ := strings.Cut(name, "."); head {
	case "console", "logging", "logger", "log", "re", "Regexp", "RegExp", "assert", "unittest", "expect", "urllib", "textwrap", "warnings", "click",
		"typer", "STDERR", "STDOUT", "$stderr", "$stdout", "Assertions", "preg_match":
		if head == "textwrap" {
			return holds
		}
		return says
	}
	switch last {
	case "puts", "p", "pp", "echo", "warn", "die", "fail", "say", "info", "debug", "error", "warning", "critical", "exception", "message", "exit", "alert", "skip",
		"includes", "startsWith", "endsWith", "startswith", "endswith", "find", "match", "search", "test", "include?", "start_with?", "end_with?",
		"sub", "gsub", "subn", "findall", "finditer", "fullmatch", "compile", "replaceAll", "removeprefix", "removesuffix",
		"write", "writelines", "add_argument", "set_defaults", "isinstance", "bool", "stopifnot", "dumps", "stringify", "json_encode", "str_contains",
		"str_starts_with",
		"equal", "strictEqual", "deepEqual", "notEqual", "toBe", "toEqual", "toContain", "toMatch", "it", "describe", "ok", "is", "like", "grepl",
		"regmatches", "fetch", "urlopen", "Request", "request",
		"gsub!", "sub!", "tr", "replace", "dialog", "display", "notification", "delete_prefix", "preg_replace", "preg_split", "str_replace", "strstr",
		"split", "partition", "rpartition", "lstrip", "rstrip", "strip", "ltrim", "rtrim", "gmatch",
		"writerow", "writerows", "writeheader", "pprint", "pformat", "print_r", "var_dump", "trace", "log", "emit", "publish", "post", "put", "patch",
		"route", "substr", "issubclass", "hasattr", "callable", "Fatal", "Fatalf", "Printf", "Println":
		return says
	}
	return strange
}

// pureName are functions that touch nothing, whatever module they are of.
func pureName(last string) use {
	switch last {
	case "len", "length", "strlen", "mb_strlen", "sizeof", "ord", "nchar", "count", "index", "indexOf", "lastIndexOf", "rfind", "rindex", "strpos",
		"hash", "id", "int", "Integer", "parseInt", "Number", "float", "round", "floor", "abs", "sum", "any", "all",
		"md5", "sha1", "sha256", "sha512", "crc32", "adler32", "hexdigest", "digest", "uuid4", "uuid1", "uuid5", "randomUUID", "now", "time", "time_ns",
		"today", "utcnow", "systime", "rand", "srand", "randint", "randrange", "token_hex", "getpid", "monotonic", "perf_counter", "timestamp", "range",
		"uniqid", "bit_length", "fnmatch", "fnmatchcase", "isabs", "is_absolute", "isAbsolute", "absolute?", "toFixed", "localeCompare", "compare",
		"toordinal", "weekday", "bitand", "mktime", "levenshtein", "ratio", "hrtime", "uptime", "cpu_count", "getuid":
		return measures
	case "loads", "parse", "max", "min", "next", "iter", "filter", "reduce", "deepcopy", "copy", "repr", "ascii", "type", "sorted", "reversed", "zip",
		"enumerate", "dict", "defaultdict", "OrderedDict", "Counter", "namedtuple", "SimpleNamespace", "chain", "product", "permutations", "partial",
		"itemgetter", "attrgetter",
		"Map", "Set", "WeakMap", "Date", "RegExp", "URLSearchParams", "Headers", "Response", "TextEncoder", "TextDecoder", "Blob", "FormData", "Boolean",
		"Symbol", "Promise", "Proxy", "structuredClone", "encodeURIComponent", "decodeURIComponent", "encodeURI", "escape", "unescape",
		"b64encode", "btoa", "encode_base64", "base64_encode", "urlencode", "quote_plus", "Dumper", "ucfirst", "lcfirst", "uc", "lc", "toupper",
		"tolower", "quotemeta", "wantarray", "scalar", "keys", "values", "each", "unique", "head", "tail", "rev", "nlargest", "nsmallest",
		"array_merge", "array_map", "array_filter", "array_keys", "array_values", "in_array", "array_unique", "htmlspecialchars", "ucwords",
		"var_export", "serialize", "select", "unpack", "math", "cycle", "Struct", "OpenStruct", "Hash", "Template", "relpath", "splitext", "splitdrive",
		"commonpath", "commonprefix", "normcase", "parts", "indent", "dedent", "fill", "wrap", "shorten":
		return holds
	}
	return strange
}

// dataMethod are methods that keep data or give it back.
func dataMethod(last string) use {
	switch last {
	case "update", "setdefault", "set", "setItem", "add", "append", "appendChild", "extend", "insert", "push", "unshift", "appendleft", "store",
		"assign", "merge", "merge!", "put", "prepend", "add_row", "add_column", "setAttribute", "set_option", "discard", "fromkeys", "push_back",
		"write_row", "append_row",
		"get", "getItem", "has", "pop", "fetch", "key?", "has_key?", "value?", "dig", "getAttribute", "findtext", "contains", "difference", "union",
		"intersection", "isdisjoint", "issubset", "substitute", "safe_substitute", "format_map", "translate", "ljust", "rjust", "center", "zfill",
		"padStart", "padEnd", "expandtabs", "swapcase", "title", "capitalize", "casefold", "at", "concat", "fill", "then", "catch", "finally",
		"strftime", "isoformat", "most_common", "elements", "subtract", "render", "replaceWith", "querySelector", "set_text", "setText", "sprintf",
		"values_at", "zip", "with_index", "inject", "reduce", "fold", "each_with_object", "group_by", "groupby", "sort_by", "max_by", "min_by",
		"partition", "toMatchObject", "is_relative_to", "send", "json", "status", "header", "reply", "text", "html":
		return holds
	}
	return strange
}

// pureModule are modules whose functions take data, but for those that by their
// name take a file.
func pureModule(name, last string) use {
	head, _, dotted := strings.Cut(name, ".")
	if !dotted {
		return strange
	}
	for _, part := range [...]string{"file", "File", "open", "Open", "path", "Path", "dir", "Dir", "exec", "system", "spawn", "fork"} {
		if strings.Contains(last, part) {
			return strange
		}
	}
	switch head {
	case "hashlib", "hmac", "zlib", "math", "statistics", "random", "uuid", "time", "secrets", "Math", "platform":
		return measures
	case "json", "yaml", "csv", "difflib", "fnmatch", "collections", "pprint", "string", "base64", "itertools", "functools", "operator", "copy",
		"html", "ast", "struct", "datetime", "tomllib", "tomli_w", "tomlkit", "requests", "httpx", "typing", "dataclasses", "enum", "ipaddress",
		"unicodedata", "bisect", "heapq", "argparse", "rich", "pickle", "binascii", "decimal", "fractions", "inspect", "tabulate", "jsonschema",
		"JSON", "Object", "Number", "String", "Array", "Intl", "util", "url", "querystring", "axios", "Reflect", "Date", "Promise", "lodash", "_",
		"semver", "chalk", "Base64", "Digest", "Time", "URI", "Set", "Comparable", "List", "Data", "Scalar", "table", "string_format", "utf8", "stringr", "jsonlite":
		if head == "Digest" {
			return measures
		}
		if head == "Reflect" {
			return strange
		}
		return holds
	}
	return strange
}
