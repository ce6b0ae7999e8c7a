package client

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// The words that names of members and tools are made of. A tool that is not known
// is judged by them: they say what its text is for.
var (
	pathWords = [...]string{
		"path", "paths", "file", "files", "filename", "filenames", "filepath", "dir", "dirs", "directory", "directories",
		"cwd", "workdir", "root", "roots", "folder", "folders", "uri", "uris", "target", "targets", "dest", "destination",
		"source", "src", "output", "out", "location", "workspace", "worktree", "repo", "repository", "pathname",
	}
	commandWords  = [...]string{"command", "commands", "cmd", "script", "code", "shell", "bash"}
	argumentWords = [...]string{"args", "arguments", "argv"}
	placeWords    = [...]string{"cwd", "workdir", "directory", "dir", "workingdirectory", "workingdir"}
	// proseWords end the names of what is only said or stored.
	proseWords = [...]string{
		"content", "contents", "text", "body", "message", "messages", "prompt", "description", "query", "title", "comment",
		"summary", "string", "str", "reason", "thought", "thoughts", "instructions", "note", "notes", "question", "answer",
		"subject", "regex", "pattern", "selector", "xpath", "url", "endpoint", "route", "type", "mode", "format", "encoding",
		"sql", "html", "markdown", "observations", "data", "language", "lang",
	}
	writingWords = [...]string{
		"write", "create", "edit", "delete", "remove", "move", "rename", "copy", "save", "update", "put", "append", "mkdir",
		"patch", "replace", "insert", "download", "export", "set", "add", "make", "modify", "apply", "truncate", "touch",
		"link", "symlink", "chmod", "unlink", "rm", "mv", "cp", "init", "clone", "checkout", "commit", "push", "store", "dump",
		"execute", "exec", "run", "generate", "extract", "unzip", "install", "upload", "sync", "overwrite", "rmdir",
	}
	writtenWords = [...]string{"dest", "destination", "target", "targets", "output", "out", "to", "save", "write", "new"}
)

// words splits a name at its signs and its capitals: filePath, file_path and
// file-path are the same two words. Of a very long one the end is looked at.
func words(name string) (list []string) {
	name = name[max(0, len(name)-maxName):]
	start := 0
	cut := func(end int) {
		if end > start {
			list = append(list, strings.ToLower(name[start:end]))
		}
	}
	lower := false
	for i, r := range name {
		sign := !unicode.IsLetter(r) && !unicode.IsDigit(r)
		if sign || lower && unicode.IsUpper(r) {
			cut(i)
			start = i
		}
		if sign {
			start = i + len(string(r))
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
	}
	cut(len(name))
	return list
}

func anyWord(name string, of []string) bool { return someWord(words(name), of) }

func lastWord(list []string, of []string) bool {
	return len(list) > 0 && slices.Contains(of, list[len(list)-1])
}

func someWord(list []string, of []string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return slices.Contains(of, w) })
}

// shaped reports whether a text is a path by its looks: absolute, in a home,
// going up, or a file URL. A page of text that begins with a slash is not.
func shaped(s string) bool {
	if s == "" || len(s) > 4096 || strings.ContainsAny(s, "\n\r") {
		return false
	}
	return s[0] == '/' || s == "~" || strings.HasPrefix(s, "~/") || s == ".." || strings.HasPrefix(s, "../") ||
		strings.Contains(s, "/../") || strings.HasSuffix(s, "/..") || fileURL(s) != ""
}

// fileURL is the path of a file URL, or "".
func fileURL(s string) string {
	if len(s) < 5 || !strings.EqualFold(s[:5], "file:") {
		return ""
	}
	rest := s[5:]
	if host, ok := strings.CutPrefix(rest, "//"); ok {
		i := strings.IndexByte(host, '/')
		if i < 0 {
			return s // no path: something else than it says
		}
		rest = host[i:]
	}
	if clean, err := url.PathUnescape(rest); err == nil {
		rest = clean
	}
	if rest == "" {
		return s
	}
	return rest
}

// remote reports whether a text is a URL of something that is no file here.
func remote(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	if !ok || scheme == "" || strings.EqualFold(scheme, "file") {
		return false
	}
	return !strings.ContainsFunc(scheme, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.')
	})
}
