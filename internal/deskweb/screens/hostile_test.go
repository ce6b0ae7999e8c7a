package screens

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"cordon/internal/desk"
	"cordon/internal/legible"
	"cordon/internal/testbrowser"
	"cordon/internal/view"
)

// strings of cordon's own in the objects, which choose a class or a group.
var own = []string{"Group", "Status", "Class", "State", "Verdict", "Schema", "Answer", "By"}

// fillIn puts a text into every string of a value.
func fillIn(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !slices.Contains(own, f.Name) {
				fillIn(v.Field(i), text)
			}
		}
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fillIn(v.Elem(), text)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			b, _ := json.Marshal(text)
			v.SetBytes(append(b, text...)) // also as nobody would encode it
			return
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillIn(v.Index(0), text)
	case reflect.Map: // numbers, which no screen shows
	case reflect.Bool:
	}
}

// filled is a value with a text everywhere.
func filled[T any](text string) T {
	var v T
	fillIn(reflect.ValueOf(&v).Elem(), text)
	return v
}

// allScreens are the screens with a text wherever somebody else could have put it.
func allScreens(text string) map[string]any {
	frame := func(screen string) Frame {
		f := filled[Frame](text)
		f.Screen, f.Now, f.Workers, f.Home = screen, time.Unix(1e9, 0), nil, true
		for _, group := range []string{view.NeedsYou, view.AtWork, view.Landed} {
			w := filled[view.Worker](text)
			w.Group, w.Status, w.Since = group, map[string]string{view.NeedsYou: "quarantined", view.AtWork: "running", view.Landed: "merged"}[group], f.Now
			f.Workers = append(f.Workers, w)
		}
		return f
	}
	review := filled[Review](text)
	review.Frame, review.Worker = frame("worker"), frame("worker").Workers[0]
	review.Case.Facts[0].State = view.FactBad
	for _, kind := range []string{"call", "failed", "note"} {
		review.Steps = append(review.Steps, Step{Kind: kind, Tool: text, Text: text})
	}
	review.Steps[0].Kind = "said"
	review.Forms[0].Widen[0].Path = "docs/d.txt" // see TestHiddenRoot
	line := strings.ReplaceAll(text, "\n", " ")
	review.Files, _ = desk.Files("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@ "+line+"\n "+line+"\n-"+line+"\n+"+line+"\n+more\n", nil)
	review.Files[0].Name, review.Files[0].Rule = text, text
	plan := Plan{Frame: frame("plan"), Plan: filled[view.Plan](text)}
	plan.Plan.Stages = append(plan.Plan.Stages, plan.Plan.Stages[0])
	plan.Plan.Stages[1].ID = "next"
	plan.Graph = Draw(plan.Plan)
	plans := filled[Plans](text)
	plans.Frame = frame("plan")
	journal := filled[Journal](text)
	journal.Frame, journal.Worker, journal.Type, journal.Since, journal.Before = frame("journal"), "brisk", "merged", "2026-11-17", 7
	coded := review
	coded.Files = []desk.File{review.Files[0]}
	coded.Files[0].Name = "src/a.go" // its words are marked
	coded.Comments = append(coded.Comments, coded.Comments[0], coded.Comments[0])
	for i, side := range []string{view.SideOld, view.SideNew} {
		c := &coded.Comments[i+1]
		c.Path, c.Side, c.From, c.To, c.Outdated = "src/a.go", side, 2, 2, false
	}
	return map[string]any{"code": coded, "desk": Desk{frame("desk")}, "review": review, "plans": plans, "plan": plan, "journal": journal, "fleet": Fleet{frame("fleet"), filled[view.Fleet](text)}}
}

// element is a start tag of a document.
var element = regexp.MustCompile(`<([a-zA-Z][a-zA-Z0-9]*)((?:\s+[^\s=>"']+(?:="[^"]*")?)*)\s*/?>`)

// chipOrWord are the attributes of what the text itself makes.
var chipOrWord = regexp.MustCompile(`^ class="(chip|kw|str|com|fn)"$`)

// skeleton is a document without its texts and without the values of its attributes: what a
// browser makes elements of.
func skeleton(document string) string {
	var list []string
	for _, m := range element.FindAllStringSubmatch(document, -1) {
		names := regexp.MustCompile(`="[^"]*"`).ReplaceAllString(m[2], "")
		if m[1] == "span" && chipOrWord.MatchString(m[2]) || m[1] == "details" && strings.Contains(m[2], `class="more"`) || m[1] == "summary" {
			continue // a chip, a word of a language, or the folded rest of a long line
		}
		list = append(list, m[1]+" "+strings.Join(strings.Fields(names), " "))
	}
	return strings.Join(list, "\n")
}

// TestHostileTexts puts each text everywhere on every screen: no element and no attribute comes of
// it, nothing acts on the text around it, and nothing is left out.
func TestHostileTexts(t *testing.T) {
	if len(testbrowser.Hostile) < 40 {
		t.Errorf("there are %d texts", len(testbrowser.Hostile))
	}
	harmless := map[string]string{}
	for name, screen := range allScreens("harmless") {
		harmless[name] = skeleton(written(t, screen))
	}
	for i, text := range testbrowser.Hostile {
		for name, screen := range allScreens(text) {
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				out := written(t, screen)
				if got := skeleton(out); got != harmless[name] {
					t.Errorf("%.80q makes other elements", text)
				}
				for at, r := range out {
					if r != '\n' && r != '\t' && (unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar) {
						t.Fatalf("%.80q: %U is in the document: %.80q", text, r, out[max(0, at-40):])
					}
				}
				for _, word := range []string{"<script", `href="javascript:`, `src="javascript:`, `action="javascript:`, `href="//`, `href="data:`, " style=", "<style"} {
					if strings.Contains(out, word) {
						t.Errorf("%.80q: the document has %s", text, word)
					}
				}
			})
		}
	}
}

func written(t *testing.T, screen any) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, screen); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What cannot be seen is a chip that names it.
func TestChips(t *testing.T) {
	for text, want := range map[string][]legible.Part{
		"plain":        {{Text: "plain"}},
		"a\u202eb":     {{Text: "a"}, {Chip: "U+202E"}, {Text: "b"}},
		"\x9b":         {{Chip: `\x9b`}},
		"a\r\nb\tc":    {{Text: "a\nb\tc"}},
		"a\rb":         {{Text: "a"}, {Chip: "U+000D"}, {Text: "b"}},
		"\u200b\u200b": {{Chip: "U+200B ×2"}},
		"größe ✓ 日本":   {{Text: "größe ✓ 日本"}},
	} {
		if got := (&press{chips: mostChips}).parts(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// A line of a megabyte is folded: its beginning is a row, and its rest one click away.
func TestLongLine(t *testing.T) {
	text := strings.Repeat("A", 1<<20) + "\u202e"
	review := Review{Worker: view.Worker{ID: "brisk-otter"}}
	review.Files, _ = desk.Files("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+"+text+"\n", nil)
	out := written(t, review)
	if n := strings.Count(out, `<span class="chip">`); n != 1 {
		t.Errorf("%d characters are chips", n)
	}
	if !strings.Contains(out, `<details class="more"><summary>and 1046579 more bytes`) {
		t.Error("the line is not folded")
	}
}

// However many characters of a file cannot be seen, a page has a bounded number of elements, and says of each line what is there.
func TestHiddenCharacters(t *testing.T) {
	for name, patch := range testbrowser.Hidden() {
		review := Review{Worker: view.Worker{ID: "brisk-otter"}, Whole: true}
		review.Files, _ = desk.Files(strings.Repeat(patch, 2), nil)
		out := written(t, review)
		chips, spans := strings.Count(out, `<span class="chip">`), strings.Count(out, "<span")
		rows := strings.Count(out, "<tr")
		if chips > mostChips+2*rows || spans > mostChips+mostMarked+4*rows {
			t.Errorf("%s: %d chips and %d elements of lines in %d rows", name, chips, spans, rows)
		}
		if folded := review.Files[0].Folded; folded != (name != "plain" && name != "marks" && name != "a line" && name != "keywords") {
			t.Errorf("%s: folded is %v", name, folded)
		}
		want := map[string]string{"lines": ">U&#43;202E ×600<", "marks": ">U&#43;0301 ×", "a line": ">U&#43;202E ×"}[name]
		if n := strings.Count(out, want); want != "" && n < 2 {
			t.Errorf("%s: %q is there %d times", name, want, n)
		}
	}
}

// A path with characters that cannot be seen is no root that the page offers: nobody can check its name.
func TestHiddenRoot(t *testing.T) {
	for path, offered := range map[string]bool{"docs/d.txt": true, "docs/\u202etxt.d": false, "a\nb": false, "a  b": false} {
		out := written(t, Review{Forms: []Form{{Widen: []Root{{Path: path}}}}})
		if strings.Contains(out, `name="roots"`) != offered {
			t.Errorf("%q is offered: %v", path, !offered)
		}
	}
}
