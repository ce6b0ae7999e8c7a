package launch

import (
	"os"
	"slices"

	"cordon/internal/agent"
	"cordon/internal/enclosure"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/worksite"
)

// checkSignIn looks for anything that could sign the client in, and says what to type if
// there is nothing. It refuses nothing: a server of the operator's may want no login.
func (o *clientSetup) checkSignIn(s *worksite.Site, w *ledger.Worker, order agent.Order) {
	l := w.Lease.Lease()
	if o.signsIn(l, order) {
		return
	}
	o.unsigned = "it has no login here: " + o.adapter.SignIn
	if !l.Policy.Agent.Login.Given() {
		o.unsigned = "it has no login, because the policy gives it none (agent.login: none)"
	}
	s.Voice.Step(w.ID, "login", "if "+string(o.adapter.Name)+" says that it is not logged in: "+o.unsigned)
}

// signsIn reports whether something was found that could sign the client in.
func (o *clientSetup) signsIn(l lease.Lease, order agent.Order) bool {
	a, given := o.adapter, l.Policy.Agent.Login.Given()
	if slices.ContainsFunc(a.Needs(order.Own, order.Args), func(name string) bool {
		return a.SignsIn(name) && os.Getenv(name) != "" && (given || slices.Contains(l.Policy.Secrets, name))
	}) {
		return true
	}
	if a.OwnLogin(order.Own, order.Args) || !o.keys.None() {
		return true
	}
	return given && slices.ContainsFunc(a.Logins, func(file agent.Login) bool {
		fi, err := os.Stat(enclosure.KeptAt(l.Home, file.From))
		return err == nil && fi.Size() > 0
	})
}

// sayUnsigned repeats what to type after a client failed that had nothing to sign in with.
func (o *clientSetup) sayUnsigned(s *worksite.Site, w *ledger.Worker, failed bool) {
	if failed && o.unsigned != "" {
		s.Voice.Step(w.ID, "login", string(o.adapter.Name)+" failed, and "+o.unsigned)
	}
}
