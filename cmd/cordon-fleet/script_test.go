package main

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/nats-io/nkeys"
	"github.com/rogpeppe/go-internal/testscript"

	"cordon/internal/fleet/protocol"
	"cordon/internal/testschema"
	"cordon/internal/testwait"
)

// The scripts tell what the operator of a fleet does, one story in each file. Home and nodes are real processes on
// machines of their own, which are directories below $WORK. A story begins at home, in a repository.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		RequireUniqueNames: true,
		Setup:              setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"asks":   inStory((*story).asks),
			"at":     inStory((*story).at),
			"await":  inStory((*story).await),
			"cordon": inStory((*story).cordon),
			"ends":   inStory((*story).ends),
			"events": inStory((*story).events),
			"exits":  inStory((*story).exits),
			"git":    inStory((*story).git),
			"home":   inStory((*story).home),
			"json":   inStory((*story).json),
			"node":   inStory((*story).node),
			"secret": inStory((*story).secret),
			"send":   inStory((*story).send),
			"set":    inStory((*story).set),
			"sh":     inStory((*story).sh),
			"start":  inStory((*story).start),
			"token":  inStory((*story).token),
			"until":  inStory((*story).until),
		},
	})
}

// besideCordon puts cordon-fleet beside cordon: this test program, which becomes it by a variable that cordon does not hand on.
var besideCordon = sync.OnceValue(func() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(programs, "cordon-fleet"), []byte("#!/bin/sh\nexec env "+asProgram+"=1 "+self+" \"$@\"\n"), 0o755)
})

// stagePolicy lets workers write below src, and lands what has the file src/done.
const stagePolicy = `version: 1
filesystem:
  write_roots: [src]
  deny_read: ["@default", secret]
acceptance: ["test -e src/done"]
`

// projectFiles are the files of a repository that stages work on: a large one, and one that workers must not see.
func projectFiles() map[string]string {
	large := make([]byte, 300_000)
	rand.Read(large)
	return map[string]string{
		"cordon.yaml": stagePolicy, "src/large": base64.StdEncoding.EncodeToString(large), "src/old": "old\n", "secret/key": "hidden\n",
	}
}

// project is a repository with one commit, which every story gets a copy of.
var project = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(programs, "project")
	for name, text := range projectFiles() {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			return "", err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"config", "user.name", "op"}, {"config", "user.email", "op@example.com"}, {"add", "."}, {"commit", "-qm", "begin"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, machine{dir: dir}.environ()
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("git %v: %w: %s", args, err, out)
		}
	}
	return dir, nil
})

// story is one script that runs.
type story struct {
	*testscript.TestScript
	work    string // the directory of all machines
	machine        // where the operator types
	started map[string]*started
}

// Helper makes a story a test that can wait.
func (s *story) Helper() {}

type storyKey struct{}

func setup(env *testscript.Env) error {
	from, err := project()
	if err := errors.Join(err, buildCordon(), besideCordon()); err != nil {
		return err
	}
	s := &story{work: env.WorkDir, started: map[string]*started{}}
	s.machine = s.machineOf("home")
	if err := os.CopyFS(s.in, os.DirFS(from)); err != nil {
		return err
	}
	env.Cd = s.in
	env.Vars = append(env.Vars, s.own()...)
	env.Values[storyKey{}] = s
	env.Defer(s.killAll)
	return nil
}

// inStory is a command of scripts that a story has.
func inStory(command func(s *story, neg bool, args []string)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		s := ts.Value(storyKey{}).(*story)
		s.TestScript = ts
		command(s, neg, args)
	}
}

// use ends a script with the usage of a command that it does not follow.
func (s *story) use(ok bool, usage string) {
	if !ok {
		s.Fatalf("usage: %s", usage)
	}
}

// machineOf is a machine by its name. The operator of the home works in its repository.
func (s *story) machineOf(name string) machine {
	m := machine{dir: filepath.Join(s.work, name)}
	m.in = m.dir
	if name == "home" {
		m.in = filepath.Join(m.dir, "repo")
	}
	return m
}

// at lets the operator type on another machine from here on: at one.
func (s *story) at(neg bool, args []string) {
	s.use(!neg && len(args) == 1, "at MACHINE")
	s.machine = s.machineOf(args[0])
	s.Check(os.MkdirAll(s.in, 0o755))
	s.Check(s.Chdir(s.in))
	for _, v := range s.own() {
		name, value, _ := strings.Cut(v, "=")
		s.Setenv(name, value)
	}
}

func (s *story) cordon(neg bool, args []string) { s.expect(neg, s.Exec("cordon", args...)) }
func (s *story) git(neg bool, args []string)    { s.expect(neg, s.Exec("git", args...)) }

// sh runs a shell line.
func (s *story) sh(neg bool, args []string) {
	s.expect(neg, s.Exec("sh", append([]string{"-c"}, args...)...))
}

func (s *story) expect(neg bool, err error) {
	if neg && err == nil {
		s.Fatalf("unexpected success")
	}
	if !neg {
		s.Check(err)
	}
}

// exits runs a command that must end with a certain code: exits 4 cordon run …
func (s *story) exits(neg bool, args []string) {
	s.use(!neg && len(args) > 1, "exits CODE COMMAND [ARG...]")
	err := s.Exec(args[1], args[2:]...)
	code := 0
	if exit, ended := errors.AsType[*exec.ExitError](err); ended {
		code = exit.ExitCode()
	} else {
		s.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		s.Fatalf("it ends with %d, not %s", code, args[0])
	}
}

// command is one that runs beside the script.
func (s *story) command(args []string) *exec.Cmd {
	cmd := exec.Command("env", args...) // it finds programs by the PATH of the machine
	cmd.Env, cmd.Dir = slices.Concat(os.Environ(), s.own()), s.in
	return cmd
}

// until runs a command again and again until what it prints matches, or does not: until '^one +ready' cordon fleet ls.
func (s *story) until(neg bool, args []string) {
	s.use(len(args) > 1, "[!] until REGEXP COMMAND [ARG...]")
	re := s.regexp(args[0])
	var out []byte
	var err error
	testwait.Until(s, strings.Join(args, " "), func() bool {
		out, err = s.command(args[1:]).Output()
		return err == nil && re.Match(out) != neg
	}, func() string { return fmt.Sprintf("%s%v", out, err) })
	fmt.Fprintf(s.Stdout(), "%s", out)
}

func (s *story) regexp(text string) *regexp.Regexp {
	re, err := regexp.Compile("(?m)" + text)
	s.Check(err)
	return re
}

// set sets a variable to the first group of what the last command printed: set ID '^(\S+) leased'.
func (s *story) set(neg bool, args []string) {
	s.use(!neg && len(args) == 2, "set NAME REGEXP")
	for _, stream := range []string{"stdout", "stderr"} {
		if m := s.regexp(args[1]).FindStringSubmatch(s.ReadFile(stream)); len(m) > 1 {
			s.Setenv(args[0], m[1])
			return
		}
	}
	s.Fatalf("the last command has not printed %s", args[1])
}

// json checks that the last command printed one JSON object of a schema, with certain values: json cordon.fleet/1 nodes.0.state=ready
func (s *story) json(neg bool, args []string) {
	s.use(!neg && len(args) > 0, "json SCHEMA [PATH=VALUE...]")
	text := s.ReadFile("stdout")
	object, err := testschema.Object(text)
	s.Check(err)
	schemas, err := testschema.Load("../../docs/schema")
	s.Check(err)
	s.Check(schemas.Validate([]byte(text)))
	s.Check(testschema.Check(object, append([]string{"schema=" + args[0]}, args[1:]...)))
}

// events checks how many events of a type the journal at home has, which is verified, and prints them: events 1 +fleet.returned worker=$ID
func (s *story) events(neg bool, args []string) {
	s.use(!neg && len(args) > 1, "events COUNT TYPE [PATH=VALUE...]")
	all, err := s.machineOf("home").journal()
	s.Check(err)
	var list bytes.Buffer
	count := 0
	for _, e := range all {
		text, err := json.Marshal(e)
		s.Check(err)
		object, err := testschema.Object(string(text))
		s.Check(err)
		if e.Type == args[1] && testschema.Check(object, args[2:]) == nil {
			count++
			fmt.Fprintf(&list, "%s\n", text)
		}
	}
	fmt.Fprint(s.Stdout(), &list)
	if strconv.Itoa(count) != args[0] {
		s.Fatalf("the journal has %d such events", count)
	}
}

// token takes the token that the last command printed: TOKEN is what is pasted, and SECRET the secret in it. With "forged" it
// names another certificate of the home's.
func (s *story) token(neg bool, args []string) {
	s.use(!neg && (len(args) == 0 || slices.Equal(args, []string{"forged"})), "token [forged]")
	words := strings.Fields(s.ReadFile("stdout"))
	if len(words) != 4 || strings.Join(words[:3], " ") != "cordon fleet node" {
		s.Fatalf("it is not a line that joins: %q", words)
	}
	t, err := protocol.ParseToken(words[3])
	s.Check(err)
	if len(args) == 1 {
		t.Cert = strings.Repeat("0", len(t.Cert))
	}
	s.Setenv("TOKEN", t.String())
	s.Setenv("SECRET", base64.StdEncoding.EncodeToString(t.Secret))
}

// secret reports whether one of some files has the secret of TOKEN, as it is or as JSON has it: ! secret state/cordon/*/journal.*
func (s *story) secret(neg bool, args []string) {
	s.use(len(args) == 1, "[!] secret PATTERN")
	t, err := protocol.ParseToken(s.Getenv("TOKEN"))
	s.Check(err)
	files, err := filepath.Glob(s.MkAbs(args[0]))
	if err != nil || len(files) == 0 {
		s.Fatalf("there are no such files: %v", err)
	}
	held := slices.ContainsFunc(files, func(file string) bool {
		text := s.ReadFile(file)
		return strings.Contains(text, string(t.Secret)) || strings.Contains(text, s.Getenv("SECRET"))
	})
	if held == neg {
		s.Fatalf("one of %v has the secret: %v", files, held)
	}
}

// asks asks the home for a stage that it does not have, as somebody who copied the key of a node, and checks what the home
// says: asks one.key no-stage
func (s *story) asks(neg bool, args []string) {
	s.use(!neg && len(args) == 2, "asks KEYFILE VERDICT")
	key, err := nkeys.FromSeed([]byte(s.ReadFile(args[0])))
	s.Check(err)
	a, err := question(s.Getenv("TOKEN"), key, noStage)
	s.Check(err)
	if string(a.Verdict) != args[1] {
		s.Fatalf("the home says %s", a.Verdict)
	}
}

// started is a command that goes on.
type started struct {
	*exec.Cmd
	log  string        // the file with what it prints
	read int           // how much of that was awaited
	done chan struct{} // closed when it has ended
}

// start starts a command on this machine that goes on, under a name: start home cordon fleet home --listen 127.0.0.1:0
func (s *story) start(neg bool, args []string) {
	s.use(!neg && len(args) > 1, "start NAME COMMAND [ARG...]")
	if old := s.started[args[0]]; old != nil {
		s.kill(old)
	}
	p := &started{Cmd: s.command(args[1:]), log: filepath.Join(s.work, args[0]+".log"), done: make(chan struct{})}
	out, err := os.Create(p.log)
	s.Check(err)
	defer out.Close()
	p.Stdout, p.Stderr = out, out
	s.Check(p.Start())
	s.started[args[0]] = p
	go func() {
		defer close(p.done)
		_ = p.Wait()
	}()
}

func (s *story) kill(p *started) {
	_ = p.Process.Kill()
	<-p.done
}

func (s *story) killAll() {
	for _, p := range s.started {
		s.kill(p)
	}
}

func (s *story) process(name string) *started {
	p := s.started[name]
	if p == nil {
		s.Fatalf("nothing was started as %s", name)
	}
	return p
}

// await waits until a command that was started prints a line, after those that were awaited before, and prints it: await one ready
func (s *story) await(neg bool, args []string) {
	s.use(!neg && len(args) == 2, "await NAME REGEXP")
	p, re := s.process(args[0]), s.regexp(".*"+args[1]+".*\n")
	testwait.Until(s, strings.Join(args, " "), func() bool {
		ended := false
		select {
		case <-p.done:
			ended = true
		default:
		}
		text := s.ReadFile(p.log)[p.read:]
		at := re.FindStringIndex(text)
		if at == nil {
			if ended {
				s.Fatalf("%s has ended without it:\n%s", args[0], text)
			}
			return false
		}
		p.read += at[1]
		fmt.Fprint(s.Stdout(), text[at[0]:at[1]])
		return true
	}, func() string { return s.ReadFile(p.log) })
}

// send sends a signal to a command that was started: send KILL one
func (s *story) send(neg bool, args []string) {
	signals := map[string]syscall.Signal{"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM}
	s.use(!neg && len(args) == 2 && signals[args[0]] != 0, "send KILL|TERM NAME")
	p := s.process(args[1])
	s.Check(p.Process.Signal(signals[args[0]]))
	if args[0] == "KILL" {
		<-p.done
	}
}

// ends waits until a command that was started has ended, and checks its code: ends one 0
func (s *story) ends(neg bool, args []string) {
	s.use(!neg && len(args) == 2, "ends NAME CODE")
	p := s.process(args[0])
	testwait.Until(s, args[0]+" ends", func() bool {
		select {
		case <-p.done:
			return true
		default:
			return false
		}
	}, func() string { return s.ReadFile(p.log) })
	if code := p.ProcessState.ExitCode(); strconv.Itoa(code) != args[1] {
		s.Fatalf("%s ends with %d:\n%s", args[0], code, s.ReadFile(p.log))
	}
}

// home starts the home of the fleet, and waits until nodes can reach it, at ADDRESS: home --lost 20s
func (s *story) home(neg bool, args []string) {
	s.use(!neg, "home [FLAG...]")
	s.at(false, []string{"home"})
	s.start(false, slices.Concat([]string{"home", "cordon", "fleet", "home", "--listen", ownLoopback()}, args))
	s.await(false, []string{"home", "home of fleet .* at "})
	at := s.regexp(`^home of fleet .* at \w+://(\S+)$`).FindStringSubmatch(s.ReadFile(s.started["home"].log))
	s.use(at != nil, "a home that prints its address")
	s.Setenv("ADDRESS", at[1])
}

// ownLoopback is where a home listens. A story that starts its home again at the same port has an address of its own, where
// the system has more than one for itself: on a shared one, another program can take the port in between.
func ownLoopback() string {
	if runtime.GOOS != "linux" {
		return "127.0.0.1:0"
	}
	own := make([]byte, 3)
	rand.Read(own)
	return fmt.Sprintf("127.%d.%d.%d:0", 1+own[0]%254, own[1], 1+own[2]%254)
}

// node lets a machine join the fleet, and waits until it is ready: node one
func (s *story) node(neg bool, args []string) {
	s.use(!neg && len(args) > 0, "node NAME [FLAG...]")
	s.at(false, []string{"home"})
	line, err := s.command([]string{"cordon", "fleet", "join"}).Output()
	s.Check(err)
	s.at(false, args[:1])
	s.start(false, slices.Concat(args[:1], strings.Fields(string(line)), []string{"--name", args[0]}, args[1:]))
	s.await(false, []string{args[0], "ready"})
	s.at(false, []string{"home"})
}
