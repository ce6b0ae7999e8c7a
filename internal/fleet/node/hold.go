package node

import (
	"context"
	"errors"
	"fmt"

	"cordon/internal/fleet/pack"
	"cordon/internal/fleet/protocol"
)

// Hold is a stage that a node has.
type Hold struct {
	node  *Node
	lease string
	fence uint64
}

// Base brings a pack of the stage's base into a store, without the commits that the node has.
// The pack may be thin: it is for a repository that has these commits.
func (h *Hold) Base(ctx context.Context, to pack.Store, have []string) (protocol.Pack, error) {
	a, err := h.ask(ctx, func(head protocol.Header) any {
		head.Kind = protocol.WantKind
		return protocol.Want{Header: head, Lease: h.lease, Fence: h.fence, Have: have}
	})
	if err != nil {
		return protocol.Pack{}, err
	}
	for next := int64(0); next < a.Pack.Size; {
		piece, err := h.ask(ctx, func(head protocol.Header) any {
			head.Kind = protocol.FetchKind
			return protocol.Fetch{Header: head, Lease: h.lease, Fence: h.fence, Pack: a.Pack, Offset: next}
		})
		if err != nil {
			return protocol.Pack{}, err
		}
		if len(piece.Piece) == 0 {
			return protocol.Pack{}, errors.New("the home sends nothing more of the base")
		}
		if next, err = to.Add(a.Pack, next, piece.Piece); err != nil {
			return protocol.Pack{}, err
		}
	}
	return a.Pack, nil
}

// Send brings the pack of a result to the home.
func (h *Hold) Send(ctx context.Context, from pack.Store, p protocol.Pack) error {
	for next := int64(0); next < p.Size; {
		piece, err := from.Read(p, next)
		if err != nil {
			return err
		}
		a, err := h.node.ask(ctx, func(head protocol.Header) any {
			head.Kind = protocol.PutKind
			return protocol.Put{Header: head, Lease: h.lease, Fence: h.fence, Pack: p, Offset: next, Piece: piece}
		})
		if err == nil && a.Verdict != protocol.Go {
			err = refusal(a)
		}
		if err != nil {
			return err
		}
		if a.Next < 0 || a.Next > p.Size {
			return errors.New("the home asks for a piece that is not there")
		}
		next = a.Next
	}
	return nil
}

// Report tells the home what the stage has printed from an offset on, what its worker has asked, and which rate limits it has met. It returns
// the offset from which the home wants more, and the answers to the questions: "" where there is none yet.
func (h *Hold) Report(ctx context.Context, offset int64, piece []byte, asked []protocol.Question, limits []string) (next int64, answers []string, err error) {
	a, err := h.ask(ctx, func(head protocol.Header) any {
		head.Kind = protocol.ReportKind
		return protocol.Report{Header: head, Lease: h.lease, Fence: h.fence, Offset: offset, Piece: piece, Questions: asked, Limits: limits}
	})
	return a.Next, a.Answers, err
}

// Listen returns what the operator has typed after so many strokes.
func (h *Hold) Listen(ctx context.Context, heard uint64) ([]protocol.Stroke, error) {
	a, err := h.ask(ctx, func(head protocol.Header) any {
		head.Kind = protocol.ListenKind
		return protocol.Listen{Header: head, Lease: h.lease, Fence: h.fence, Heard: heard}
	})
	return a.Strokes, err
}

// ask asks until there is an answer, and fails unless the node may go on.
func (h *Hold) ask(ctx context.Context, message func(protocol.Header) any) (protocol.Answer, error) {
	a, err := h.node.ask(ctx, message)
	if err == nil && a.Verdict != protocol.Go {
		err = fmt.Errorf("%s: %s", h.lease, a.Say)
	}
	return a, err
}
