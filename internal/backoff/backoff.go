// Package backoff keeps until when no further worker of a provider's models is to start, because the
// provider answered that it is asked too often. All plans of a repository share it: one worker
// meets the limit, and the others need not.
//
// What a provider answered is the client's own word, read from its stream. A worker that lies can
// delay others for a bounded time and nothing else: the package refuses to stop what runs, and to
// wait longer than its bound.
package backoff

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"cordon/internal/plainfile"
)

const (
	first   = 15 * time.Second // if the provider does not say how long
	longest = 10 * time.Minute
	maxFile = 4 << 10
	maxWhy  = 200
)

// Wait is a back-off: nothing starts before its end.
type Wait struct {
	Until time.Time `json:"until"`
	Why   string    `json:"why"`   // what the client said
	Count int       `json:"count"` // how often in a row
}

// limits are the words of providers for a client that asks too often, or at a time when others do.
var limits = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:429|529)\b|rate.?limit|overloaded|too many requests|resource.?exhausted`)
})

// delay finds how long to wait, and part a number with its unit in that: 1m30s has two.
var (
	delay = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:retry|try again)[- ](?:after|in)["': ]{0,4}((?:\d{1,6}(?:\.\d{1,6})? ?[a-z]*[ ,]*)+)`)
	})
	part = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([\d.]+) ?([a-z]*)`) })
)

// units by their names, without the s of several. A number without one is seconds.
var units = map[string]time.Duration{
	"ms": time.Millisecond, "millisecond": time.Millisecond, "s": time.Second, "sec": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute, "h": time.Hour, "hr": time.Hour, "hour": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour,
}

// Limited reports whether an error of a client is the answer of a provider that is asked too often, and for
// how long it is to wait; 0: it does not say.
func Limited(text string) (after time.Duration, ok bool) {
	if !limits().MatchString(text) {
		return 0, false
	}
	found := delay().FindStringSubmatch(strings.ToLower(text))
	if found == nil {
		return 0, true
	}
	for i, p := range part().FindAllStringSubmatch(found[1], -1) {
		n, err := strconv.ParseFloat(p[1], 64)
		word := p[2]
		if len(word) > len("ms") {
			word = strings.TrimSuffix(word, "s")
		}
		unit, known := units[word]
		if err != nil || i > 0 && !known { // it is about something else
			break
		}
		after = min(after+time.Duration(min(n*float64(cmp.Or(unit, time.Second)), float64(longest))), longest)
		if !known {
			break
		}
	}
	return after, true
}

// Next is the back-off after another such answer. It becomes twice as long each time, unless the
// last one is long over or the provider says how long.
func Next(before Wait, why string, after time.Duration, now time.Time) Wait {
	w := Wait{Why: why[:min(len(why), maxWhy)], Count: 1}
	if now.Before(before.Until.Add(longest)) {
		w.Count = min(before.Count+1, 10)
	}
	if after <= 0 {
		after = min(first<<(w.Count-1), longest)
	}
	w.Until = now.Add(min(after, longest))
	if w.Until.Before(before.Until) && before.Until.Before(now.Add(longest)) {
		w.Until = before.Until
	}
	return w
}

// Store keeps the back-offs of providers in a directory that only the operator can write.
type Store string

const suffix = ".json"

func (s Store) file(provider string) string {
	return filepath.Join(string(s), filepath.Base(provider)+suffix)
}

// Note keeps that a client met a limit of a provider.
func (s Store) Note(provider, why string, after time.Duration, now time.Time) (Wait, error) {
	w := Next(s.read(provider), why, after, now)
	text, err := json.Marshal(w)
	if err == nil {
		err = os.MkdirAll(string(s), 0o700)
	}
	if err != nil {
		return w, err
	}
	f, err := os.CreateTemp(string(s), "new-*")
	if err != nil {
		return w, err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), s.file(provider))
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return w, err
}

// Until is the back-off of a provider that is not over. A file that cannot be read holds none.
func (s Store) Until(provider string, now time.Time) (w Wait, ok bool) {
	w = s.read(provider)
	return w, w.Until.After(now) && w.Until.Before(now.Add(longest+time.Second))
}

// All are the ends of the back-offs that are not over, by provider.
func (s Store) All(now time.Time) map[string]time.Time {
	all := map[string]time.Time{}
	files, _ := os.ReadDir(string(s)) // what cannot be read holds none
	for _, f := range files {
		provider, found := strings.CutSuffix(f.Name(), suffix)
		if w, limited := s.Until(provider, now); found && limited {
			all[provider] = w.Until
		}
	}
	return all
}

func (s Store) read(provider string) (w Wait) {
	text, err := plainfile.Read(s.file(provider), maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || json.Unmarshal(text, &w) != nil {
		return Wait{}
	}
	return w
}
