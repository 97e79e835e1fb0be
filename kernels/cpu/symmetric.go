package cpu

import (
	"cmp"
	"slices"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// symmetric is a symmetric matrix of which only the entries (or blocks) on and before the diagonal are stored, cut
// among the workers by rows.
type symmetric[V sparse.Value] struct {
	border []int // the first row of each worker, and the end
	pieces []symmetricPiece[V]
}

// symmetricPiece is the rows of one worker. Sums for rows of other workers, and sums for its own rows that it
// computes together with these, wait in spill until all workers are done.
type symmetricPiece[V sparse.Value] struct {
	rows       halfRows[V]
	first, end int
	low        int // the row of spill[0]
	spill      []V // zero between products
}

// suitsSymmetric reports whether the part is a whole square matrix, its sums may have any shape, and one vector is
// multiplied at a time: several vectors gain more by forms that store all entries.
func (p *packed[V]) suitsSymmetric(op *kernels.Packing[V]) bool {
	n := p.part.Majors()
	return !p.fixed && op.Vectors <= 1 && !p.part.StartFlag && n == p.minors && p.part.OwnFirst == 0 && p.part.OwnEnd == n
}

// newSymmetric makes a form in an arena if the matrix is symmetric, and returns nil otherwise.
func (p *packed[V]) newSymmetric(op *kernels.Packing[V], h *half[V], in arena) (*symmetric[V], error) {
	s := &symmetric[V]{border: symmetricBorders(op, len(p.pieces), h.multiple), pieces: make([]symmetricPiece[V], len(p.pieces))}
	if ok, err := p.isSymmetric(op, s.border); !ok || err != nil {
		return nil, err
	}
	err := p.each(func(i int) (err error) {
		q := &s.pieces[i]
		q.first, q.end = s.border[i], s.border[i+1]
		m := &form.Memory{Alloc: in[i].take}
		lo, hi := op.Ptr[q.first]-op.Ptr[0], op.Ptr[q.end]-op.Ptr[0]
		r := form.Rows[V]{Ptr: op.Ptr[q.first : q.end+1], Idx: op.Idx[lo:hi], Val: op.Val[lo:hi], Cols: op.Minors, Mem: m}
		if q.rows, err = h.build(r, q.first); err != nil {
			return err
		}
		from, to := q.rows.Reach()
		q.low = from
		q.spill, err = form.Make[V](m, int64(to-from))
		return err
	})
	return s, err
}

// symmetricBorders cuts the rows of a matrix among n workers, at multiples of some rows, with equal numbers of
// entries: near the diagonal, where most entries are, half of them are stored.
func symmetricBorders[V sparse.Value](op *kernels.Packing[V], n, multiple int) []int {
	rows := len(op.Ptr) - 1
	out := make([]int, n+1)
	for i := 1; i < n; i++ {
		row := holder(op.Ptr, op.Ptr[0]+par.Cut(int64(len(op.Idx)), n, i))
		out[i] = max(row/multiple*multiple, out[i-1])
	}
	out[n] = rows
	return out
}

// name returns the name of the piece with the most rows.
func (s *symmetric[V]) name() string {
	most := slices.MaxFunc(s.pieces, func(a, b symmetricPiece[V]) int { return cmp.Compare(a.end-a.first, b.end-b.first) })
	return most.rows.Name()
}

// multiply computes y = alpha*A*x + beta*y. If alpha is not finite, two sums of a row, each times alpha, could be
// infinities of opposite signs: alpha is then applied last.
func (s *symmetric[V]) multiply(run runner, alpha, beta V, x, y []V) error {
	y = y[:s.border[len(s.border)-1]]
	if alpha-alpha == 0 {
		return s.multiplyFinite(run, alpha, beta, x, y)
	}
	sums := make([]V, len(y))
	err := s.multiplyFinite(run, 1, 0, x, sums)
	form.StoreRows(simd.Default(), alpha, beta, sums, y, false)
	return err
}

func (s *symmetric[V]) multiplyFinite(run runner, alpha, beta V, x, y []V) error {
	n := len(s.pieces)
	waiting := 0
	for i := range s.pieces {
		waiting += len(s.pieces[i].spill)
	}
	err := run.joined(n, func(i int) {
		q := &s.pieces[i]
		q.rows.Multiply(alpha, beta, x, y[q.first:q.end], func(lo, hi int) []V {
			if lo >= q.first {
				return y[lo:hi]
			}
			return q.spill[lo-q.low : hi-q.low]
		})
	}, func() int { return waiting }, func(i, end int) { s.join(y, s.border[i], s.border[end]) })
	if err != nil {
		for i := range s.pieces {
			clear(s.pieces[i].spill)
		}
	}
	return err
}

// join adds the spilled sums for y[lo:hi].
func (s *symmetric[V]) join(y []V, lo, hi int) {
	for i := range s.pieces {
		q := &s.pieces[i]
		a, b := max(lo, q.low), min(hi, q.low+len(q.spill))
		if a >= b {
			continue
		}
		spill, to := q.spill[a-q.low:b-q.low], y[a:b]
		form.StoreRows(simd.Default(), 1, 1, spill, to, false)
		clear(spill)
	}
}
