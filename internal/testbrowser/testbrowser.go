// Package testbrowser drives a real Chromium for tests of the desk: it opens pages, presses keys,
// takes pictures and tells what a page complained about. Tests that need it fail without Chromium.
//
// It refuses to be part of the product, and it never waits for a time: a test names the condition.
package testbrowser

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"cordon/internal/testwait"
)

// TB is what the package needs of a test.
type TB interface {
	Helper()
	Cleanup(func())
	Fatal(...any)
	Fatalf(string, ...any)
	TempDir() string
}

// Browser is a Chromium with an empty profile.
type Browser struct {
	t   TB
	ctx context.Context
}

// patience is how long a condition may take to come true on a loaded machine.
const patience = 60 * time.Second

// Start starts a browser that ends with the test. A flag is a name, or NAME=VALUE.
func Start(t TB, flags ...string) *Browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-lcd-text", true), chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("font-render-hinting", "none"), chromedp.Flag("force-color-profile", "srgb"))
	for _, f := range flags {
		if name, value, given := strings.Cut(f, "="); given {
			options = append(options, chromedp.Flag(name, value))
		} else {
			options = append(options, chromedp.Flag(f, true))
		}
	}
	alloc, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(func() { chromedp.Cancel(ctx); cancel(); end() })
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("Chromium does not start: %v", err)
	}
	return &Browser{t, ctx}
}

// Tab is a page of a browser.
type Tab struct {
	t   TB
	ctx context.Context

	mu   sync.Mutex
	said []string
}

// Tab opens a tab. It shares the profile with the others.
func (b *Browser) Tab() *Tab {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	p := &Tab{t: b.t, ctx: ctx}
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil { // the tab lives as long as this context
		b.t.Fatal(err)
	}
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			p.mu.Lock()
			p.said = append(p.said, m.String())
			p.mu.Unlock()
		}
	}()
	return p
}

// Said is what the page wrote to the console, with errors and refusals of the browser.
func (p *Tab) Said() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.said...)
}

// Do does something in the tab.
func (p *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// Open opens an address, whatever comes of it.
func (p *Tab) Open(address string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	_ = chromedp.Do(ctx, chromedp.Navigate(address))
}

// Keys presses keys, as a person would: the browser itself makes the character of a key, unless the page took the key for something else.
func (p *Tab) Keys(keys string, modifiers ...chromedp.Modifier) {
	p.t.Helper()
	held := chromedp.KeyModifiers(modifiers...)
	p.Do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		for _, r := range keys {
			for _, k := range pressed(r, len(modifiers) == 0) {
				held(k)
				if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, *k); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// pressed are a key going down, with the character that it types, and up.
func pressed(r rune, types bool) []*input.DispatchKeyEventParams {
	list := kb.Encode(r)
	if len(list) < 3 {
		return list
	}
	down, char, up := list[0], list[1], list[2]
	if types {
		down.Text, down.UnmodifiedText = char.Text, char.UnmodifiedText
	}
	return []*input.DispatchKeyEventParams{down, up}
}

// Size sets the size of the window.
func (p *Tab) Size(width, height int64) {
	p.t.Helper()
	p.Do(chromedp.EmulateViewport(width, height))
}

// Media sets what the page asks about its reader, such as prefers-color-scheme=dark. No motion is always asked for.
func (p *Tab) Media(features ...string) {
	p.t.Helper()
	params := emulation.SetEmulatedMediaParams{}
	for _, f := range append(features, "prefers-reduced-motion=reduce") {
		name, value, _ := strings.Cut(f, "=")
		params.Features = append(params.Features, &emulation.MediaFeature{Name: name, Value: value})
	}
	p.Do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, params)
		return err
	}))
}

// AllowScripts lets a test run scripts that the page's policy forbids, such as a checker's.
func (p *Tab) AllowScripts() {
	p.t.Helper()
	p.Do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true})
		return err
	}))
}

// NoScripts makes the tab one of a browser in which pages run no scripts. Eval still works.
func (p *Tab) NoScripts() {
	p.t.Helper()
	p.Do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
}

// Picture is the window as PNG.
func (p *Tab) Picture() []byte {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	b, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

// Save writes the window as PNG.
func (p *Tab) Save(file string) {
	p.t.Helper()
	if err := os.WriteFile(file, p.Picture(), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// Eval is the value of an expression in the page. A promise is awaited.
func Eval[T any](p *Tab, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

// Until waits until an expression of the page is true, also while the page goes elsewhere.
func (p *Tab) Until(expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, testwait.Bound)
	defer cancel()
	var last error
	testwait.Until(p.t, expression, func() bool {
		var holds bool
		holds, last = chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		return holds
	}, func() string {
		text, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string]("location.href+' '+document.title+'\\n'+document.body.innerText.slice(0,2000)"))
		return fmt.Sprintf("%v\n%s\n%s", last, text, strings.Join(p.Said(), "\n"))
	})
}
