package eigen

import "math"

// turn is a rotation of columns at and at+1 of a matrix.
type turn struct {
	at       int
	sin, cos float64
}

// lasts returns the eigenvalues, in no order, and the last element of the eigenvector of each.
func (t tridiagonal) lasts() (values, last []float64, ok bool) {
	return t.implicitQL(nil)
}

// decomposed is the eigenvalues of a tridiagonal matrix, and its eigenvectors as a product of rotations.
type decomposed struct {
	values, last []float64 // last has the last element of each eigenvector
	turns        []turn
}

// decompose returns the eigenvalues, in no order. It appends its rotations to turns.
func (t tridiagonal) decompose(turns []turn) (d decomposed, err error) {
	ok := false
	d.turns = turns
	if d.values, d.last, ok = t.implicitQL(&d.turns); !ok {
		return d, errSmall
	}
	return d, nil
}

// vectors returns the eigenvectors of some values: y[i] is that of d.values[which[i]].
func (d decomposed) vectors(which []int) (y [][]float64) {
	n, k := len(d.values), len(which)
	z := make([]float64, n*k) // by row
	for i, w := range which {
		z[w*k+i] = 1
	}
	for t := len(d.turns) - 1; t >= 0; t-- {
		turn := d.turns[t]
		a := z[turn.at*k:][:k]
		b := z[(turn.at+1)*k:][:k]
		for i, u := range a {
			v := b[i]
			a[i], b[i] = turn.cos*u+turn.sin*v, turn.cos*v-turn.sin*u
		}
	}
	y = rowsOf(make([]float64, n*k), n)
	for i, y := range y {
		for j := range y {
			y[j] = z[j*k+i]
		}
	}
	return y
}

// implicitQL returns the eigenvalues, in no order, and the last element of the eigenvector of each, by implicit QL iterations
// whose rotations are applied to the last row of the identity only (Golub and Welsch, "Calculation of Gauss quadrature
// rules", Math. Comp. 23, 1969). It appends the rotations to turns, unless that is nil.
func (t tridiagonal) implicitQL(turns *[]turn) (values, last []float64, ok bool) {
	n := len(t.alpha)
	d, e, z := append([]float64(nil), t.alpha...), append([]float64(nil), t.beta[:n-1]...), make([]float64, n)
	e, z[n-1] = append(e, 0), 1
	for lo := range n {
		for round := 0; ; round++ {
			hi := lo
			for hi < n-1 && math.Abs(e[hi]) > 0x1p-53*(math.Abs(d[hi])+math.Abs(d[hi+1])) {
				hi++
			}
			if hi == lo {
				break
			}
			if round == 50 {
				return nil, nil, false
			}
			// The shift is the eigenvalue of the first 2 x 2 block that is nearer to d[lo].
			half := (d[lo+1] - d[lo]) / (2 * e[lo])
			root := math.Sqrt(half*half + 1)
			g := d[hi] - d[lo] + e[lo]/(half+math.Copysign(root, half))
			sin, cos, p := 1.0, 1.0, 0.0
			broke := false
			for i := hi - 1; i >= lo; i-- {
				f, b := sin*e[i], cos*e[i]
				r := math.Sqrt(f*f + g*g)
				if e[i+1] = r; r == 0 {
					d[i+1] -= p
					e[hi], broke = 0, true
					break
				}
				sin, cos = f/r, g/r
				g = d[i+1] - p
				r = (d[i]-g)*sin + 2*cos*b
				p = sin * r
				d[i+1] = g + p
				g = cos*r - b
				z[i+1], z[i] = sin*z[i]+cos*z[i+1], cos*z[i]-sin*z[i+1]
				if turns != nil {
					*turns = append(*turns, turn{i, sin, cos})
				}
			}
			if !broke {
				d[lo] -= p
				e[lo], e[hi] = g, 0
			}
		}
	}
	return d, z, finite(d)
}
