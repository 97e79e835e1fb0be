package cpu

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/forms"
	"github.com/msrep-go/msrep/kernels/cpu/internal/rows"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// piece is the rows of a packed part that one worker multiplies. Rows that it shares with other pieces are kept apart
// from its whole rows:
//
//	head   the rest of a row that an earlier piece owns; its sum is a carry
//	body   rows that lie in the piece from their first entry to their last
//	tail   the beginning of a row that continues in the next piece
type piece[V sparse.Value] struct {
	part partition.Part    // majors are numbered as in the packed part
	n    int               // number of rows of the body
	rows rows.PieceRows[V] // the rows to build the forms from; empty once the forms are built
	body form.Form[V]
	head form.Form[V] // one row; nil if there is none
	tail form.Form[V] // one row; nil if there is none
}

// multiply computes the rows that the piece owns, and its carry.
func (p *piece[V]) multiply(alpha, beta V, x, y []V) (carry V) {
	if p.head != nil {
		var sum [1]V
		p.head.Multiply(alpha, 0, x, sum[:])
		carry = sum[0]
	}
	p.body.Multiply(alpha, beta, x, y[:p.n])
	if p.tail != nil {
		p.tail.Multiply(alpha, beta, x, y[p.n:p.n+1])
	}
	return carry
}

// buildEnds builds the forms of the rows that the piece shares, by c.
func (p *piece[V]) buildEnds(c forms.Candidate[V], m *form.Memory) (err error) {
	for _, end := range []struct {
		rows form.Rows[V]
		form *form.Form[V]
	}{{p.rows.Head, &p.head}, {p.rows.Tail, &p.tail}} {
		if end.rows.Ptr == nil {
			continue
		}
		end.rows.Mem = m
		if *end.form, err = c.Build(end.rows); err != nil {
			return err
		}
	}
	return nil
}
