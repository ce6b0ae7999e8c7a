package git

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// asked is the one process that answers single questions about the objects of a repository:
// starting a process for each takes longer than all answers together. It ends when nobody
// has asked for a while, and with this program.
type asked struct {
	sync.Mutex
	process *objects    // nil: none runs
	idle    *time.Timer // ends it
	said    remembered
}

// restAfter is how long the process waits for the next question.
const restAfter = 2 * time.Second

// known is what is true of objects in every repository that has them: their names say what
// they hold.
type known struct {
	sync.Mutex
	trees map[OID]OID // by commit
	own   *own        // the operator's own configuration, as it was last read
}

// knowns are what is known by each git.
var knowns sync.Map

func knownOf(program string) *known {
	k, _ := knowns.LoadOrStore(program, &known{})
	return k.(*known)
}

// ask has the process of the repository answer.
func (r Repo) ask(ctx context.Context, use func(o *objects) error) error {
	if r.asked == nil {
		o, err := r.open(ctx)
		if err != nil {
			return err
		}
		defer o.close()
		return use(o)
	}
	r.asked.Lock()
	defer r.asked.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.asked.process == nil {
		o, err := r.open(context.WithoutCancel(ctx)) // it answers others too
		if err != nil {
			return err
		}
		r.asked.process = o
	}
	o := r.asked.process
	stop := context.AfterFunc(ctx, o.stop)
	err := use(o)
	if !stop() || o.err != nil || o.cmd == nil { // whatever it would answer next is not to be believed
		o.close()
		r.asked.process = nil
		if cause := ctx.Err(); cause != nil {
			return cause
		}
		return err
	}
	if r.asked.idle != nil {
		r.asked.idle.Stop()
	}
	r.asked.idle = time.AfterFunc(restAfter, r.asked.rest)
	return err
}

// rest ends the process.
func (a *asked) rest() {
	a.Lock()
	defer a.Unlock()
	if a.process != nil {
		a.process.close()
	}
	a.process = nil
}

// Lookup looks up any number of refs and objects. The results are in the order of the names.
func (r Repo) Lookup(ctx context.Context, names []string) ([]Found, error) {
	found, commands := make([]Found, len(names)), make([]string, len(names))
	for i, name := range names {
		if name == "" || strings.ContainsAny(name, "\n\x00") {
			return nil, fmt.Errorf("not a name: %q", name)
		}
		commands[i] = "info " + name
	}
	err := r.ask(ctx, func(o *objects) error {
		return o.ask(commands, func(i int, line string) error {
			f := strings.Fields(line)
			if len(f) != 3 || strings.Trim(f[2], "0123456789") != "" {
				return nil // the name with "missing" or "ambiguous"; it may have blanks
			}
			var err error
			found[i].Kind = f[1]
			found[i].OID, err = ParseOID(f[0])
			return err
		})
	})
	return found, err
}

// TreeOf returns the tree of a commit.
func (r Repo) TreeOf(ctx context.Context, commit OID) (OID, error) {
	if _, err := ParseOID(string(commit)); err != nil {
		return "", err
	}
	if tree := r.bin.known.treeOf(commit); tree != "" {
		return tree, nil
	}
	found, err := r.Lookup(ctx, []string{string(commit) + treeOf})
	if err != nil {
		return "", err
	}
	if found[0].Kind != "tree" {
		return "", fmt.Errorf("%s: git has no tree of it", commit)
	}
	r.bin.known.learn(commit, found[0].OID)
	return found[0].OID, nil
}

func (k *known) treeOf(commit OID) OID {
	if k == nil {
		return ""
	}
	k.Lock()
	defer k.Unlock()
	return k.trees[commit]
}

func (k *known) learn(commit, tree OID) {
	if k == nil {
		return
	}
	k.Lock()
	defer k.Unlock()
	if k.trees == nil {
		k.trees = map[OID]OID{}
	}
	k.trees[commit] = tree
}

// Blob returns the content of a blob of at most 16 MiB.
func (r Repo) Blob(ctx context.Context, oid OID) (content []byte, err error) {
	err = r.ask(ctx, func(o *objects) (err error) {
		content, err = newListing(o, "").Blob(oid, maxBlob)
		return err
	})
	return content, err
}

// FileAt returns the content of one file of a commit.
func (r Repo) FileAt(ctx context.Context, commit OID, path string) (content []byte, ok bool, err error) {
	err = r.ask(ctx, func(o *objects) error {
		l := newListing(o, commit)
		e := l.Entry(path)
		switch {
		case l.Err() != nil:
			return l.Err()
		case e.Mode == Absent:
			return nil
		case e.Mode != Regular && e.Mode != Executable:
			return fmt.Errorf("%s is %w at %s (mode %s)", path, ErrNoFile, commit.Short(), e.Mode)
		}
		var err error
		content, err = l.Blob(e.OID, maxBlob)
		ok = err == nil
		return err
	})
	return content, ok, err
}

// FilesBelow lists the files of a commit below a directory, which need not be there.
func (r Repo) FilesBelow(ctx context.Context, commit OID, dir string) (files []File, err error) {
	err = r.ask(ctx, func(o *objects) error {
		l := newListing(o, commit)
		files = l.Below(dir)
		return l.Err()
	})
	return files, err
}

// Kinds returns the type of each of the objects; a missing one has none.
func (r Repo) Kinds(ctx context.Context, oids []OID) (map[OID]string, error) {
	kinds, names := map[OID]string{}, make([]string, len(oids))
	if len(oids) == 0 {
		return kinds, nil
	}
	for i, oid := range oids {
		names[i] = string(oid)
	}
	found, err := r.Lookup(ctx, names)
	for i, f := range found {
		if f.Kind != "" {
			kinds[oids[i]] = f.Kind
		}
	}
	return kinds, err
}

// Commit resolves a revision as the operator's own git would in the checkout
// they stand in: HEAD there may be a linked worktree's own.
func (h Host) Commit(ctx context.Context, rev string) (OID, error) {
	return Repo{bin: h.bin, Dir: h.Private, Format: h.Format}.Commit(ctx, rev)
}
