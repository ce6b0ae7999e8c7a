package policy

import (
	"testing"

	"pgregory.net/rapid"
)

func TestQuantityForms(t *testing.T) {
	for in, want := range map[string]string{"60s": "1m", "90m": "90m", "168h": "7d", "4h": "4h", "99999d": "99999d"} {
		if d, err := ParseDuration(in); err != nil || d.String() != want {
			t.Errorf("duration %s: %v, %v; want %s", in, d, err, want)
		}
	}
	for in, want := range map[string]string{"1024KiB": "1MiB", "2GB": "2GB", "1B": "1B", "1000B": "1KB", "1023B": "1023B", "999999TiB": "999999TiB", "none": "none", "1234567001B": "1234567001B"} {
		if b, err := ParseBytes(in); err != nil || b.String() != want {
			t.Errorf("size %s: %v, %v; want %s", in, b, err, want)
		}
	}
	for _, in := range []string{"", "h", "0h", "01h", "1.5h", "+1h", "1 h", "100000h", "1ms", "1H", "d", "none"} {
		if d, err := ParseDuration(in); err == nil {
			t.Errorf("duration %q accepted as %v", in, d)
		}
	}
	for _, in := range []string{"", "MiB", "0", "0B", "12", "1kb", "1 GB", "-1GB", "1000000GiB", "None"} {
		if b, err := ParseBytes(in); err == nil {
			t.Errorf("size %q accepted as %v", in, b)
		}
	}
}

// A size that fits is valid wherever another one is, and no other.
func TestSizeFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := Bytes(rapid.OneOf(rapid.Int64(), rapid.Int64Range(-2, 2), rapid.Just(int64(999999)<<40)).Draw(t, "size"))
		for _, set := range []func(*Policy){func(p *Policy) { p.Limits.Memory = size }, func(p *Policy) { p.Limits.Disk = size }} {
			p := Default()
			set(&p)
			if valid := p.Validate() == nil; size != 0 && size != Auto && valid != size.Fits() {
				t.Fatalf("%d fits: %v, valid: %v", size, size.Fits(), valid)
			}
		}
	})
}

func TestQuantityRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if in := rapid.StringMatching(`[1-9][0-9]{0,4}[smhd]`).Draw(t, "duration"); true {
			d, err := ParseDuration(in)
			again, err2 := ParseDuration(d.String())
			if err != nil || err2 != nil || d != again || d <= 0 {
				t.Fatalf("%s: %v %v, %v %v", in, d, err, again, err2)
			}
		}
		if in := rapid.StringMatching(`[1-9][0-9]{0,14}B|[1-9][0-9]{0,5}[KMGT]i?B`).Draw(t, "size"); true {
			b, err := ParseBytes(in)
			again, err2 := ParseBytes(b.String())
			if err != nil || err2 != nil || b != again || b <= 0 {
				t.Fatalf("%s: %v %v, %v %v", in, b, err, again, err2)
			}
		}
	})
}
