package solver

import (
	"math"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// Preconditioner is an approximate inverse M of a matrix. For CG it must be
// symmetric and positive definite.
type Preconditioner interface {
	// Size is the number of rows and columns.
	Size() int
	// Apply computes z = M r. r and z have Size elements and do not overlap.
	Apply(r, z []float64) error
}

func checkPrecond(m Preconditioner, n int) error {
	if m != nil && isNil(m) {
		return sparse.Inputf("preconditioner", "is a nil %T: for none leave it out", m)
	}
	if m != nil && m.Size() != n {
		return sparse.Inputf("preconditioner", "made for %d equations: the system has %d", m.Size(), n)
	}
	return nil
}

// checkApply checks the lengths of the vectors of a preconditioner for n equations.
func checkApply(n int, r, z []float64) error {
	for _, v := range []struct {
		name string
		n    int
	}{{"r", len(r)}, {"z", len(z)}} {
		if v.n != n {
			return sparse.Inputf(v.name, "%d elements: the preconditioner has %d equations", v.n, n)
		}
	}
	return nil
}

// applyGrain is how many elements are worth a goroutine.
const applyGrain = 1 << 15

type jacobi struct{ inverse []float64 }

// Jacobi makes the preconditioner that divides by the diagonal of a square matrix.
// Entries of the same place are added up first. A diagonal element that is missing,
// zero or not finite is a *sparse.InputError that names its row.
func Jacobi(a sparse.Matrix[float64]) (Preconditioner, error) { return JacobiPiece(a, 0) }

// JacobiPiece is Jacobi for a process's piece of a larger system; see Distributed. Row i
// of a is row first+i of that: so errors number it.
func JacobiPiece(a sparse.Matrix[float64], first int) (Preconditioner, error) {
	m, err := square(a)
	if err != nil {
		return nil, err
	}
	if err := vectorsFit("preconditioner", "the inverse of the diagonal takes", 8*int64(m.Rows), m.Rows); err != nil {
		return nil, err
	}
	inverse := make([]float64, m.Rows)
	for i := range inverse {
		var d float64
		for k := m.RowPtr[i]; k < m.RowPtr[i+1]; k++ {
			if int(m.ColIdx[k]) == i {
				d += m.Val[k]
			}
		}
		inverse[i] = 1 / d
		if !finite(d) || !finite(inverse[i]) {
			return nil, sparse.Inputf("matrix", "its diagonal element in row %d is %g: Jacobi divides by it; use another preconditioner or none", first+i, d)
		}
	}
	return &jacobi{inverse}, nil
}

func (j *jacobi) Size() int { return len(j.inverse) }

func (j *jacobi) Apply(r, z []float64) error {
	if err := checkApply(len(j.inverse), r, z); err != nil {
		return err
	}
	par.Range(int64(len(r)), applyGrain, func(lo, hi int64) {
		d, r, z := j.inverse[lo:hi], r[lo:hi], z[lo:hi]
		for i := range z {
			z[i] = d[i] * r[i]
		}
	})
	return nil
}

// square brings a to CSR and checks it.
func square(a sparse.Matrix[float64]) (*sparse.CSR[float64], error) {
	if a == nil {
		return nil, sparse.Inputf("matrix", "is nil")
	}
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if rows, cols := a.Dims(); rows != cols {
		return nil, sparse.Inputf("matrix", "%d x %d: a preconditioner needs a square one", rows, cols)
	}
	return sparse.ToCSR(a), nil
}

// MaxBlock bounds the blocks of BlockJacobi.
const MaxBlock = 256

type blockJacobi struct {
	n, size int
	lu      []float64 // blocks of size*size, by rows: L below the diagonal, U on and above it
	perm    []int32   // row of the block that stands in each place
}

// BlockJacobi makes the preconditioner that solves with the blocks of size x size on
// the diagonal of a square matrix, the last one being smaller where size does not
// divide n. It keeps size*n numbers. A singular block, a size that is not in
// [1, MaxBlock], and blocks for which memory lacks are *sparse.InputError.
func BlockJacobi(a sparse.Matrix[float64], size int) (Preconditioner, error) {
	return BlockJacobiPiece(a, size, 0)
}

// BlockJacobiPiece is BlockJacobi for a process's piece of a larger system; see
// JacobiPiece. Pieces begin between blocks.
func BlockJacobiPiece(a sparse.Matrix[float64], size, first int) (Preconditioner, error) {
	m, err := square(a)
	if err != nil {
		return nil, err
	}
	if size < 1 || size > MaxBlock {
		return nil, sparse.Inputf("block size", "%d: use 1 to %d", size, MaxBlock)
	}
	n := m.Rows
	if err := blocksFit(n, size); err != nil {
		return nil, err
	}
	b := &blockJacobi{n: n, size: size, lu: make([]float64, n*size), perm: make([]int32, n)}
	blocks := (n + size - 1) / size
	bad := make([]int, blocks) // 1 + the row of the block that cannot be eliminated
	par.Range(int64(blocks), 64, func(lo, hi int64) {
		for k := int(lo); k < int(hi); k++ {
			bad[k] = b.factor(m, k)
		}
	})
	for k, r := range bad {
		if r > 0 {
			return nil, sparse.Inputf("matrix", "its diagonal block in rows %d to %d is singular or not finite; use another block size, Jacobi or none", first+k*size, first+min((k+1)*size, n)-1)
		}
	}
	return b, nil
}

// blocksFit refuses blocks for n rows for which memory lacks.
func blocksFit(n, size int) error {
	need := (8*int64(size)+4)*int64(n) + 8*int64(n/size)
	if have, ok := mem.Fits(need); !ok {
		return sparse.Inputf("block size", "%d: the blocks of %d rows take %d bytes, %d are available", size, n, need, have)
	}
	return nil
}

// at is a block: its first row, its order, its factors and its rows.
func (b *blockJacobi) at(k int) (first, m int, lu []float64, perm []int32) {
	first = k * b.size
	m = min(b.size, b.n-first)
	return first, m, b.lu[first*b.size:], b.perm[first : first+m]
}

// factor eliminates block k with partial pivoting. It gives 1 + the column without a
// pivot, or 0.
func (b *blockJacobi) factor(a *sparse.CSR[float64], k int) int {
	first, m, lu, perm := b.at(k)
	for i := range m {
		perm[i] = int32(i)
		for e := a.RowPtr[first+i]; e < a.RowPtr[first+i+1]; e++ {
			if j := int(a.ColIdx[e]) - first; j >= 0 && j < m {
				lu[i*b.size+j] += a.Val[e]
			}
		}
	}
	for c := range m {
		p := c
		for i := c + 1; i < m; i++ {
			if math.Abs(lu[i*b.size+c]) > math.Abs(lu[p*b.size+c]) {
				p = i
			}
		}
		perm[c], perm[p] = perm[p], perm[c]
		top, other := lu[c*b.size:c*b.size+m], lu[p*b.size:p*b.size+m]
		if p != c {
			for j := range top {
				top[j], other[j] = other[j], top[j]
			}
		}
		if d := 1 / top[c]; !finite(d) || d == 0 {
			return c + 1
		}
		for i := c + 1; i < m; i++ {
			row := lu[i*b.size : i*b.size+m]
			f := row[c] / top[c]
			row[c] = f
			for j := c + 1; j < m; j++ {
				row[j] -= float64(f * top[j])
			}
		}
	}
	return 0
}

func (b *blockJacobi) Size() int { return b.n }

func (b *blockJacobi) Apply(r, z []float64) error {
	if err := checkApply(b.n, r, z); err != nil {
		return err
	}
	blocks := (b.n + b.size - 1) / b.size
	par.Range(int64(blocks), max(int64(applyGrain/(b.size*b.size)), 1), func(lo, hi int64) {
		for k := int(lo); k < int(hi); k++ {
			first, m, lu, perm := b.at(k)
			substitute(lu, b.size, perm, r[first:first+m], z[first:first+m])
		}
	})
	return nil
}

// substitute solves L U z = P r.
func substitute(lu []float64, stride int, perm []int32, r, z []float64) {
	for i := range z {
		s := r[perm[i]]
		for j, l := range lu[i*stride : i*stride+i] {
			s -= float64(l * z[j])
		}
		z[i] = s
	}
	for i := len(z) - 1; i >= 0; i-- {
		row := lu[i*stride : i*stride+len(z)]
		s := z[i]
		for j := i + 1; j < len(z); j++ {
			s -= float64(row[j] * z[j])
		}
		z[i] = s / row[i]
	}
}
