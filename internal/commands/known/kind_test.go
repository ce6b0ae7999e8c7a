package known

import (
	"strings"
	"testing"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
)

func TestKindAt(t *testing.T) {
	tests := []struct {
		kinds string
		n     int
		want  string
	}{
		{"read* write", 3, "read read write"},
		{"read* write", 1, "write"},
		{"text read*", 3, "text read read"},
		{"text read*", 1, "text"},
		{"read write", 3, "read write loose"},
		{"a b* c d", 6, "a b b b c d"},
		{"a b* c d", 2, "a d"},
	}
	for _, tt := range tests {
		var got []string
		for i := range tt.n {
			got = append(got, kindAt(tt.kinds, i, tt.n))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%q of %d: %q, want %q", tt.kinds, tt.n, s, tt.want)
		}
	}
}

func FuzzOf(f *testing.F) {
	for _, s := range []string{"cp -t ../d a", "tar xfC a b", "printf %s%d a", "test ! ( -f x )", "zip -TT", "curl -K - -F a=@", "7z", "ar", "ln -s", "cmake -E", "xxd -r -p", "tr [:x:] a-", "cut -f", "date +%", "gcc -", "mktemp -p"} {
		f.Add(s, "a\n")
	}
	f.Fuzz(func(t *testing.T, s, in string) {
		args := strings.Split(s, " ")
		u := Of(commands.Call{Args: args, Stdin: in, Fed: true, Env: func(string) (string, bool) { return s, true }})
		if len(u.Out) > argtext.MaxPrint {
			t.Errorf("prints %d bytes", len(u.Out))
		}
	})
}
