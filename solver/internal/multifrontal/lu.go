package multifrontal

import (
	"context"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/dense"
)

// LUFactor is a factorisation P A = L U, where P exchanges rows within fronts.
type LUFactor struct {
	*Analysis
	factors  []float64
	exchange []int32 // row exchanges of each front, see dense.LU
	replaced int
	growth   float64
}

// FactorLU computes the factors of the matrix with the values given, in the order of the entries of the analysed matrix.
// The pivot of a column is its diagonal entry if that is at least tol times the largest of the candidates, the rows of
// the same front that have no pivot; otherwise it is the largest one. Pivots smaller than tiny are replaced by tiny. If
// f is not nil, it uses the memory of f.
func (s *Analysis) FactorLU(ctx context.Context, values []float64, tol, tiny float64, f *LUFactor) (*LUFactor, error) {
	r := &run{Analysis: s, ctx: ctx, values: values}
	if f == nil {
		f = &LUFactor{Analysis: s, factors: make([]float64, s.Stored()), exchange: make([]int32, s.n)}
		r.clean = true
	}
	r.factors = f.factors
	e := &luRun{run: r, exchange: f.exchange, tol: tol, tiny: tiny, growth: make([]float64, len(s.parent))}
	r.eliminate = e.eliminate
	if err := r.factor(); err != nil {
		return nil, err
	}
	f.replaced, f.growth = int(e.replaced.Load()), dense.Largest(0, e.growth)
	return f, nil
}

// Replaced returns the number of pivots that were replaced.
func (f *LUFactor) Replaced() int { return f.replaced }

// Growth returns the largest magnitude of an entry of L, or NaN.
func (f *LUFactor) Growth() float64 { return f.growth }

// luRun is a run of FactorLU.
type luRun struct {
	*run
	exchange  []int32
	tol, tiny float64
	replaced  atomic.Int64
	growth    []float64 // of each supernode
}

func (r *luRun) eliminate(t *team, i int32) error {
	p := r.assemble(i)
	f := r.front[i]
	k, m, n := f.pivots, f.rows(), f.below
	l, u, s := p[:m*k], p[m*k:], r.contribution[i]
	for _, c := range r.childrenOf(i) {
		r.addLU(t, c, f, l, u, s)
	}
	perm := r.exchange[r.first[i]:r.first[i+1]]
	var replaced int
	if frontWork(f) > minLoopWork {
		replaced, r.growth[i] = r.largeFront(t, f, l, u, s, perm)
	} else {
		replaced, r.growth[i] = dense.LUPanel(m, k, l, m, perm, r.tol, r.tiny)
		if n > 0 {
			dense.UpperPart(k, n, l, m, perm, u, k)
			dense.Gemm(n, n, k, l[k:], m, u, k, s, n)
		}
	}
	if replaced > 0 {
		r.replaced.Add(int64(replaced))
	}
	return r.ctx.Err()
}

// frontWork returns the work of LU of one front.
func frontWork(f front) float64 {
	k, m := float64(f.pivots), float64(f.below)
	return 2 * (k*k*k/3 + k*k*m + k*m*m)
}

// addLU adds the contribution of c to the front f of its parent: L, U and the contribution of the parent.
func (r *luRun) addLU(t *team, c int32, f front, l, u, s []float64) {
	n := r.front[c].below
	place := r.place[r.rowPtr[c]:r.rowPtr[c+1]]
	from := r.contribution[c]
	k, m := f.pivots, f.rows()
	inner := 0 // rows that are pivots of the parent
	for inner < n && int(place[inner]) < k {
		inner++
	}
	cols := func(lo, hi int) {
		for j := lo; j < hi; j++ {
			col, q := from[j*n:][:n], int(place[j])
			if q < k {
				scatter(l[q*m:][:m], col, place, 0)
				continue
			}
			q -= k
			scatter(u[q*k:][:k], col[:inner], place[:inner], 0)
			scatter(s[q*f.below:][:f.below], col[inner:], place[inner:], k)
		}
	}
	r.share(t, n, float64(n)*float64(n)*4, cols)
}

// scatter adds x[i] to y[place[i]-base].
func scatter(y, x []float64, place []int32, base int) {
	place = place[:len(x)]
	n := len(x)
	if n == 0 {
		return
	}
	if at := int(place[0]); int(place[n-1])-at == n-1 { // a run of rows
		y = y[at-base:][:n]
		for i, v := range x {
			y[i] += v
		}
		return
	}
	for i, v := range x {
		y[int(place[i])-base] += v
	}
}

const (
	leastPart = 1e6 // work of a part of a loop that pays for another goroutine
	mostPart  = 1e9 // work of a part, of some 50 ms, after which a loop looks at its context
)

// share calls f for ranges of n columns, on the goroutines of t if the work is large. If the context ends, it leaves out
// ranges.
func (r *run) share(t *team, n int, work float64, f func(lo, hi int)) {
	if n == 0 {
		return
	}
	parts := 1 + work/mostPart
	if t.size > 1 {
		parts = max(parts, min(4*float64(t.size), work/leastPart))
	}
	count := int(min(parts, float64(n)))
	t.each(count, func(i int) {
		if r.ctx.Err() == nil {
			f(part(n, count, i), part(n, count, i+1))
		}
	})
}

// part returns the first column of part i of parts of n columns, a multiple of 8 where there are enough columns.
func part(n, parts, i int) int {
	if n < 8*parts {
		return n * i / parts
	}
	if i == parts {
		return n
	}
	return n / 8 * i / parts * 8
}

// blockColumns is the number of pivots of a large front that are eliminated at a time.
const blockColumns = 128

// largeFront is LU of a front in parts, by a team. If the context ends, the result is undefined.
func (r *luRun) largeFront(t *team, f front, l, u, s []float64, perm []int32) (replaced int, growth float64) {
	k, m, n := f.pivots, f.rows(), f.below
	for c := 0; c < k && r.ctx.Err() == nil; c += blockColumns {
		nb := min(blockColumns, k-c)
		end := c + nb
		block := l[c+c*m:] // its diagonal
		swaps := perm[c:end]
		replaced += dense.LUColumns(k-c, nb, block, m, swaps, r.tol, r.tiny)
		// The rest of the rows of L, by rows.
		r.share(t, n, float64(n)*float64(nb)*float64(nb), func(lo, hi int) {
			dense.UpperRightSolve(hi-lo, nb, block, m, l[k+lo+c*m:], m)
		})
		if c > 0 {
			r.share(t, c, float64(c)*float64(nb), func(lo, hi int) { swapRows(swaps, c, hi-lo, l[lo*m:], m) })
		}
		// The columns of L after the block.
		rest := k - end
		r.share(t, rest, 2*float64(rest)*float64(nb)*float64(m-c), func(lo, hi int) {
			b := l[(end+lo)*m:]
			dense.UpperPart(nb, hi-lo, block, m, swaps, b[c:], m)
			dense.Gemm(m-end, hi-lo, nb, l[end+c*m:], m, b[c:], m, b[end:], m)
		})
		for i := range swaps {
			swaps[i] += int32(c)
		}
	}
	if n > 0 {
		r.share(t, n, float64(n)*(float64(k)*float64(k)+2*float64(k)*float64(n)), func(lo, hi int) {
			dense.UpperPart(k, hi-lo, l, m, perm, u[lo*k:], k)
			dense.Gemm(n, hi-lo, k, l[k:], m, u[lo*k:], k, s[lo*n:], n)
		})
	}
	for c := range k {
		growth = dense.Largest(growth, l[c*m:][c+1:m])
	}
	return replaced, growth
}

// swapRows exchanges row first+i with row first+perm[i] in n columns, for each i in ascending order.
func swapRows(perm []int32, first, n int, b []float64, ldb int) {
	for j := range n {
		col := b[j*ldb+first:]
		for i, r := range perm {
			col[i], col[r] = col[r], col[i]
		}
	}
}
