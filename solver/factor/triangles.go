package factor

import (
	"context"
	"errors"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// Triangles is triangular factors of a square matrix on the devices of a System, as a preconditioner:
//
//	L U ~ A[p][:, q]        M = (L U)^-1 in the orders of A: L U z[q] = r[p]
//
// where p and q are permutations; nil is the order of A. Calls may come from any goroutine and run one after the other.
type Triangles struct {
	lower, upper *msrep.Triangular[float64]
	rows, cols   []int32
	n            int
}

// NewTriangles stores the factors lower and upper on the devices of sys. Both have their diagonals; entries on the other
// side of them are ignored. Matrices of different sizes, a zero on a diagonal, and rows or cols that are no permutations
// give a *sparse.InputError.
func NewTriangles(ctx context.Context, sys *msrep.System, lower, upper *sparse.CSR[float64], rows, cols []int32) (t *Triangles, err error) {
	defer rescue.To(&err)
	t = &Triangles{rows: rows, cols: cols}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Close())
			t = nil
		}
	}()
	if t.lower, err = msrep.NewTriangular(ctx, sys, sparse.Matrix[float64](lower), msrep.TriangularOptions{}); err != nil {
		return t, err
	}
	if t.upper, err = msrep.NewTriangular(ctx, sys, sparse.Matrix[float64](upper), msrep.TriangularOptions{Upper: true}); err != nil {
		return t, err
	}
	if t.n = t.lower.Size(); t.upper.Size() != t.n {
		return t, sparse.Inputf("upper", "%d rows: lower has %d", t.upper.Size(), t.n)
	}
	if !permutes(rows, t.n) {
		return t, sparse.Inputf("rows", "is no permutation of the numbers below %d", t.n)
	}
	if !permutes(cols, t.n) {
		return t, sparse.Inputf("cols", "is no permutation of the numbers below %d", t.n)
	}
	return t, nil
}

// permutes reports whether p is nil or a permutation of n numbers.
func permutes(p []int32, n int) bool {
	if p == nil {
		return true
	}
	if len(p) != n {
		return false
	}
	seen := make([]bool, n)
	for _, i := range p {
		if i < 0 || int(i) >= n || seen[i] {
			return false
		}
		seen[i] = true
	}
	return true
}

// Size returns the number of rows.
func (t *Triangles) Size() int { return t.n }

// Apply computes z = M r. r and z have Size elements and do not overlap.
func (t *Triangles) Apply(r, z []float64) error {
	switch {
	case len(r) != t.n:
		return sparse.Inputf("r", "%d elements: the factors have %d rows", len(r), t.n)
	case len(z) != t.n:
		return sparse.Inputf("z", "%d elements: the factors have %d rows", len(z), t.n)
	case mem.Overlap(r, z):
		return sparse.Inputf("z", "shares memory with r")
	}
	b := r
	if t.rows != nil {
		b = make([]float64, t.n)
		for i, k := range t.rows {
			b[i] = r[k]
		}
	}
	ctx := context.Background()
	if err := t.lower.Solve(ctx, msrep.NoTrans, 1, b, z); err != nil {
		return err
	}
	if t.cols == nil {
		return t.upper.Solve(ctx, msrep.NoTrans, 1, z, z)
	}
	y := make([]float64, t.n)
	if err := t.upper.Solve(ctx, msrep.NoTrans, 1, z, y); err != nil {
		return err
	}
	for j, k := range t.cols {
		z[k] = y[j]
	}
	return nil
}

// ApplyVector is Apply for vectors that stay on the devices. On devices with their own memory the host does not wait,
// unless there are permutations: then r and z are copied to the host and back. To avoid that, permute the system.
func (t *Triangles) ApplyVector(ctx context.Context, r, z *msrep.Vector[float64]) error {
	if r == z {
		return sparse.Inputf("z", "is r")
	}
	if t.rows == nil && t.cols == nil {
		if err := t.lower.SolveVector(ctx, msrep.NoTrans, 1, r, z); err != nil {
			return err
		}
		return t.upper.SolveVector(ctx, msrep.NoTrans, 1, z, z)
	}
	in, out := make([]float64, r.Len()), make([]float64, z.Len())
	if err := r.Read(in); err != nil {
		return err
	}
	if err := t.Apply(in, out); err != nil {
		return err
	}
	return z.Write(out)
}

// Close frees the memory. It may be called again.
func (t *Triangles) Close() error {
	if t == nil {
		return nil
	}
	return errors.Join(t.lower.Close(), t.upper.Close())
}
