package decide

import (
	"os"
	"regexp"
	"sync"

	"golang.org/x/sys/unix"

	"cordon/internal/journal"
	"cordon/internal/ledger"
)

// FaceVariable names the desk through which the operator decides. It only names: whoever may
// run cordon may decide.
const FaceVariable = "CORDON_FACE"

// reportVariable says that Run started this cordon, and waits to hear that the decision is in
// the journal.
const reportVariable = "CORDON_DECIDES"

// reportDescriptor is where it is told.
const reportDescriptor = 3

var faces = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(tui|web|cli|api:[A-Za-z0-9._-]{1,64})$`) })

// ValidFace reports whether a text names a desk.
func ValidFace(face string) bool { return face != "" && faces().MatchString(face) }

// Via is what to add to the name of whoever decides here: through what they do.
var Via = sync.OnceValue(func() string {
	face := os.Getenv(FaceVariable)
	_ = os.Unsetenv(FaceVariable) // nobody else is meant
	if !ValidFace(face) {
		return ""
	}
	return " via " + face
})

// Reporting adds to the observer of a journal that a decision is told to whoever started this
// cordon to take it. watch may be nil, and is returned as it is if nobody waits.
func Reporting(watch func(journal.Moment, journal.Event)) func(journal.Moment, journal.Event) {
	report := reportTo()
	if report == nil {
		return watch
	}
	return func(m journal.Moment, e journal.Event) {
		if m == journal.After && ledger.IsDecision(e.Type) {
			_, _ = report.WriteString("decided\n") // nobody may be there any more
		}
		if watch != nil {
			watch(m, e)
		}
	}
}

// reportTo is the pipe to whoever started this cordon; nil: there is none.
var reportTo = sync.OnceValue(func() *os.File {
	_, told := os.LookupEnv(reportVariable)
	_ = os.Unsetenv(reportVariable)
	if !told {
		return nil
	}
	f := os.NewFile(reportDescriptor, "report")
	if fi, err := f.Stat(); err != nil || fi.Mode().Type() != os.ModeNamedPipe {
		return nil
	}
	unix.CloseOnExec(reportDescriptor)
	return f
})
