package leftlooking

// Solve computes x with A x = b. b and x have Size elements and may be the same. work has
// at least twice as many; nil stands for memory that Solve allocates.
func (f *LU) Solve(b, x, work []float64) {
	work = workspace(work, 2*f.sym.n)
	w, below := work[:f.sym.n], work[f.sym.n:]
	for k, i := range f.rows {
		w[k] = f.scale[i] * b[i]
	}
	for g := len(f.stores) - 1; g >= 0; g-- {
		s := &f.stores[g]
		for t := f.groups[g+1] - 1; t >= f.groups[g]; t-- {
			lo, hi := f.sym.start[t], f.sym.start[t+1]
			if hi-lo == 1 {
				w[lo] /= f.diag[lo]
			} else {
				f.solveBlock(s, w[lo:hi], below, lo)
			}
			for k := lo; k < hi; k++ {
				if p, q := f.sym.offPtr[k], f.sym.offPtr[k+1]; p < q {
					subtract1(w, f.offRow[p:q], f.offVal[p:q], w[k])
				}
			}
		}
	}
	for k, j := range f.sym.cols {
		x[j] = f.colScale(j) * w[k]
	}
}

// colScale returns the factor of column j of the matrix.
func (f *LU) colScale(j int32) float64 {
	if f.sym.colScale == nil {
		return 1
	}
	return f.sym.colScale[j]
}

func workspace(work []float64, n int) []float64 {
	if work == nil {
		return make([]float64, n)
	}
	return work[:n]
}

// solveBlock replaces x by U^-1 L^-1 x for the block that begins at position lo. below is
// for LU.forward.
func (f *LU) solveBlock(s *store, x, below []float64, lo int) {
	hi := lo + len(x)
	runLast, lp, xp, llen := f.runLast[lo:hi], f.lp[lo:hi], f.xp[lo:hi], f.llen[lo:hi]
	for k := 0; k < len(x); {
		last := int(runLast[k])
		if last > k {
			f.forward(s, x, lo+k, lo+last, int32(k), x[k:], below, false)
		} else if u, n := x[k], int(llen[k]); u != 0 && n > 0 {
			subtract1(x, s.li[lp[k]:][:n], s.lx[xp[k]:][:n], u)
		}
		k = last + 1
	}
	up, ulen, diag := f.up[lo:hi], f.ulen[lo:hi], f.diag[lo:hi]
	for k := len(x) - 1; k >= 0; k-- {
		u := x[k] / diag[k]
		x[k] = u
		if n := int(ulen[k]); u != 0 && n > 0 {
			subtract1(x, s.ui[up[k]:][:n], s.ux[up[k]:][:n], u)
		}
	}
}

// SolveTransposed computes x with A' x = b. See Solve.
func (f *LU) SolveTransposed(b, x, work []float64) {
	w := workspace(work, f.sym.n)
	for k, j := range f.sym.cols {
		w[k] = f.colScale(j) * b[j]
	}
	for g := range f.stores {
		s := &f.stores[g]
		for t := f.groups[g]; t < f.groups[g+1]; t++ {
			lo, hi := f.sym.start[t], f.sym.start[t+1]
			for k := lo; k < hi; k++ {
				if p, q := f.sym.offPtr[k], f.sym.offPtr[k+1]; p < q {
					w[k] -= dot(w, f.offRow[p:q], f.offVal[p:q])
				}
			}
			if hi-lo == 1 {
				w[lo] /= f.diag[lo]
				continue
			}
			x := w[lo:hi]
			for k := range x {
				p, n := f.up[lo+k], int(f.ulen[lo+k])
				x[k] = (x[k] - dot(x, s.ui[p:][:n], s.ux[p:][:n])) / f.diag[lo+k]
			}
			for k := len(x) - 1; k >= 0; k-- {
				rows, a := f.below(s, lo+k)
				x[k] -= dot(x, rows, a)
			}
		}
	}
	for k, i := range f.rows {
		x[i] = f.scale[i] * w[k]
	}
}

// dot returns the sum of a[p]*x[idx[p]].
func dot(x []float64, idx []int32, a []float64) (sum float64) {
	a = a[:len(idx)]
	for p, i := range idx {
		sum += a[p] * x[i]
	}
	return sum
}
