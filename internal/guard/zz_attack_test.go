package guard

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

func TestAttack(t *testing.T) {
	file := os.Getenv("ATT")
	if file == "" {
		t.Skip()
	}
	b, _ := os.ReadFile(file)
	from := copied(t)
	if os.Getenv("ATTNEED") != "" {
		needWorld(t, from)
	}
	list := strings.Split(string(b), "\n%%\n")
	out := make([]string, len(list))
	var wg sync.WaitGroup
	sem := make(chan bool, 3)
	for i, c := range list {
		wg.Add(1)
		sem <- true
		go func() {
			defer func() { <-sem; wg.Done() }()
			c = strings.TrimSuffix(c, "\n")
			c = strings.ReplaceAll(c, "^M", "\r")
			s := worker(t)
			if os.Getenv("ATTOS") != "" {
				s.Files = nil
			}
			d := Decide(s, Call{Tool: "Bash", Shell: []string{c}})
			r, err := run(t.Context(), from, ownTree, c)
			if err != nil {
				out[i] = "ERR " + err.Error()
				return
			}
			tr := readTrace(r.trace, from, ownTree)
			var got []string
			for _, a := range tr.left() {
				got = append(got, a.String())
			}
			kind := "ok   "
			allowed := fmt.Sprint(d.Verdict) == "allow"
			if allowed && len(got) > 0 {
				kind = "HOLE "
			}
			if !allowed && len(got) == 0 {
				kind = "FALSE"
			}
			if allowed && len(got) == 0 {
				kind = "in   "
			}
			o := strings.TrimSpace(r.output)
			if len(o) > 160 {
				o = o[:160]
			}
			out[i] = fmt.Sprintf("%s %v %q\n        left=%v out=%q reason=%s", kind, d.Verdict, c, got, o, d.Reason)
		}()
	}
	wg.Wait()
	for _, o := range out {
		fmt.Println(o)
	}
}
