package agent

import (
	"time"

	"cordon/internal/client"
)

// KeyCommand is a command of the operator's that prints a key, and that a client would run
// itself. In a cell it would find neither its own login nor its programs, and a worker could
// change what it runs. So the supervisor runs it outside, and the client reads the answer
// from a file.
type KeyCommand struct {
	ID    string // tells it from the others of its client
	Noun  string // as the operator knows it: apiKeyHelper in /etc/x/settings.json
	File  string // of the home, that it stands in; "": it is a variable's, or the machine's
	Line  string // as a shell reads it. It may hold a key itself, and is never shown
	Limit time.Duration
	Every time.Duration // after which the answer is asked for again; 0: never
}

// KeySources are where the commands of a client may stand: never in a project.
type KeySources struct {
	Files    map[string][]byte // of the home, by the names of Adapter.KeyFiles
	Machine  map[string][]byte // those of Adapter.Managed
	Args     []string
	Variable func(name string) string // the operator's
}

// Settings are those of a file of the home.
func (s KeySources) Settings(file string) (map[string]any, error) { return JSONObject(s.Files[file]) }

// PrintKey is a command line that prints the key of a KeyCommand in the cell; "" if there is
// none.
func (o Order) PrintKey(id string) string { return PrintKey(o.Keys, id) }

// PrintKey is the same with the files of the keys.
func PrintKey(keys map[string]string, id string) string {
	file, ok := keys[id]
	if !ok {
		return ""
	}
	return "/bin/cat " + client.Quote(file)
}
