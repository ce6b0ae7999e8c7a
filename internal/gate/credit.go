package gate

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"cordon/internal/git"
	"cordon/internal/message"
)

// commit writes a result, with what it came from in its trailers.
func (g *Gate) commit(ctx context.Context, o Order, tree, target, tip git.OID, signer *git.Signer) (git.OID, error) {
	by := git.Credit{Author: git.Person(o.Author), Committer: git.Person(o.Committer), Signer: signer}
	if o.Replay != nil {
		return g.replay(ctx, o, tree, target, by)
	}
	parents := []git.OID{target}
	if o.Tip != "" {
		parents = append(parents, tip)
	}
	text, err := o.text(o.Message)
	if err != nil {
		return "", err
	}
	return g.repo.CommitAs(ctx, tree, parents, text, by)
}

// trailers say where a result comes from, and who worked on it too.
func trailers(o Order) []message.Trailer {
	var list []message.Trailer
	if o.CoAuthor != "" {
		list = append(list, message.Trailer{Key: "Co-authored-by", Value: o.CoAuthor})
	}
	list = append(list, []message.Trailer{
		{Key: "Cordon-Worker", Value: string(o.Lease.Lease().ID)}, {Key: "Cordon-Lease", Value: "sha256:" + o.Lease.Hash()},
		{Key: "Cordon-Policy", Value: "sha256:" + o.Lease.PolicyHash()}, {Key: "Cordon-Journal", Value: o.Entry},
	}...)
	if o.Failed > 0 {
		list = append(list, message.Trailer{Key: "Cordon-Retries", Value: strconv.Itoa(o.Failed)})
	}
	return list
}

// sign replaces an accepted result by the same commit with a signature. A result that
// cannot be signed waits for a person; it never lands without the signature.
func (g *Gate) sign(ctx context.Context, o Order, tree, target, tip git.OID, res Result) (Result, error) {
	if o.Signer == nil {
		return res, nil
	}
	signer, err := o.Signer()
	var signed git.OID
	if err == nil {
		signed, err = g.commit(ctx, o, tree, target, tip, signer)
	}
	var failed *git.SignError
	if errors.As(err, &failed) && ctx.Err() == nil {
		id := o.Lease.Lease().ID
		return wait(res, failed), g.keep(ctx, id, ResultOf(id), res.Commit, target)
	}
	if err != nil {
		return res, err
	}
	if same, err := g.repo.TreeOf(ctx, signed); err != nil || same != tree {
		return res, errors.Join(err, fmt.Errorf("the signed commit %s does not hold the tree that was tested", signed.Short()))
	}
	res.Commit, res.Signed = signed, true
	return res, nil
}
