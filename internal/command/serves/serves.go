// Package serves holds cordon serve and cordon token: flags, the socket, and what is said.
// It refuses to know the routes: package serve does.
package serves

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cordon/internal/fault"
	"cordon/internal/journal"
	"cordon/internal/order"
	"cordon/internal/page"
	"cordon/internal/post"
	"cordon/internal/query"
	"cordon/internal/serve"
	"cordon/internal/session"
	"cordon/internal/state"
	"cordon/internal/token"
	"cordon/internal/view"
)

// Console is what the commands share with the program that they are part of.
type Console struct {
	Open func(context.Context) (*session.Session, error)
	Page func() page.Page
	Who  func() string
	Dir  func() string   // around which the repository is
	Code func(int) error // an error that is only an exit code
}

// folder is where the server keeps its socket, its lock and its tokens, in the state.
const folder = "serve"

func directory(s *session.Session) string { return filepath.Join(s.State.Path(), folder) }

// New is cordon serve.
func New(a *Console) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Answer HTTP requests of your own programs on a unix socket",
		Long: `Answer HTTP requests on a unix socket in cordon's state until ctrl-c: workers, diffs,
transcripts, decisions, plans, the inbox, and the events of the journal as they come.
Every object is the one that a command prints with --json. A request needs a token
(cordon token new). GET /v1/openapi.json describes all routes.

A token with the scope answer can answer questions, and one with the scope dispatch can
start an agent client with a prompt. It takes no flags and no policy, and its result ends
in review. A token with the scope decide can do what you can do at a desk: every decision
names what was seen, and is refused if that has changed. Make one only for a program that
you decide with. No request changes a policy.

Only your own user can connect, and no worker in a cell sees the socket. The server
listens on no network: use ssh -L to reach it from elsewhere. It owns no worker, and
ending it stops none.`,
		Example: `  cordon serve
  TOKEN=$(cordon token new editor --scope read,answer)
  curl --unix-socket "$SOCKET" --oauth2-bearer "$TOKEN" http://cordon/v1/workers`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context()) },
	}
}

func (a *Console) serve(ctx context.Context) error {
	s, err := a.made(ctx)
	if err != nil {
		return err
	}
	dir := directory(s)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	release, err := s.State.Lock(filepath.Join(folder, "lock"), false)
	if errors.Is(err, state.ErrLocked) {
		return fault.Refuse("another cordon serve answers for this repository, on %s", filepath.Join(dir, post.Socket))
	}
	if err != nil {
		return err
	}
	defer release()
	around, err := filepath.Abs(a.Dir())
	if err != nil {
		return err
	}
	l, err := post.Listen(dir)
	if err != nil {
		return err
	}
	server := &serve.Server{
		Desk: query.Desk{Open: a.Open}, Orders: order.Counter{Open: a.Open, Dir: around, Who: a.Who()},
		Tokens:  token.Store{State: s.State, Dir: dir},
		Journal: func() (*journal.Journal, error) { return journal.Open(s.State.Path()) },
	}
	if err := a.announce(filepath.Join(dir, post.Socket)); err != nil {
		return errors.Join(err, l.Close())
	}
	err = errors.Join(server.Serve(ctx, l.Conns()), l.Close())
	if err == nil && ctx.Err() != nil {
		return a.Code(0) // ctrl-c is how it ends
	}
	return err
}

// announce says where the server answers.
func (a *Console) announce(socket string) error {
	if a.Page().JSON {
		return a.Page().Object(&view.Serve{Socket: socket})
	}
	a.Page().Print("%s", socket)
	a.Page().Say("  answers HTTP requests with a token of cordon token new; ctrl-c ends it")
	return nil
}

// made opens the repository, and makes its state if there is none yet.
func (a *Console) made(ctx context.Context) (*session.Session, error) {
	s, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	return s, s.State.Make(s.Host)
}

// Token is cordon token.
func Token(a *Console) *cobra.Command {
	c := &cobra.Command{
		Use:   "token",
		Short: "Make, list and remove the tokens of cordon serve",
		Long: `Make, list and remove the tokens with which programs ask cordon serve. A token belongs to
one repository and has scopes: read, answer (questions of workers), dispatch (start an
agent whose result ends in review) and decide (merge, release, discard, resume, retry,
stop). cordon keeps only its SHA-256.`,
		Example: "  cordon token new editor --scope read,answer\n  cordon token ls\n  cordon token rm editor",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(a.newToken(), a.listTokens(), a.removeToken())
	return c
}

func (a *Console) store(ctx context.Context) (token.Store, error) {
	s, err := a.made(ctx)
	if err != nil {
		return token.Store{}, err
	}
	return token.Store{State: s.State, Dir: directory(s)}, nil
}

func (a *Console) newToken() *cobra.Command {
	var scopes []string
	c := &cobra.Command{
		Use: "new NAME", Short: "Make a token, and print it once",
		Long: `Make a token for cordon serve and print it. It is not kept and cannot be printed again.
NAME is for you and for the journal, which names the token of each answer.`,
		Example: "  cordon token new ci --scope read\n  TOKEN=$(cordon token new editor --scope read,answer)",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.store(cmd.Context())
			if err != nil {
				return err
			}
			made, secret, err := store.New(args[0], scopes, time.Now())
			if err != nil {
				return err
			}
			if a.Page().JSON {
				return a.Page().Object(&view.NewToken{Token: shown(made), Secret: secret})
			}
			a.Page().Print("%s", secret)
			return nil
		},
	}
	c.Flags().StringSliceVar(&scopes, "scope", []string{view.MayRead}, "what it is good for: `SCOPE` is read, answer, dispatch or decide (repeatable)")
	return c
}

func (a *Console) listTokens() *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "List the tokens", Long: "List the tokens of this repository. The tokens themselves are not kept.",
		Example: "  cordon token ls",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := a.store(cmd.Context())
			if err != nil {
				return err
			}
			return a.list(store)
		},
	}
}

func (a *Console) removeToken() *cobra.Command {
	return &cobra.Command{
		Use: "rm NAME", Short: "Remove a token", Long: "Remove a token. Requests with it are refused from then on, and its streams of events end.",
		Example: "  cordon token rm editor",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.store(cmd.Context())
			if err == nil {
				err = store.Remove(args[0])
			}
			if err != nil {
				return err
			}
			return a.list(store)
		},
	}
}

// list prints the tokens.
func (a *Console) list(store token.Store) error {
	all, err := store.List()
	if err != nil {
		return err
	}
	o := &view.Tokens{Tokens: []view.Token{}}
	for _, t := range all {
		o.Tokens = append(o.Tokens, shown(t))
	}
	if a.Page().JSON {
		return a.Page().Object(o)
	}
	if len(all) == 0 {
		a.Page().Say("no tokens")
	}
	for _, t := range o.Tokens {
		a.Page().Print("%-20s  %s  %s", t.Name, t.Created.Local().Format("2006-01-02 15:04:05"), strings.Join(t.Scopes, ", "))
	}
	return nil
}

func shown(t token.Token) view.Token {
	return view.Token{Name: t.Name, Scopes: t.Scopes, Created: t.Created}
}
