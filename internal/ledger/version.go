package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"cordon/internal/additive"
	"cordon/internal/journal"
)

// Version is the version of this program, as it is named in what it writes.
var Version = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	version := info.Main.Version
	if version == "" || version == "(devel)" {
		version = "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			version += " " + s.Value[:min(len(s.Value), 10)]
		}
	}
	return version
})

// unstamped are the types of event that every version reads: their data has the form
// that it had in the first one. The data of every other type says who wrote it, so that
// a version that does not understand it can name the one that does. A type whose data
// gets a field without the additive mark leaves this list.
//
// Leases and releases are not in it: their policies get a new key now and then.
var unstamped = []string{
	Prepared, Started, Visited, Wired, Proven, Asked, Answered, Heard, Claimed, Summed, Guarded, Reached, Ended,
	Audited, Intended, Judged, Quarantined, Discarded, Removed, Branched,
}

// stamp is the additive field that names the version that wrote an event.
const stamp = additive.Mark + "version"

// Encode makes the data of an event.
func Encode(typ string, data any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil {
		return nil, err
	}
	raw := bytes.TrimSpace(b.Bytes())
	if slices.Contains(unstamped, typ) {
		return raw, nil
	}
	if len(raw) < 2 || raw[0] != '{' {
		return nil, fmt.Errorf("the data of %s is not an object", typ)
	}
	version, err := json.Marshal(Version())
	if err != nil {
		return nil, err
	}
	head := slices.Concat([]byte(`{"`+stamp+`":`), version)
	if raw[1] != '}' {
		head = append(head, ',')
	}
	return append(head, raw[1:]...), nil
}

// writer is the version that an event names, or "".
func writer(e journal.Event) string {
	if version, _, ok := cutStamp(e.Data); ok {
		return version
	}
	var d map[string]json.RawMessage
	var version string
	if bytes.Contains(e.Data, []byte(`"`+stamp+`":`)) && json.Unmarshal(e.Data, &d) == nil {
		_ = json.Unmarshal(d[stamp], &version) // "" where it is not there, or no text
	}
	return version
}

// cutStamp cuts the version off the data, where Encode puts it. Most data then has no
// unknown field, and is decoded in one pass.
func cutStamp(data []byte) (version string, rest []byte, ok bool) {
	after, ok := bytes.CutPrefix(data, []byte(`{"`+stamp+`":"`))
	if !ok {
		return "", nil, false
	}
	name, after, ok := bytes.Cut(after, []byte(`"`))
	if !ok || bytes.IndexByte(name, '\\') >= 0 {
		return "", nil, false
	}
	if next, more := bytes.CutPrefix(after, []byte(",")); more && bytes.HasPrefix(next, []byte(`"`)) {
		after = next
	} else if string(after) != "}" {
		return "", nil, false
	}
	return string(name), append([]byte{'{'}, after...), true
}

// errUnknown is something that only another version knows.
var errUnknown = errors.New("unknown to this version of cordon")

// strange explains an event that cannot be folded. before is the last version that an
// earlier event named.
func strange(e journal.Event, before string, err error) error {
	who := "another version of cordon"
	if v := writer(e); v != "" {
		who = "cordon " + v
	} else if before != "" {
		who = "cordon " + before + " or another version"
	}
	return fmt.Errorf("journal entry %d (%s), written by %s, cannot be read by this one (%s): %w; use the version that wrote it, or a newer one",
		e.Seq, e.Type, who, Version(), err)
}

// read decodes the data of an event. A field that it does not know may change what the
// others mean, unless it is marked as additive.
func read(e journal.Event, into any) error {
	if len(e.Data) == 0 {
		return errors.New("the event carries no data")
	}
	if _, rest, ok := cutStamp(e.Data); ok {
		return additive.Decode(rest, into)
	}
	return additive.Decode(e.Data, into)
}
