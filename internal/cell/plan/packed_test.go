package plan

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

// TestPackedPlan sends plans in which every field has a value, with every byte there is, and
// plans in which none has one: a field that the list forgets comes back empty.
func TestPackedPlan(t *testing.T) {
	var full Spec
	fill(t, reflect.ValueOf(&full).Elem())
	for name, s := range map[string]Spec{"full": full, "empty": {}, "lists without an entry": {Argv: []string{}, View: []Op{{}}, Net: &Net{}}} {
		back, err := Unpack(s.Pack())
		if err != nil || !reflect.DeepEqual(s, back) {
			t.Errorf("%s: %v\nsent %+v\ngot  %+v", name, err, s, back)
		}
	}
}

// TestPackedPlanRefuses cuts a plan short at each byte, and adds one.
func TestPackedPlanRefuses(t *testing.T) {
	var full Spec
	fill(t, reflect.ValueOf(&full).Elem())
	b := full.Pack()
	for n := range b {
		if s, err := Unpack(b[:n]); !errors.Is(err, ErrPacked) {
			t.Fatalf("the first %d of %d bytes were taken for a plan: %+v", n, len(b), s)
		}
	}
	if _, err := Unpack(append(b, 0)); !errors.Is(err, ErrPacked) {
		t.Error("a plan with a byte behind it was taken")
	}
}

// FuzzUnpack wants an answer, whatever the bytes are, and the same bytes again from a plan.
func FuzzUnpack(f *testing.F) {
	f.Add(Spec{}.Pack())
	f.Add(Spec{Argv: []string{"true"}, View: []Op{{Do: Overlay, At: "/", Absent: []string{"a"}}}}.Pack())
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Unpack(b)
		if err != nil {
			return
		}
		if back, err := Unpack(s.Pack()); err != nil || !reflect.DeepEqual(s, back) {
			t.Errorf("%v: %+v is not %+v", err, back, s)
		}
	})
}

// fill gives every field a value that is not its zero.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		fill(t, v.Index(0))
		fill(t, v.Index(2))
	case reflect.Array:
		fill(t, v.Index(v.Len()-1))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.String:
		var all strings.Builder
		for i := range 256 {
			all.WriteByte(byte(i))
		}
		v.SetString(all.String())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(math.MinInt64)
	case reflect.Uint16, reflect.Uint32:
		v.SetUint(1<<v.Type().Bits() - 1)
	default:
		t.Fatalf("a plan has no place for %v", v.Type())
	}
}
