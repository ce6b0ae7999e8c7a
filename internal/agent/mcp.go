package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Server is an MCP server of the operator's: a program that the client starts, or an
// address that it speaks to. Both are in the cell, and the guard judges their tools
// like every other.
type Server struct {
	Name    string
	Command string // "": it is at URL
	Args    []string
	Env     map[string]string
	URL     string
	Headers map[string]string
}

// ParseServers reads {"mcpServers": {"name": {"command": "…", "args": […], "env": {…}}
// or {"url": "https://…", "headers": {…}}}}, the form that most clients read. Each
// client has members that no other knows, and what one does not know it drops without
// a word: here that is an error.
func ParseServers(data []byte) ([]Server, error) {
	file, err := members(data)
	if err != nil {
		return nil, err
	}
	if len(file) != 1 || file[0].key != "mcpServers" {
		return nil, errors.New(`the file must contain one object whose only key is "mcpServers", an object`)
	}
	list, err := members(file[0].text)
	if err != nil {
		return nil, fmt.Errorf("mcpServers: %w", err)
	}
	var servers []Server
	for _, m := range list {
		s, err := parseServer(m)
		if err != nil {
			return nil, fmt.Errorf("the server %.60q: %w", m.key, err)
		}
		servers = append(servers, s)
	}
	if len(servers) == 0 {
		return nil, errors.New("it has no server")
	}
	slices.SortFunc(servers, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	return servers, nil
}

// serverName leaves out what a client would change in the name of a tool, and two
// underscores, which end the name of a server there.
var serverName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$`) })

func parseServer(m member) (Server, error) {
	s := Server{Name: m.key}
	if !serverName().MatchString(s.Name) {
		return s, errors.New("a name is letters and digits, with single - or _ between them")
	}
	list, err := members(m.text)
	if err != nil {
		return s, err
	}
	kind := ""
	for _, m := range list {
		var err error
		switch m.key {
		case "type":
			kind, err = m.string()
		case "command":
			s.Command, err = m.string()
		case "args":
			s.Args, err = m.strings()
		case "env":
			s.Env, err = m.table()
		case "url":
			s.URL, err = m.string()
		case "headers":
			s.Headers, err = m.table()
		default:
			err = errors.New("is not known")
		}
		if err != nil {
			return s, fmt.Errorf("%.60q %w", m.key, err)
		}
	}
	return s, s.check(kind)
}

// check holds a server against what every client makes of it.
func (s Server) check(kind string) error {
	program, address := s.Command != "" || s.Args != nil || s.Env != nil, s.URL != "" || s.Headers != nil
	switch {
	case program && address:
		return errors.New(`it has "command", "args" and "env", or "url" and "headers"`)
	case address && kind != "" && kind != "http", !address && kind != "" && kind != "stdio":
		return fmt.Errorf(`"type" is %.60q; a command has "stdio", and a url has "http"`, kind)
	case address:
		return s.checkURL()
	case strings.TrimSpace(s.Command) == "":
		return errors.New(`it has no "command" and no "url"`)
	}
	for name := range s.Env {
		if name == "" || strings.Contains(name, "=") {
			return fmt.Errorf("%.60q is not the name of a variable", name)
		}
	}
	return nil
}

func (s Server) checkURL() error {
	u, err := url.Parse(s.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return errors.New(`"url" is not an http or https address`) // which may hold a secret
	}
	for name, v := range s.Headers {
		if name == "" || strings.ContainsAny(name, " :\r\n") || strings.ContainsAny(v, "\r\n") {
			return fmt.Errorf("%.60q is not a header", name)
		}
	}
	return nil
}

// member is one of an object.
type member struct {
	key  string
	text json.RawMessage
}

// members are those of an object, none of them twice: of two, clients disagree which
// one counts.
func members(data []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') || !json.Valid(data) {
		return nil, errors.New("it is not an object in JSON")
	}
	var list []member
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := member{key: token.(string)} // it is valid, and a key is nothing else
		if slices.ContainsFunc(list, func(other member) bool { return other.key == m.key }) {
			return nil, fmt.Errorf("%.60q is there twice", m.key)
		}
		if err := dec.Decode(&m.text); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

var errNotText = errors.New("is not text")

// string is a text without what no program can be given.
func (m member) string() (string, error) {
	var s *string
	if json.Unmarshal(m.text, &s) != nil || s == nil || strings.Contains(*s, "\x00") {
		return "", errNotText
	}
	return *s, nil
}

func (m member) strings() ([]string, error) {
	var items []json.RawMessage
	if json.Unmarshal(m.text, &items) != nil || items == nil {
		return nil, errors.New("is not a list")
	}
	list := []string{}
	for _, text := range items {
		s, err := member{text: text}.string()
		if err != nil {
			return nil, fmt.Errorf("has something that %w", err)
		}
		list = append(list, s)
	}
	return list, nil
}

func (m member) table() (map[string]string, error) {
	list, err := members(m.text)
	if err != nil {
		return nil, fmt.Errorf("is wrong: %w", err)
	}
	table := map[string]string{}
	for _, entry := range list {
		if strings.Contains(entry.key, "\x00") {
			return nil, errNotText
		}
		if table[entry.key], err = entry.string(); err != nil {
			return nil, fmt.Errorf("has %.60q, which %w", entry.key, err)
		}
	}
	return table, nil
}
