package leftlooking

// manyWidth is the number of right-hand sides that are solved together.
const manyWidth = 4

// SolveMany computes X with A X = B for count right-hand sides. Right-hand side c has the
// elements b[c*n:(c+1)*n], its solution x[c*n:(c+1)*n], where n is Size. b and x may be
// the same. work has at least 4 n elements, or is nil.
func (f *LU) SolveMany(b, x []float64, count int, work []float64) {
	n := f.sym.n
	w := workspace(work, manyWidth*n)
	c := 0
	for ; c+manyWidth <= count; c += manyWidth {
		f.solveFour(b[c*n:(c+manyWidth)*n], x[c*n:(c+manyWidth)*n], w)
	}
	for ; c < count; c++ {
		f.Solve(b[c*n:(c+1)*n], x[c*n:(c+1)*n], w)
	}
}

// solveFour solves with four right-hand sides. Element k of all of them is w[4k:4k+4].
func (f *LU) solveFour(b, x, w []float64) {
	n := f.sym.n
	for k, i := range f.rows {
		for c := range manyWidth {
			w[manyWidth*k+c] = f.scale[i] * b[c*n+int(i)]
		}
	}
	for g := len(f.stores) - 1; g >= 0; g-- {
		s := &f.stores[g]
		for t := f.groups[g+1] - 1; t >= f.groups[g]; t-- {
			lo, hi := f.sym.start[t], f.sym.start[t+1]
			block := w[manyWidth*lo : manyWidth*hi]
			for k := lo; k < hi && hi-lo > 1; k++ {
				rows, a := f.below(s, k)
				subtractFour(block, rows, a, (*[manyWidth]float64)(block[manyWidth*(k-lo):]))
			}
			for k := hi - 1; k >= lo; k-- {
				u := (*[manyWidth]float64)(block[manyWidth*(k-lo):])
				for c := range u {
					u[c] /= f.diag[k]
				}
				p, m := f.up[k], int(f.ulen[k])
				subtractFour(block, s.ui[p:][:m], s.ux[p:][:m], u)
			}
			for k := lo; k < hi; k++ {
				p, q := f.sym.offPtr[k], f.sym.offPtr[k+1]
				subtractFour(w, f.offRow[p:q], f.offVal[p:q], (*[manyWidth]float64)(w[manyWidth*k:]))
			}
		}
	}
	for k, j := range f.sym.cols {
		for c := range manyWidth {
			x[c*n+int(j)] = f.colScale(j) * w[manyWidth*k+c]
		}
	}
}

// subtractFour computes x[4 idx[p]+c] -= a[p]*u[c] for all p and c < 4.
func subtractFour(x []float64, idx []int32, a []float64, u *[manyWidth]float64) {
	a = a[:len(idx)]
	u0, u1, u2, u3 := u[0], u[1], u[2], u[3]
	for p, i := range idx {
		y, v := (*[manyWidth]float64)(x[manyWidth*int(i):]), a[p]
		y[0] -= v * u0
		y[1] -= v * u1
		y[2] -= v * u2
		y[3] -= v * u3
	}
}
