package deskweb

import (
	"bytes"
	"cmp"
	"flag"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"cordon/internal/testbrowser"
)

var update = flag.Bool("update", false, "write the pictures of the screens")

// pictures are in the documents: what is compared is what readers see.
const pictures = "../../docs/pictures"

// few is a picture with its 256 most frequent colours, which a file of a fraction of the size holds.
func few(m image.Image) *image.Paletted {
	count := map[color.Color]int{}
	b := m.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			count[color.RGBAModel.Convert(m.At(x, y))]++
		}
	}
	key := func(c color.Color) int { r, g, b, _ := c.RGBA(); return int(r>>8)<<16 | int(g>>8)<<8 | int(b>>8) }
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(key(a), key(b)))
	})
	palette := color.Palette(colours[:min(256, len(colours))])
	nearest := map[color.Color]uint8{}
	for _, c := range colours {
		nearest[c] = uint8(palette.Index(c))
	}
	out := image.NewPaletted(b, palette)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			out.SetColorIndex(x, y, nearest[color.RGBAModel.Convert(m.At(x, y))])
		}
	}
	return out
}

// different is the share of pixels that differ visibly.
func different(a, b image.Image) float64 {
	if a.Bounds() != b.Bounds() {
		return 1
	}
	n, r := 0, a.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			ar, ag, ab, _ := a.At(x, y).RGBA()
			br, bg, bb, _ := b.At(x, y).RGBA()
			if far(ar, br) || far(ag, bg) || far(ab, bb) {
				n++
			}
		}
	}
	return float64(n) / float64(r.Dx()*r.Dy())
}

// far reports whether two parts of a colour differ more than fewer colours explain.
func far(a, b uint32) bool { return max(a, b)-min(a, b) > 48<<8 }

// The screens look as the pictures in the documents, in light and dark, with DejaVu as the font.
func TestBrowserPictures(t *testing.T) {
	s, source := sampleDesk(t)
	p := testbrowser.Start(t).Tab()
	p.Size(1440, 900)
	enter(s, p)
	take := func(path, scheme string) *image.Paletted {
		p.Media("prefers-color-scheme=" + scheme)
		visit(s, p, path)
		m, err := png.Decode(bytes.NewReader(p.Picture()))
		if err != nil {
			t.Fatal(err)
		}
		return few(m)
	}
	for name, path := range sampleScreens {
		for _, scheme := range []string{"light", "dark"} {
			file := filepath.Join(pictures, name+"-"+scheme+".png")
			got := take(path, scheme)
			if *update {
				var b bytes.Buffer
				err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, got)
				if err = cmp.Or(err, os.MkdirAll(pictures, 0o755), os.WriteFile(file, b.Bytes(), 0o644)); err != nil {
					t.Fatal(err)
				}
				continue
			}
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			want, err := png.Decode(f)
			f.Close()
			if err != nil {
				t.Fatal(err)
			}
			if share := different(want, got); share > 0.001 {
				t.Errorf("%s: %.2f %% of the pixels differ; look at it, and write it with -update", file, share*100)
			}
		}
	}
	// The control: one worker less is seen.
	before := take("/", "light")
	source.mu.Lock()
	source.fewer = true
	source.mu.Unlock()
	if share := different(before, take("/", "light")); share < 0.001 {
		t.Errorf("a worker less changes %.3f %%", share*100)
	}
}

// Somebody who newly needs the reader is told once, if the tab is out of sight and the reader asked for it.
func TestBrowserNotifies(t *testing.T) {
	s, source := sampleDesk(t)
	source.fewer = true
	p := testbrowser.Start(t).Tab()
	enter(s, p)
	// The browser of a test has nobody to show a notification to: what would be shown is kept.
	testbrowser.Eval[bool](p, `(() => { window.shown = []; window.Notification = class { static permission = "granted"; constructor(t, o) { shown.push(t + ": " + o.body) } };
		Object.defineProperty(document, "hidden", {value: true}); return true })()`)
	source.mu.Lock()
	source.fewer = false
	source.mu.Unlock()
	source.changes <- struct{}{}
	p.Until(`document.title.startsWith("(4) ")`)
	source.changes <- struct{}{}
	p.Until(`shown.length > 0`)
	if got := testbrowser.Eval[[]string](p, "shown"); len(got) != 1 || got[0] != "cordon: curious-parrot asks: Greet in capitals, or in small letters?" {
		t.Errorf("%q", got)
	}
}
