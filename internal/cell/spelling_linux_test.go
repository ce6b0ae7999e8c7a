package cell

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"cordon/internal/cell/plan"
)

// TestPlanOfBytes sends plans whose strings hold every byte there is.
func TestPlanOfBytes(t *testing.T) {
	var every strings.Builder
	for i := range 256 {
		every.WriteByte(byte(i))
	}
	all := every.String()
	spec := plan.Spec{
		Argv: []string{all, "", "é\ufffd"}, Dir: all, Layers: []plan.Layer{"a" + plan.Layer(all)},
		View:   []plan.Op{{Do: plan.Do(all), At: all, Below: []string{all}, Links: []plan.Link{{}}, Mode: 7, Size: 1 << 40, Write: true}},
		Limits: plan.Limits{Memory: 1 << 50, Processes: -1, Watched: []string{all}},
		Proof:  plan.Proof{Outside: all, Private: true, Parent: 3}, Terminal: [3]bool{true, false, true},
	}
	for i := range reflect.TypeFor[plan.Link]().NumField() {
		reflect.ValueOf(&spec.View[0].Links[0]).Elem().Field(i).SetString(all)
	}
	var back plan.Spec
	exchange(t, spec, &back)
	if !reflect.DeepEqual(spec, back) {
		t.Errorf("sent %v\ngot  %v", spec, back)
	}
	want := request{Argv: []string{all}, Shell: "sh", Term: all, Terminal: [3]bool{true}, Joined: true, Rows: 1, Cols: 65535}
	var got request
	exchange(t, want, &got)
	if !reflect.DeepEqual(want, got) {
		t.Errorf("sent %v\ngot  %v", want, got)
	}
}

func exchange(t *testing.T, plan, into any) {
	t.Helper()
	f, err := newPlan()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := writePlan(f, plan); err != nil {
		t.Fatal(err)
	}
	if first := make([]byte, 1); firstByte(f, first) != nil || first[0] != 0 {
		t.Error("a plan that is not text was written as text")
	}
	if err := readPlan(f, into); err != nil {
		t.Fatal(err)
	}
}

func firstByte(f *os.File, b []byte) error {
	_, err := f.ReadAt(b, 0)
	return err
}

// TestSpellingRefuses keeps a string from being missed in a kind of field that
// plans do not have, and refuses what spell cannot have written.
func TestSpellingRefuses(t *testing.T) {
	if v, err := spelled(struct{ M map[string]string }{map[string]string{"a": "b"}}); err == nil {
		t.Errorf("a map was taken: %v", v)
	}
	if err := unspell(&request{Shell: "Ā"}); err == nil {
		t.Error("a character that stands for no byte was taken")
	}
}
