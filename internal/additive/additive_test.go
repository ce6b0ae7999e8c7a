package additive

import (
	"encoding/json"
	"reflect"
	"testing"
)

type inner struct {
	A int               `json:"a"`
	M map[string]string `json:"m,omitempty"`
}

type outer struct {
	inner
	Name  string          `json:"name"`
	List  []inner         `json:"list,omitempty"`
	Raw   json.RawMessage `json:"raw,omitempty"`
	Since string          `json:"+since,omitempty"`
	Ptr   *inner          `json:"ptr,omitempty"`
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]struct {
		value outer
		known string // "": all of it
	}{
		`{"a":1,"name":"x"}`:                  {value: outer{inner: inner{A: 1}, Name: "x"}},
		`{"a":1,"+new":{"b":[1]},"name":"x"}`: {outer{inner: inner{A: 1}, Name: "x"}, `{"a":1,"name":"x"}`},
		`{"name":"x","+since":"1"}`:           {value: outer{Name: "x", Since: "1"}},
		`{"list":[{"a":1,"+b":2},{"a":3}]}`:   {outer{List: []inner{{A: 1}, {A: 3}}}, `{"list":[{"a":1},{"a":3}]}`},
		`{"ptr":{"+b":2,"a":3}}`:              {outer{Ptr: &inner{A: 3}}, `{"ptr":{"a":3}}`},
		`{"m":{"+file":"s"},"raw":{"+k":1}}`:  {value: outer{inner: inner{M: map[string]string{"+file": "s"}}, Raw: json.RawMessage(`{"+k":1}`)}},
		`{"+n":1,"m":{"+file":"s"},"raw":{"+k":[]}}`: {outer{inner: inner{M: map[string]string{"+file": "s"}}, Raw: json.RawMessage(`{"+k":[]}`)},
			`{"m":{"+file":"s"},"raw":{"+k":[]}}`},
	} {
		var got outer
		known, err := Known([]byte(raw), &got)
		if want.known == "" {
			want.known = raw
		}
		if err != nil || !reflect.DeepEqual(got, want.value) || string(known) != want.known {
			t.Errorf("%s: %+v, %s, %v", raw, got, known, err)
		}
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{"new":1}`, `{"+new":1,"other":2}`, `{"list":[{"b":2}]}`, `{"a":1} {}`, `{"+new":1} x`, `{"+new":`, ``, `{"a":"x","+new":1}`,
	} {
		var got outer
		if err := Decode([]byte(raw), &got); err == nil {
			t.Errorf("%s was read as %+v", raw, got)
		}
	}
}
