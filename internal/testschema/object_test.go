package testschema

import "testing"

// A script that checks what was printed fails if it was something else.
func TestCheck(t *testing.T) {
	object, err := Object(`{"status": "merged", "size": 12345678, "checks": [{"code": 0}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(object, []string{"status=merged", "size=12345678", "checks.length=1", "checks.0.code=0"}); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"status=ready", "checks.length=2", "checks.1.code=0", "checks.x=0", "status.x=merged", "other=", "status"} {
		if Check(object, []string{want}) == nil {
			t.Errorf("it has %q", want)
		}
	}
	for _, text := range []string{"", "null", "[]", "{} {}", "{"} {
		if _, err := Object(text); err == nil {
			t.Errorf("%q is an object", text)
		}
	}
}
