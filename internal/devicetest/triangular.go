package devicetest

import (
	"math"
	"math/rand/v2"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// triangle has the columns of each row of a triangle, at most those before the row.
type triangle struct {
	name string
	most int // largest number of rows to test
	row  func(r *rand.Rand, row, n int) []int
}

// all returns 0 ... row-1.
func all(row int) (c []int) {
	for j := range row {
		c = append(c, j)
	}
	return c
}

var triangles = []triangle{
	{"diagonal", 1000, func(*rand.Rand, int, int) []int { return nil }},
	{"chain", 1000, func(_ *rand.Rand, row, _ int) []int { return []int{row - 1} }},
	{"stencil", 1000, func(_ *rand.Rand, row, _ int) []int {
		if row%30 == 0 {
			return []int{row - 30}
		}
		return []int{row - 30, row - 1}
	}},
	{"levels of one row to many", 1000, func(_ *rand.Rand, row, _ int) []int { return []int{(row+1)/2 - 1} }},
	{"full", 70, func(_ *rand.Rand, row, _ int) []int { return all(row) }},
	{"long last row", 6000, func(_ *rand.Rand, row, n int) []int {
		if row < n-1 {
			return nil
		}
		return all(row)
	}},
	{"random", 1000, func(r *rand.Rand, row, _ int) (c []int) {
		for j, step := r.IntN(7), 1+r.IntN(60); j < row; j += 1 + r.IntN(step) {
			c = append(c, j)
		}
		return c
	}},
}

// drawTriangle draws a well-conditioned triangle.
func drawTriangle[V sparse.Value](t *rapid.T) *kernels.TrianglePacking[V] {
	shape := rapid.SampledFrom(triangles).Draw(t, "shape")
	n := min(rapid.SampledFrom([]int{0, 1, 2, 31, 32, 33, 257, 1000, 6000}).Draw(t, "rows"), shape.most)
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
	op := &kernels.TrianglePacking[V]{Upper: rapid.Bool().Draw(t, "upper"), Ptr: []int64{0}}
	unit := rapid.Bool().Draw(t, "unit")
	for i := range n {
		list := shape.row(r, i, n)
		if op.Upper {
			list = shape.row(r, n-1-i, n)
		}
		for k := range list {
			c := list[k]
			if op.Upper {
				c = n - 1 - list[len(list)-1-k]
			}
			if c >= 0 && c < n {
				op.Idx, op.Val = append(op.Idx, int32(c)), append(op.Val, V((r.Float64()-0.5)/float64(len(list)+1)))
			}
		}
		op.Ptr = append(op.Ptr, int64(len(op.Idx)))
		if !unit {
			op.Diag = append(op.Diag, V(1.5+r.Float64()))
		}
	}
	require.NoError(t, op.Check())
	return op
}

// Triangular checks one random solve: its residual, the same bits in a second solve, in
// place, with other values, and after the triangle is freed.
func Triangular[V sparse.Value](t *rapid.T, open Open) {
	op := drawTriangle[V](t)
	n, cols := op.Rows(), rapid.SampledFrom([]int{1, 1, 2, 4, 5, 9}).Draw(t, "columns")
	if cols == 1 {
		op.Vectors = 1
	}
	alpha := V(rapid.SampledFrom([]float64{1, -2.5}).Draw(t, "alpha"))
	d, s := open(t)
	m := &memory{}
	a, err := d.(kernels.Packer).Pack(op)
	require.NoError(t, err)
	m.arrays = append(m.arrays, a)

	strideB, strideX := cols+rapid.IntRange(0, 2).Draw(t, "gap"), cols+rapid.IntRange(0, 2).Draw(t, "gap")
	b, untouched := Vector[V](n*strideB, 3), V(math.NaN())
	clear := make([]V, n*strideX)
	for i := range clear {
		clear[i] = untouched
	}
	db := kernels.MultiVector[V]{Val: up(t, m, s, d, b), Cols: cols, Stride: strideB}
	dx := kernels.MultiVector[V]{Val: up(t, m, s, d, clear), Cols: cols, Stride: strideX}
	solve := &kernels.TriangularSolve[V]{A: a, Alpha: alpha, B: db, X: dx}
	require.NoError(t, s.Launch(solve))
	x := Download(t, s, dx.Val)
	solved(t, op, alpha, b, x, cols, strideB, strideX)
	require.NoError(t, s.Launch(solve))
	require.Equal(t, bits(x), bits(Download(t, s, dx.Val)), "a second solve")
	for i, v := range x {
		if i%strideX >= cols {
			require.True(t, v != v, "element %d between the rows", i)
		}
	}
	require.NoError(t, s.Launch(&kernels.TriangularSolve[V]{A: a, Alpha: alpha, B: db, X: db}))
	inPlace := Download(t, s, db.Val)
	for i := range n {
		require.Equal(t, bits(x[i*strideX:i*strideX+cols]), bits(inPlace[i*strideB:i*strideB+cols]), "row %d, in place", i)
		require.Equal(t, b[i*strideB+cols:(i+1)*strideB], inPlace[i*strideB+cols:(i+1)*strideB], "between the rows")
	}

	next := *op
	next.Val, next.Diag = append([]V(nil), op.Val...), append([]V(nil), op.Diag...)
	for k := range next.Val {
		next.Val[k] /= -2
	}
	for i := range next.Diag {
		next.Diag[i] *= 3
	}
	if op.Diag == nil {
		next.Diag = nil
	}
	require.NoError(t, a.(kernels.PackedTriangle).Update(&next))
	require.NoError(t, db.Val.Write(s, b))
	require.NoError(t, s.Launch(solve))
	solved(t, &next, alpha, b, Download(t, s, dx.Val), cols, strideB, strideX)

	fewer, short, narrow := *solve, *solve, *solve
	fewer.X.Cols, fewer.X.Stride = cols+1, strideX+1
	short.B.Val.Len = int64((n-1)*strideB + cols - 1)
	narrow.X.Stride = cols - 1
	for _, wrong := range []*kernels.TriangularSolve[V]{&fewer, &narrow, &short} {
		if n > 0 || wrong != &short {
			require.ErrorIs(t, s.Launch(wrong), kernels.ErrArgument)
		}
	}
	require.NoError(t, a.Free())
	require.ErrorIs(t, s.Launch(solve), kernels.ErrClosed)
	m.free(t)
}

// bits returns v as integers, which are equal only if all bits are.
func bits[V sparse.Value](v []V) []uint64 {
	out := make([]uint64, len(v))
	for i := range v {
		out[i] = math.Float64bits(float64(v[i]))
	}
	return out
}

// solved checks |T x - alpha b| <= eps (k+3) (|T||x| + |alpha b|) for each row, with k
// entries beside the diagonal.
func solved[V sparse.Value](t require.TestingT, op *kernels.TrianglePacking[V], alpha V, b, x []V, cols, strideB, strideX int) {
	for i := range op.Rows() {
		for j := range cols {
			own, rhs := float64(x[i*strideX+j]), float64(alpha)*float64(b[i*strideB+j])
			if op.Diag != nil {
				own *= float64(op.Diag[i])
			}
			sum, size := own-rhs, math.Abs(own)+math.Abs(rhs)
			for k := op.Ptr[i]; k < op.Ptr[i+1]; k++ {
				v := float64(op.Val[k]) * float64(x[int(op.Idx[k])*strideX+j])
				sum, size = sum+v, size+math.Abs(v)
			}
			if bound := eps[V]() * float64(3+op.Ptr[i+1]-op.Ptr[i]) * size; !(math.Abs(sum) <= bound) {
				require.LessOrEqual(t, math.Abs(sum), bound, "row %d, column %d of %d rows", i, j, op.Rows())
			}
		}
	}
}
