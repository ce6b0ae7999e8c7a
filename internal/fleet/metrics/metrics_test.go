package metrics

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	var b strings.Builder
	err := Write(&b, []Family{
		{"a_total", "Lines\nand \\.", Counter, []Sample{{nil, 3}, {[]string{"k", "a\"b\\c\nd", "l", "\xff"}, 0.5}}},
		Number(Gauge, "b_bytes", "None.", 12345678901),
	})
	want := "# HELP a_total Lines\\nand \\\\.\n# TYPE a_total counter\na_total 3\n" + `a_total{k="a\"b\\c\nd",l="` + "\uFFFD" + `"} 0.5` +
		"\n# HELP b_bytes None.\n# TYPE b_bytes gauge\nb_bytes 1.2345678901e+10\n"
	if err != nil || b.String() != want {
		t.Errorf("%v\n%s\nnot\n%s", err, b.String(), want)
	}
}

func TestServe(t *testing.T) {
	l, err := Listen("0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, func(context.Context) []Family { return Process() }) }()
	if !strings.HasPrefix(l.Addr().String(), "127.0.0.1:") {
		t.Errorf("it listens at %s", l.Addr())
	}
	for _, one := range []struct {
		method, path, host string
		want               int
	}{
		{"GET", "/metrics", "", 200}, // the control
		{"GET", "/metrics", "localhost:1", 200},
		{"GET", "/metrics", "[::1]:1", 200},
		{"GET", "/metrics", "evil.example:1", 403},
		{"GET", "/metrics", "127.0.0.1.evil.example", 403},
		{"POST", "/metrics", "", 405},
		{"GET", "/debug/pprof/", "", 404},
		{"GET", "/", "", 404},
	} {
		r, err := http.NewRequestWithContext(t.Context(), one.method, "http://"+l.Addr().String()+one.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = one.host
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != one.want || strings.Contains(string(text), "process_cpu_seconds_total ") != (one.want == 200) {
			t.Errorf("%+v: %d, %v\n%s", one, answer.StatusCode, err, text)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "x", "256.0.0.1:1", "127.0.0.1:99999", "a:b:c"} {
		if l, err := Listen(bad); err == nil {
			l.Close()
			t.Errorf("%q: it listens at %s", bad, l.Addr())
		}
	}
}
