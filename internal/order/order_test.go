package order

import (
	"slices"
	"testing"

	"cordon/internal/view"
)

// A prompt is never more than a prompt: it stands behind --, and --review before the client.
func TestArguments(t *testing.T) {
	got := Counter{Dir: "/repo"}.arguments(view.DispatchRequest{Client: "a-client", Prompt: "--merge -- x"})
	if want := []string{"-C", "/repo", "run", "--review", "--detach", "a-client", "--", "--merge -- x"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
