package deskweb

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/testbrowser"
	"cordon/internal/testmodel"
)

// axeVersion is the pinned version of the checker of accessibility.
const axeVersion = "4.14.0"

// axe is the text of the checker. It is fetched once into the cache of the user, or beside the clients of CORDON_TEST_CLIENTS.
func axe(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("CORDON_TEST_CLIENTS") + "-axe-" + axeVersion
	if strings.HasPrefix(dir, "-") {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(cache, "cordon-test", "axe-"+axeVersion)
	}
	file := filepath.Join(dir, "node_modules", "axe-core", "axe.min.js")
	if _, err := os.Stat(file); err != nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("npm", append([]string{"install", "--prefix", dir, "axe-core@" + axeVersion}, testmodel.Npm...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("npm install axe-core: %v\n%s", err, out)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// All screens keep the rules of WCAG 2.2 A and AA that a program can check, in light, dark and forced colours.
func TestBrowserAccessible(t *testing.T) {
	s, _ := sampleDesk(t)
	checker := axe(t)
	p := testbrowser.Start(t).Tab()
	p.Size(1440, 900)
	p.AllowScripts()
	enter(s, p)
	check := func(name string) string {
		testbrowser.Eval[bool](p, checker+"; true")
		return testbrowser.Eval[string](p, `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}).then(r =>
			r.violations.map(v => v.id + ": " + v.nodes.map(n => n.html.slice(0, 120) + " " + n.failureSummary).join("\n  ")).join("\n") + (r.passes.length > 15 ? "" : "it checked nothing"))`)
	}
	for _, media := range []string{"prefers-color-scheme=light", "prefers-color-scheme=dark", "forced-colors=active"} {
		p.Media(media)
		for name, path := range sampleScreens {
			visit(s, p, path)
			if name == "review" { // with a form open
				p.Keys("r")
				p.Until(`document.querySelector("#lacks").textContent`)
			}
			if found := check(name); found != "" {
				t.Errorf("%s, %s:\n%s", name, media, found)
			}
		}
	}
	// The control: an image without a text is found.
	testbrowser.Eval[bool](p, `(() => { document.querySelector("#main").append(document.createElement("img")); return true })()`)
	if found := check("control"); !strings.Contains(found, "image-alt") {
		t.Errorf("the checker finds nothing: %s", found)
	}
}

// From 360 to 2560 pixels, and at 400 %, nothing but code scrolls sideways.
func TestBrowserWidths(t *testing.T) {
	s, _ := sampleDesk(t)
	p := testbrowser.Start(t).Tab()
	enter(s, p)
	for _, width := range []int64{320, 360, 640, 1024, 1180, 1440, 1920, 2560} { // 320 is 1280 at 400 %
		p.Size(width, 800)
		for name, path := range sampleScreens {
			visit(s, p, path)
			if wide := testbrowser.Eval[string](p, `[...document.querySelectorAll("body, body *")].filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 &&
				getComputedStyle(e).overflowX !== "visible" && getComputedStyle(e).textOverflow !== "ellipsis" && !e.matches(".scroll, .tabs, pre, .sr, textarea, input")).map(e => e.localName + "#" + e.id + "." + e.className + " " + e.scrollWidth + ">" + e.clientWidth + " " +
					[...e.querySelectorAll("*")].filter(c => c.getBoundingClientRect().right > e.getBoundingClientRect().right + 1).slice(0, 4).map(c => c.localName + "." + c.className)).join(" ")
				+ (document.documentElement.scrollWidth > innerWidth ? " the page" : "")`); wide != "" {
				t.Errorf("%s at %d pixels scrolls sideways: %s", name, width, wide)
			}
		}
	}
}
