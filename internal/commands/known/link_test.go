package known

import (
	"strings"
	"testing"

	"cordon/internal/commands"
)

// The accesses that mean a link itself have a star, those that follow links below
// them a plus.
func TestLinks(t *testing.T) {
	tests := []struct{ command, want string }{
		{"rm a b", "a* b*"},
		{"rm -rf a/", "a/*"},
		{"rimraf a", "a*"},
		{"unlink a", "a*"},
		{"mv a b c", "a* b* c"},
		{"mv -t d a", "d a*"},
		{"cp a b", "a b"},
		{"cp -a a b", "a* b"},
		{"cp -r a b", "a* b"},
		{"cp -rL a b", "a+ b+"},
		{"cp -P a b", "a* b"},
		{"readlink a", "a*"},
		{"readlink -f a", "a"},
		{"test -L a", "a*"},
		{"[ -h a ]", "a*"},
		{"test -e a", "a"},
		{"ls a", "a"},
		{"ls -d a", "a*"},
		{"ls -l a", "a*"},
		{"ls -lL a", "a"},
		{"ls -LR a", "a"},
		{"ls -LR", ""},
		{"stat a", "a*"},
		{"stat -L a", "a"},
		{"file a", "a*"},
		{"du a", "a*"},
		{"du -D a", "a"},
		{"du -shL .", "."},
		{"chown x a", "a"},
		{"chown -h x a", "a*"},
		{"chown -RL x a", "a+"},
		{"touch a", "a"},
		{"touch -h a", "a*"},
		{"find a", "a*"},
		{"find -H a", "a"},
		{"find -L a", "a"},
		{"find a -follow", "a"},
		{"ln -s x a", "x a"},
		{"ln -sfn x a", "x a*"},
		{"ln -sT x a", "x a*"},
		{"rsync -a a b", "a* b"},
		{"rsync -aL a b", "a+ b+"},
		{"tar -cf x a", "a x"},
		{"tar -chf x a", "a+ x"},
		{"tree -l", ""},
		{"grep -r x", ""},
		{"grep -R x", ""},
		{"grep -R x src", "src"},
		{"rg -L x", ""},
		{"chmod +x a", "a"},
		{"cat a", "a"},
	}
	for _, tt := range tests {
		var got []string
		for _, a := range Of(commands.Call{Args: words(tt.command)}).Access {
			s := a.Path
			if a.Link {
				s += "*"
			}
			if a.Deep {
				s += "+"
			}
			got = append(got, s)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %s, want %s", tt.command, s, tt.want)
		}
	}
}

// A link that is carried along is a link where it comes to.
func TestCarriedLink(t *testing.T) {
	for _, command := range []string{"cp -a l d", "mv l d", "git mv l d", "rsync -a l d"} {
		if u := Of(commands.Call{Args: words(command)}); len(u.Effects) == 0 || u.Effects[0].From != "l" {
			t.Errorf("%s leaves %v", command, u.Effects)
		}
	}
}
