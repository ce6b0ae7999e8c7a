package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"cordon/internal/testwait"
)

// The acts of the probe that take time, or many connections.

// resolved is an address for a name, so that what is opened often is asked for once.
func resolved(at string) (string, error) {
	to, err := net.ResolveTCPAddr("tcp4", at)
	if err != nil {
		return "", err
	}
	return to.String(), nil
}

// loris opens connections that say one byte, and asks for something else meanwhile.
func loris(a []string) (string, error) {
	return beside(a, func(c net.Conn) error { _, err := io.WriteString(c, "G"); return err })
}

// keeping opens connections that are answered and kept, and asks for something else meanwhile. Connections that say nothing
// would be ended after a while.
func keeping(a []string) (string, error) {
	return beside(a, func(c net.Conn) error {
		if _, err := fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", a[3]); err != nil {
			return err
		}
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	})
}

// beside opens connections, begins each, and asks for something else while they are open.
func beside(a []string, begin func(net.Conn) error) (string, error) {
	n, err := strconv.Atoi(a[1])
	if err != nil {
		return "", err
	}
	to, err := resolved(a[0])
	if err != nil {
		return "", err
	}
	for range n {
		c, err := dial(to)
		if err != nil {
			return "", err
		}
		defer c.Close()
		if err := begin(c); err != nil {
			return "", err
		}
	}
	return tcp(a[2], []byte(plainRequest(a[3])), false)
}

// flood asks for names as fast as it can and counts what is answered.
func flood(a []string) (string, error) {
	n, err := strconv.Atoi(a[1])
	if err != nil {
		return "", err
	}
	c, err := net.Dial("udp", a[0])
	if err != nil {
		return "", err
	}
	defer c.Close()
	for i := range n {
		q, err := question(strings.ReplaceAll(a[2], "#", strconv.Itoa(i)), "A")
		if err != nil {
			return "", err
		}
		if _, err := c.Write(q); err != nil {
			return "", err
		}
	}
	answered := map[string]int{}
	b := make([]byte, 4096)
	for range n { // those that the kernel dropped are waited for once: for longer than a busy machine keeps cordon from answering
		if err := c.SetReadDeadline(time.Now().Add(patience / 2)); err != nil {
			return "", err
		}
		size, err := c.Read(b)
		if err != nil {
			break
		}
		text, err := told(b[:size])
		if err != nil {
			return "", err
		}
		code, _, _ := strings.Cut(text, " ")
		answered[code]++
	}
	return fmt.Sprint(answered), nil
}

// outlive goes on when what was kept before for a time is too old. That time is all that ends it, and nothing else shows that it has ended.
func outlive(a []string) (string, error) {
	d, err := time.ParseDuration(a[0])
	if err != nil {
		return "", err
	}
	testwait.Pass(context.Background(), d)
	return "", nil
}

// until does an act again and again until what comes of it holds a text.
func until(a []string) (text string, err error) {
	do := repertoire()[a[1]]
	testwait.Until(acting{}, strings.Join(a[1:], " ")+" sees "+a[0], func() bool {
		text, err = do(a[2:])
		return strings.Contains(text, a[0])
	}, func() string { return fmt.Sprintf("%s %v", text, err) })
	return text, err
}

// upgradeAct asks for another protocol and speaks it.
func upgradeAct(a []string) (string, error) {
	c, err := dial(a[0])
	if err != nil {
		return "", err
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "GET /upgrade HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\n", a[1]); err != nil {
		return "", err
	}
	r := bufio.NewReader(c)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return "", err
	}
	text := strconv.Itoa(resp.StatusCode)
	for _, line := range []string{"one", "two"} {
		if _, err := fmt.Fprintln(c, line); err != nil {
			return text, err
		}
		answer, err := r.ReadString('\n')
		text += " " + answer
		if err != nil {
			return text, err
		}
	}
	return text, nil
}

// hold listens, says so to the control server, and serves until that has been told
// by somebody else that it may end.
func hold(a []string) (string, error) {
	l, err := net.Listen("tcp", a[0])
	if err != nil {
		return "", err
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "hello from another cell")
			c.Close()
		}
	}()
	mine, err := tcp(strings.Replace(a[0], "0.0.0.0", "127.0.0.1", 1), nil, false)
	if err != nil {
		return mine, err
	}
	if _, err := get([]string{"http://control.example.com/ready"}); err != nil {
		return "", err
	}
	testwait.Until(acting{}, "somebody says that it is over", func() bool {
		var text string
		text, err = get([]string{"http://control.example.com/over"})
		return err != nil || strings.Contains(text, "it is over")
	})
	return mine, err
}

// many opens connections, some at once, each asking for / and all to be answered.
func many(a []string) (string, error) {
	total, err := strconv.Atoi(a[1])
	if err != nil {
		return "", err
	}
	at, err := strconv.Atoi(a[2])
	if err != nil {
		return "", err
	}
	to, err := resolved(a[0])
	if err != nil {
		return "", err
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	good, bad := 0, map[string]int{}
	turns := make(chan struct{}, at)
	for range total {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			text, err := tcp(to, []byte(plainRequest(a[3])), false)
			mu.Lock()
			defer mu.Unlock()
			if err == nil && strings.Contains(text, "hello from") {
				good++
				return
			}
			bad[summary(text, err)]++
		})
	}
	wg.Wait()
	return fmt.Sprintf("%d good %v", good, bad), nil
}

func summary(text string, err error) string {
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			return op.Err.Error()
		}
		return err.Error()
	}
	line, _, _ := strings.Cut(text, "\r\n")
	return line
}

// often resolves a name again and again, as programs do that keep nothing, and
// counts what comes of it.
func often(a []string) (string, error) {
	n, err := strconv.Atoi(a[1])
	if err != nil {
		return "", err
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	got := map[string]int{}
	turns := make(chan struct{}, 16)
	for range n {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			text, err := lookup(a)
			mu.Lock()
			defer mu.Unlock()
			got[summary(text, err)]++
		})
	}
	wg.Wait()
	return fmt.Sprint(got), nil
}
