package leftlooking

import "github.com/msrep-go/msrep/internal/dense"

// subtract1 computes x[idx[p]] -= a[p]*u for all p. a has the length of idx.
func subtract1(x []float64, idx []int32, a []float64, u float64) {
	a = a[:len(idx)]
	for p, i := range idx {
		x[i] -= a[p] * u
	}
}

// subtract2 computes x[idx[p]] -= a[p]*u + b[p]*v.
func subtract2(x []float64, idx []int32, a, b []float64, u, v float64) {
	a, b = a[:len(idx)], b[:len(idx)]
	for p, i := range idx {
		x[i] -= a[p]*u + b[p]*v
	}
}

// subtract4 computes x[idx[p]] -= a[p]*u[0] + b[p]*u[1] + c[p]*u[2] + d[p]*u[3].
func subtract4(x []float64, idx []int32, a, b, c, d []float64, u []float64) {
	a, b, c, d = a[:len(idx)], b[:len(idx)], c[:len(idx)], d[:len(idx)]
	u0, u1, u2, u3 := u[0], u[1], u[2], u[3]
	for p, i := range idx {
		x[i] -= (a[p]*u0 + b[p]*u1) + (c[p]*u2 + d[p]*u3)
	}
}

// below returns the rows and values of column k of L below its diagonal.
func (f *LU) below(s *store, k int) ([]int32, []float64) {
	n := int(f.llen[k])
	return s.li[f.lp[k]:][:n], s.lx[f.xp[k]:][:n]
}

// denseWidth is the number of columns from which a run is multiplied as a dense matrix.
const denseWidth = 8

// forward solves with the columns k to last of L, which belong to one run. x has a
// position for each row of the block; row is that of the pivot of column k. The elements of
// the solution go to u and, if clear is set, are set to zero in x. The rows below the run
// are updated. work has an element for each of them.
func (f *LU) forward(s *store, x []float64, k, last int, row int32, u, work []float64, clear bool) {
	w := last - k + 1
	rows, _ := f.below(s, k)
	inside, rest := rows[:w-1], rows[w-1:] // rows of the pivots after k; rows below the run
	u = u[:w]
	u[0] = x[row]
	if clear {
		x[row] = 0
	}
	if w >= denseWidth {
		for c, i := range inside {
			u[c+1] = x[i]
			if clear {
				x[i] = 0
			}
		}
		lda := f.xp[k+1] - f.xp[k] - 1
		l := s.lx[f.xp[k]-1:]
		dense.LowerUnitSolveVec(w, l, lda, u)
		work = work[:len(rest)]
		for p, i := range rest {
			work[p] = x[i]
		}
		dense.GemvSub(len(rest), w, l[w:], lda, u, work)
		for p, i := range rest {
			x[i] = work[p]
		}
		return
	}
	for c, i := range inside {
		_, a := f.below(s, k+c)
		subtract1(x, inside[c:], a, u[c])
		u[c+1] = x[i]
		if clear {
			x[i] = 0
		}
	}
	c := 0
	for ; c+4 <= w; c += 4 {
		subtract4(x, rest, f.tail(s, k+c, last), f.tail(s, k+c+1, last), f.tail(s, k+c+2, last), f.tail(s, k+c+3, last), u[c:c+4])
	}
	if c+2 <= w {
		subtract2(x, rest, f.tail(s, k+c, last), f.tail(s, k+c+1, last), u[c], u[c+1])
		c += 2
	}
	if c < w {
		subtract1(x, rest, f.tail(s, k+c, last), u[c])
	}
}

// tail returns the values of column k of L below column last of its run.
func (f *LU) tail(s *store, k, last int) []float64 { return s.lx[f.xp[k]+last-k:][:f.llen[last]] }
