package draft

import (
	"strings"
	"testing"

	"cordon/internal/policy"
)

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		project Project
		want    []string
	}{
		{Project{}, []string{`write: ["."]`, "nothing that cordon knows tests this repository"}},
		{Project{dirs: []string{"docs", "src"}}, []string{`write: ["src"]`, "at the top there are: docs, src"}},
	} {
		text := string(Plan(c.project, policy.Default(), "next"))
		for _, want := range append(c.want, "plan: next") {
			if !strings.Contains(text, want) {
				t.Errorf("it does not say %q:\n%s", want, text)
			}
		}
	}
}
