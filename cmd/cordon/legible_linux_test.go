package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/creack/pty"
)

// hostile is text that hides a part of itself on a terminal: by overwriting, concealing,
// moving up and erasing, turning around, and without any width.
const hostile = "hidden1 #\rfake\x1b[8mhidden2\x1b[28m\n\x1b[1A\x1b[2Khidden3 \u202ehidden4\u2066 \u200bhidden5 \u009b8mhidden6 \xffhidden7 " +
	"\x1b]0;title\x07\x1bP\nhidden8\n"

// acts is what of a text a terminal would obey or not show.
func acts(text string) string {
	text = regexp.MustCompile("\x1b\\[([0-79]|[1-3][0-79]|9[1-6]|;)*m").ReplaceAllString(text, "")        // colours without 8
	text = regexp.MustCompile("\r[a-z -]+[0-9]+ of [0-9]+ files(\r\x1b\\[K)?").ReplaceAllString(text, "") // cordon's own line
	text = regexp.MustCompile("\a\x1b\\]9;cordon: [[:print:]…]*\a").ReplaceAllString(text, "")            // cordon's own notification
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 || r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return strings.ToValidUTF8(text[max(0, i-20):min(len(text), i+20)], "?")
		}
	}
	return ""
}

// onTerminal runs a program on a terminal of 400 columns and returns what it showed.
func (s *site) onTerminal(program string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = s.repo, append(s.env, "TERM=xterm", "NO_COLOR=", "PAGER=cat", "GIT_PAGER=cat")
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 400})
	if err != nil {
		s.t.Fatal(err)
	}
	defer master.Close()
	var out strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := master.Read(buf)
		out.Write(buf[:n])
		if err != nil { // the program has ended
			break
		}
	}
	_ = cmd.Wait() // commands about quarantined workers end with other codes
	return out.String()
}

// What a worker wrote, printed and named acts on no terminal and hides nothing on it, in
// whatever command shows it.
func TestWorkerTextIsLegible(t *testing.T) {
	s := newSite(t)
	s.write("home/bin/hostile", hostile)
	script := `cp "$HOME/bin/hostile" src/a.txt; cat "$HOME/bin/hostile"; printf x >"$(printf 'src/n\033[8m\r\342\200\256\233x')"; git add -A; git commit -qF "$HOME/bin/hostile"; echo out >docs/out`
	if bad := acts(s.onTerminal("cat", s.place("home/bin/hostile"))); bad == "" {
		t.Fatal("the control: a terminal obeys nothing of the text")
	}
	shown := map[string]string{"run": s.onTerminal("cordon", "run", "--merge", "--write", "src", "--", "sh", "-c", script)}
	id := s.only().Worker
	for _, line := range []string{
		"diff ID", "diff --stat ID", "quarantine diff ID", "quarantine show ID", "quarantine ls", "logs ID", "show ID", "ls", "audit ID", "log", "log ID",
		"inbox", "checkout ID ../out", "diff --json ID", "logs --json ID", "show --json ID", "audit --json ID", "quarantine show --json ID", "log --json",
	} {
		shown[line] = s.onTerminal("cordon", strings.Fields(strings.ReplaceAll(line, "ID", id))...)
	}
	for line, text := range shown {
		if bad := acts(text); bad != "" {
			t.Errorf("cordon %s lets this through: %q", line, bad)
		}
		if strings.TrimSpace(text) == "" {
			t.Errorf("cordon %s showed nothing", line)
		}
	}
	for _, line := range []string{"run", "logs ID", "diff ID", "quarantine diff ID"} {
		for _, part := range []string{"hidden1", "fake", "hidden2", "hidden3", "hidden4", "hidden5", "hidden6", "hidden7", "hidden8"} {
			if !strings.Contains(shown[line], part) {
				t.Errorf("cordon %s does not show %s:\n%s", line, part, shown[line])
			}
		}
	}
	s.exactElsewhere(id)
}

// A NUL hides no script from a reviewer: git takes the file for binary, and a shell runs it.
func TestNULHidesNothing(t *testing.T) {
	s := newSite(t)
	const script = `cd src; for f in s.sh '-[x]* "q$.sh' é.sh; do printf '#!/bin/sh\necho \0hidden%s\n' "$f" >"$f"; done
printf '\0\0\001\n\0echo hiddenlate\n' >late.sh; printf '\0was binary, is not\n' >b.png; printf '\211PNG\r\n\032\n\0\0\0\001\002\003\377\376\200\201' >a.png`
	s.write("repo/src/b.png", "\x89PNG\r\n\x1a\n\x00\x00\x01\x02\x03\xff\xfe\x80\x81")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "a picture")
	s.cordon([]int{0}, "run", "--no-merge", "--", "sh", "-c", script)
	id := s.only().Worker
	s.cordon([]int{4}, "merge", id) // for the one name, and so that it has a result in a ref
	if plain := s.git("diff", "--no-color", "main", "refs/cordon/quarantine/"+id+"/result"); strings.Count(plain, "Binary files") != 6 {
		t.Errorf("the control: git shows the files itself:\n%s", plain)
	}
	for _, command := range [][]string{{"diff", id}, {"quarantine", "diff", id}} {
		shown := s.onTerminal("cordon", command...)
		for _, part := range []string{"echo ", "hiddens.sh", `hidden-[x]* "q$.sh`, "hiddené.sh", "hiddenlate", "was binary, is not"} {
			if !strings.Contains(shown, part) {
				t.Errorf("cordon %s does not show %s:\n%s", command[0], part, shown)
			}
		}
		if strings.Count(shown, "Binary files") != 1 || acts(shown) != "" {
			t.Errorf("cordon %s: a picture is shown, or more than a picture is not:\n%s", command[0], shown)
		}
	}
	apply := exec.Command("git", "apply", "--exclude=*.png", "-")
	apply.Dir, apply.Env, apply.Stdin = s.repo, s.env, strings.NewReader(s.cordon([]int{0}, "diff", id).out)
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s", err, out)
	}
	if b, err := os.ReadFile(s.place("repo/src/s.sh")); err != nil || string(b) != "#!/bin/sh\necho \x00hiddens.sh\n" {
		t.Errorf("the patch made %q, %v", b, err)
	}
}

// exactElsewhere wants a pipe to have every byte: as a patch that git applies, and in JSON.
func (s *site) exactElsewhere(id string) {
	s.t.Helper()
	o := s.cordon([]int{0}, "diff", id)
	apply := exec.Command("git", "apply", "-")
	apply.Dir, apply.Env, apply.Stdin = s.repo, s.env, strings.NewReader(o.out)
	if out, err := apply.CombinedOutput(); err != nil {
		s.t.Fatalf("git apply: %v\n%s", err, out)
	}
	if b, err := os.ReadFile(filepath.Join(s.repo, "src/a.txt")); err != nil || string(b) != hostile {
		s.t.Errorf("the patch made %q, %v", b, err)
	}
	var diff struct {
		Patch struct{ Base64 []byte }
	}
	s.parse(s.cordon([]int{0}, "diff", "--json", id).out, &diff)
	if string(diff.Patch.Base64) != o.out {
		s.t.Errorf("the patch in JSON is another one")
	}
	var logs struct {
		Text   string
		Base64 []byte `json:"text_base64"`
	}
	if err := json.Unmarshal([]byte(s.cordon([]int{0}, "logs", "--json", id).out), &logs); err != nil {
		s.t.Fatal(err)
	}
	if plain := s.cordon([]int{0}, "logs", id).out; string(logs.Base64) != plain || !strings.Contains(plain, hostile) {
		s.t.Errorf("the transcript is %q, and in JSON %q", plain, logs.Base64)
	}
}
