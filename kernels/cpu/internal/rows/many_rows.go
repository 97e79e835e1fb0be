package rows

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Many is the rows of a part in CSR, cut among the workers of a device, for products with several vectors.
type Many[V sparse.Value] struct {
	compressed[V]
	Pieces   []manyPiece[V]
	longRows []longRow[V]
}

// manyPiece is what one worker multiplies: the rows of a piece without the long rows, and its stretches of the long
// rows.
type manyPiece[V sparse.Value] struct {
	part     partition.Part
	rows     PieceRows[V]
	longRows []longRow[V]
	apart    []int // the long rows of the body, in order
}

// NewMany cuts the rows of a part as parts says.
func NewMany[V sparse.Value](a compressed[V], parts []partition.Part, minors int) *Many[V] {
	m := &Many[V]{compressed: a, Pieces: make([]manyPiece[V], len(parts))}
	for i, q := range parts {
		m.Pieces[i] = manyPiece[V]{part: q, rows: CutRows(q, a.part.StartIdx, a.ptr, a.idx, a.val, minors)}
	}
	m.shareLongRows()
	return m
}

// Multiply computes the rows that the part owns, and its carry.
func (m *Many[V]) Multiply(d *memory.Memory, alpha, beta V, x, y form.MultiVector[V], carry []V) error {
	if len(m.Pieces) == 1 && len(m.longRows) == 0 && !m.part.StartFlag { // small products save the time of the arrays below
		return d.Pool.Run(1, func(int) { m.Pieces[0].multiply(alpha, beta, x, y, form.MultiVector[V]{}) })
	}
	carries, sums := make([][]V, len(m.Pieces)), make([]form.MultiVector[V], len(m.Pieces))
	err := d.Pool.Run(len(m.Pieces), func(i int) {
		q := &m.Pieces[i]
		sums[i] = form.MultiVector[V]{Val: make([]V, len(m.longRows)*y.Cols), Cols: y.Cols, Stride: y.Cols}
		carries[i] = q.multiply(alpha, beta, x, y.From(q.part.OwnFirst-m.part.OwnFirst), sums[i])
	})
	if err != nil {
		return err
	}
	clear(carry)
	m.joinLongRows(sums, beta, y, carry)
	for i := range m.Pieces {
		JoinCarries(carries[i], m.Pieces[i].part, m.part, y, carry)
	}
	return nil
}

// multiply writes the rows that the piece owns to y, and the sums of its stretches of long rows to sums. It returns
// its carry, nil if there is none.
func (q *manyPiece[V]) multiply(alpha, beta V, x, y, sums form.MultiVector[V]) (carry []V) {
	if q.rows.Head.Ptr != nil {
		carry = make([]V, y.Cols)
		multiplyRowsMany(q.rows.Head, alpha, 0, x, form.MultiVector[V]{Val: carry, Cols: y.Cols, Stride: y.Cols})
	}
	q.multiplyBody(alpha, beta, x, y, sums)
	if q.rows.Tail.Ptr != nil {
		multiplyRowsMany(q.rows.Tail, alpha, beta, x, y.From(len(q.rows.Body.Ptr)-1))
	}
	return carry
}

// stretchBytes is how much of x long rows read at a time. That much stays in the second cache for all of them and for
// the rows of the body that read the same part of x.
const stretchBytes = 256 << 10

// multiplyBody multiplies long rows from left to right and, alternately, the body from top to bottom. Where entries
// lie near the diagonal, both find the same rows of x in the cache.
func (q *manyPiece[V]) multiplyBody(alpha, beta V, x, y, sums form.MultiVector[V]) {
	steps := 1
	for _, g := range q.longRows {
		steps = max(steps, len(g.idx)*x.Cols*int(unsafe.Sizeof(alpha))/stretchBytes)
	}
	body, apart, row := q.rows.Body, q.apart, 0
	for s := range steps {
		for i, g := range q.longRows {
			lo, hi := par.Cut(int64(len(g.idx)), steps, s), par.Cut(int64(len(g.idx)), steps, s+1)
			multiplyRowsMany(form.Rows[V]{Ptr: []int64{lo, hi}, Idx: g.idx[lo:], Val: g.val[lo:]}, alpha, 1, x, sums.From(i))
		}
		for end := int(par.Cut(int64(len(body.Ptr)-1), steps, s+1)); row < end; {
			to, long := end, len(apart) > 0 && apart[0] < end
			if long {
				to, apart = apart[0], apart[1:]
			}
			at := body.Ptr[row] - body.Ptr[0]
			multiplyRowsMany(form.Rows[V]{Ptr: body.Ptr[row : to+1], Idx: body.Idx[at:], Val: body.Val[at:]}, alpha, beta, x, y.From(row))
			if row = to; long {
				row++
			}
		}
	}
}

// multiplyRowsMany multiplies rows by several vectors. Idx and Val may be longer than the rows.
func multiplyRowsMany[V sparse.Value](r form.Rows[V], alpha, beta V, x, y form.MultiVector[V]) {
	csr.RowsMany(simd.Default(), alpha, beta, r.Ptr, r.Idx, r.Val, x, y)
}
