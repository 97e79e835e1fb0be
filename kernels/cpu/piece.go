package cpu

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/forms"
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
	part partition.Part // majors are numbered as in the packed part
	n    int            // number of rows of the body
	rows pieceRows[V]   // the rows to build the forms from; empty once the forms are built
	body form.Form[V]
	head form.Form[V] // one row; nil if there is none
	tail form.Form[V] // one row; nil if there is none
}

// pieceRows is the three groups of rows of a piece.
type pieceRows[V sparse.Value] struct {
	head, body, tail form.Rows[V]
}

// cutRows returns the rows of q, a piece of a part whose entries begin at base.
func cutRows[V sparse.Value](q partition.Part, base int64, ptr []int64, idx []int32, val []V, minors int) pieceRows[V] {
	end := q.EndIdx + 1
	rows := func(ptr []int64) form.Rows[V] {
		lo, hi := ptr[0]-base, ptr[len(ptr)-1]-base
		return form.Rows[V]{Ptr: ptr, Idx: idx[lo:hi], Val: val[lo:hi], Cols: minors}
	}
	var out pieceRows[V]
	if q.StartFlag {
		out.head = rows([]int64{q.StartIdx, min(ptr[q.StartMajor+1], end)})
	}
	last := q.OwnEnd
	if last > q.OwnFirst && ptr[last] > end {
		last--
		out.tail = rows([]int64{ptr[last], end})
	}
	out.body = rows(clip(ptr[q.OwnFirst:last+1], q.StartIdx, end))
	return out
}

// clip returns ptr with all values limited to [lo, hi]: pointers of empty rows at the border of a part may lie
// outside. It returns ptr itself if all values are inside.
func clip(ptr []int64, lo, hi int64) []int64 {
	if ptr[0] >= lo && ptr[len(ptr)-1] <= hi {
		return ptr
	}
	out := make([]int64, len(ptr))
	for i, p := range ptr {
		out[i] = min(max(p, lo), hi)
	}
	return out
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
	}{{p.rows.head, &p.head}, {p.rows.tail, &p.tail}} {
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
