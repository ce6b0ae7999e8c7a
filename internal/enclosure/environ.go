package enclosure

import (
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"cordon/internal/cell"
	"cordon/internal/lease"
	"cordon/internal/policy"
)

// workerConfig is git configuration given to the worker through its
// environment. It is convenience, not a boundary: a worker can unset it.
var workerConfig = [][2]string{
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
	{"core.hooksPath", "/dev/null"},
	// Without these, git reads ~/.config/git/ignore and attributes, of which the audit knows
	// nothing: a file that the worker does not see in its status would land.
	{"core.excludesFile", "/dev/null"},
	{"core.attributesFile", "/dev/null"},
	{"core.fsmonitor", "false"},
	{"safe.bareRepository", "explicit"},
	{"commit.gpgSign", "false"},
	{"tag.gpgSign", "false"},
}

// Environ makes a worker's environment from the operator's: what the table of
// variables holds and what the policy names, without anything that tells where
// the host repository is, and with what cordon sets itself.
func Environ(l lease.Lease, operator []string, host ...string) []string {
	env := map[string]string{}
	for _, kv := range operator {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			continue
		}
		if value, ok = passOn(l.Policy, name, value, host); ok {
			env[name] = value
		}
	}
	for name, value := range gitEnviron(l) {
		env[name] = value
	}
	env[cell.Mark] = string(l.ID)
	env["PWD"] = l.Worktree
	if path, ok := env["PATH"]; ok {
		env[PathVariable] = path
	}
	return flatten(env)
}

func flatten(env map[string]string) []string {
	list := make([]string, 0, len(env))
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	sort.Strings(list)
	return list
}

// passOn decides about one variable of the operator's. A name in secrets is an
// explicit wish, and its value is not looked at.
func passOn(p policy.Policy, name, value string, host []string) (string, bool) {
	if _, never := policy.Withheld(name); never {
		return "", false
	}
	if slices.Contains(p.Secrets, name) {
		return value, true
	}
	if !allowed(name) || holdsCredential(value) {
		return "", false
	}
	return withoutHost(value, host)
}

// NeedConsent lists the variables of a policy's secrets that the operator's environment
// has, and that a worker would not get without being named there.
func NeedConsent(p policy.Policy, operator []string) []string {
	var names []string
	for _, name := range p.Secrets {
		i := slices.IndexFunc(operator, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		if _, never := policy.Withheld(name); i < 0 || never {
			continue
		}
		if value := operator[i][len(name)+1:]; !allowed(name) || credentialLike().MatchString(value) {
			names = append(names, name)
		}
	}
	return names
}

// withoutHost drops the parts of a search list that lie in the host repository,
// and any other value that names it.
func withoutHost(value string, host []string) (string, bool) {
	if !namesHost(value, host) {
		return value, true
	}
	var kept []string
	for _, part := range strings.Split(value, ":") {
		if !namesHost(part, host) {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, ":"), len(kept) > 0
}

// namesHost reports whether a value holds the path of the host or of something in
// it. A sibling whose name begins like the host's is another place.
func namesHost(value string, host []string) bool {
	for _, h := range host {
		if h == "" || h == "/" {
			continue
		}
		for rest := value; ; {
			_, after, found := strings.Cut(rest, h)
			if !found {
				break
			}
			if after == "" || !partOfName(after[0]) {
				return true
			}
			rest = after
		}
	}
	return false
}

// partOfName reports whether a byte continues a file's name in a value that may
// be a list, a URL or an assignment.
func partOfName(c byte) bool {
	return c == '-' || c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}

func gitEnviron(l lease.Lease) map[string]string {
	who := Identity(l)
	env := map[string]string{
		"GIT_CONFIG_NOSYSTEM":     "1",
		"GIT_CONFIG_GLOBAL":       "/dev/null",
		"GIT_TERMINAL_PROMPT":     "0",
		"GIT_CEILING_DIRECTORIES": filepath.Dir(l.Worktree),
		"GIT_AUTHOR_NAME":         who.Name,
		"GIT_AUTHOR_EMAIL":        who.Email,
		// The committer is always the worker itself: it is how a commit that
		// turns up in the host is traced back to it.
		"GIT_COMMITTER_NAME":              "cordon worker " + string(l.ID),
		"GIT_COMMITTER_EMAIL":             CommitterEmail(l.ID),
		"GIT_DISCOVERY_ACROSS_FILESYSTEM": "0",
	}
	for i, kv := range workerConfig {
		env[fmt.Sprintf("GIT_CONFIG_KEY_%d", i)] = kv[0]
		env[fmt.Sprintf("GIT_CONFIG_VALUE_%d", i)] = kv[1]
	}
	env["GIT_CONFIG_COUNT"] = fmt.Sprint(len(workerConfig))
	if l.Policy.Git.Pin {
		env["GIT_DIR"] = filepath.Join(l.Worktree, ".git")
		env["GIT_WORK_TREE"] = l.Worktree
	}
	return env
}

// Identity is the author of the worker's commits and of the result.
func Identity(l lease.Lease) policy.Identity {
	who := l.Policy.Git.Identity
	if who.Name == "" {
		who.Name = "cordon worker " + string(l.ID)
	}
	if who.Email == "" {
		who.Email = CommitterEmail(l.ID)
	}
	return who
}

// CommitterEmail is the address that every commit of a worker carries.
func CommitterEmail(id lease.ID) string { return string(id) + "@cordon.invalid" }

// WithEnv sets variables over those that are there.
func WithEnv(env []string, set ...string) []string {
	for _, kv := range set {
		name, _, _ := strings.Cut(kv, "=")
		env = slices.DeleteFunc(slices.Clone(env), func(have string) bool { return strings.HasPrefix(have, name+"=") })
		env = append(env, kv)
	}
	return env
}

// Variable is the value that an environment gives to a name, or "".
func Variable(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}
