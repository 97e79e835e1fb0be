package dense

import (
	"math"

	"github.com/msrep-go/msrep/sparse"
)

// The solves in plain Go, for triangles of at most triangleSide rows.

func lowerUnitLoop[V sparse.Value](n, m int, l []V, ldl int, b []V, ldb int) {
	for j := range m {
		x := b[j*ldb:][:n]
		for p, v := range x {
			col := l[p*ldl:][:n]
			for i := p + 1; i < n; i++ {
				x[i] -= V(col[i] * v)
			}
		}
	}
}

func lowerLoop[V sparse.Value](n, m int, l []V, ldl int, b []V, ldb int) {
	for j := range m {
		x := b[j*ldb:][:n]
		for p := range x {
			col := l[p*ldl:][:n]
			v := x[p] / col[p]
			x[p] = v
			for i := p + 1; i < n; i++ {
				x[i] -= V(col[i] * v)
			}
		}
	}
}

func upperLoop[V sparse.Value](n, m int, u []V, ldu int, b []V, ldb int) {
	for j := range m {
		x := b[j*ldb:][:n]
		for p := n - 1; p >= 0; p-- {
			col := u[p*ldu:][:p+1]
			v := x[p] / col[p]
			x[p] = v
			for i, w := range col[:p] {
				x[i] -= V(w * v)
			}
		}
	}
}

func lowerTransLoop[V sparse.Value](n, m int, l []V, ldl int, b []V, ldb int, unit bool) {
	for j := range m {
		x := b[j*ldb:][:n]
		for i := n - 1; i >= 0; i-- {
			col := l[i*ldl:][:n]
			s := x[i]
			for p := i + 1; p < n; p++ {
				s -= V(col[p] * x[p])
			}
			if !unit {
				s /= col[i]
			}
			x[i] = s
		}
	}
}

func upperTransLoop[V sparse.Value](n, m int, u []V, ldu int, b []V, ldb int) {
	for j := range m {
		x := b[j*ldb:][:n]
		for i := range x {
			col := u[i*ldu:][:i+1]
			s := x[i]
			for p, w := range col[:i] {
				s -= V(w * x[p])
			}
			x[i] = s / col[i]
		}
	}
}

// rightLoop is rightSolve for n <= triangleSide columns.
func rightLoop[V sparse.Value](m, n int, u []V, uk, uj int, b []V, ldb int) {
	for j := range n {
		x := b[j*ldb:][:m]
		subtractColumn(m, j, b, ldb, u[j*uj:], uk, x)
		divide(x, u[j*(uk+uj)])
	}
}

// divide computes x = x/d, by a multiplication if the reciprocal of d is finite.
func divide[V sparse.Value](x []V, d V) {
	inverse := 1 / d
	if math.IsInf(float64(inverse), 0) && d != 0 {
		for i := range x {
			x[i] /= d
		}
		return
	}
	for i := range x {
		x[i] *= inverse
	}
}
