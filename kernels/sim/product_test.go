package sim_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cuda/launch"
	"github.com/msrep-go/msrep/kernels/reference"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// problem is a product and the parts that it is cut into, one per device.
type problem[V sparse.Value] struct {
	a           *sparse.CSR[V]
	x, y        []V
	alpha, beta V
	parts       []partition.Part
	global      bool // pointers of the whole matrix instead of local ones
}

// upload puts a slice on a device.
func upload[T mem.Elem](t require.TestingT, s kernels.Stream, d kernels.Device, v []T) kernels.Array[T] {
	a, err := kernels.NewArray[T](d, int64(len(v)))
	require.NoError(t, err)
	require.NoError(t, a.Write(s, v))
	return a
}

func download[T mem.Elem](t require.TestingT, s kernels.Stream, a kernels.Array[T]) []T {
	v := make([]T, a.Len)
	require.NoError(t, a.Read(s, v))
	return v
}

// compressed is part p of the matrix on a device.
func (q *problem[V]) compressed(t require.TestingT, s kernels.Stream, d kernels.Device, p partition.Part) kernels.Compressed[V] {
	ptr, entries := q.a.RowPtr[p.First():p.End()+1], int64(0)
	if !q.global {
		local := make([]int64, len(ptr))
		require.NoError(t, partition.LocalPtr(local, q.a.RowPtr, p))
		ptr, entries = local, p.StartIdx
	}
	return kernels.Compressed[V]{
		Part: p.Shift(p.First(), entries), Ptr: upload(t, s, d, ptr),
		Idx: upload(t, s, d, q.a.ColIdx[p.StartIdx:p.EndIdx+1]), Val: upload(t, s, d, q.a.Val[p.StartIdx:p.EndIdx+1]),
	}
}

func (q *problem[V]) coordinate(t require.TestingT, s kernels.Stream, d kernels.Device, p partition.Part) kernels.Coordinate[V] {
	m := sparse.ToCOO[V](q.a)
	return kernels.Coordinate[V]{
		Part: p.Shift(0, p.StartIdx), Major: upload(t, s, d, m.RowIdx[p.StartIdx:p.EndIdx+1]),
		Minor: upload(t, s, d, m.ColIdx[p.StartIdx:p.EndIdx+1]), Val: upload(t, s, d, m.Val[p.StartIdx:p.EndIdx+1]),
	}
}

// gather computes alpha*A*x + beta*y, part by part.
func (q *problem[V]) gather(t require.TestingT, c sim.Config, coo bool) []V {
	y := append([]V(nil), q.y...)
	carries := make([]V, len(q.parts))
	for i, p := range q.parts {
		d, s := open(t, c)
		x, own := upload(t, s, d, q.x), upload(t, s, d, q.y[p.OwnFirst:p.OwnEnd])
		carry := upload(t, s, d, []V{V(math.NaN())})
		if coo {
			op := &kernels.GatherCOO[V]{A: q.coordinate(t, s, d, p), Alpha: q.alpha, Beta: q.beta, X: x, Y: own, Carry: carry}
			require.NoError(t, s.Launch(op))
		} else {
			op := &kernels.Gather[V]{A: q.compressed(t, s, d, p), Alpha: q.alpha, Beta: q.beta, X: x, Y: own, Carry: carry}
			require.NoError(t, s.Launch(op))
		}
		copy(y[p.OwnFirst:p.OwnEnd], download(t, s, own))
		carries[i] = download(t, s, carry)[0]
	}
	for i, p := range q.parts {
		if p.StartFlag {
			y[p.StartMajor] += carries[i]
		}
	}
	return y
}

// scatter computes alpha*A'*x + beta*y: beta in the first part.
func (q *problem[V]) scatter(t require.TestingT, c sim.Config, coo bool) []V {
	y := q.y
	beta := q.beta
	for _, p := range q.parts {
		d, s := open(t, c)
		out := upload(t, s, d, y)
		if coo {
			op := &kernels.ScatterCOO[V]{A: q.coordinate(t, s, d, p), Alpha: q.alpha, Beta: beta, X: upload(t, s, d, q.x), Y: out}
			require.NoError(t, s.Launch(op))
		} else {
			x := upload(t, s, d, q.x[p.First():p.End()])
			op := &kernels.Scatter[V]{A: q.compressed(t, s, d, p), Alpha: q.alpha, Beta: beta, X: x, Y: out}
			require.NoError(t, s.Launch(op))
		}
		y, beta = download(t, s, out), 1
	}
	return y
}

func open(t require.TestingT, c sim.Config) (*sim.Device, kernels.Stream) {
	d, err := sim.Open(c)
	require.NoError(t, err)
	s, err := d.NewStream()
	require.NoError(t, err)
	return d, s
}

// draw makes a matrix with rows of all lengths, empty ones and long ones too.
func draw[V sparse.Value](t *rapid.T) *sparse.CSR[V] {
	rows, cols := rapid.IntRange(1, 300).Draw(t, "rows"), rapid.IntRange(1, 2000).Draw(t, "cols")
	longest := rapid.SampledFrom([]int{0, 3, 40, 900}).Draw(t, "longest")
	seed := rapid.Uint64().Draw(t, "seed")
	next := func(n int) int {
		seed = seed*6364136223846793005 + 1442695040888963407
		return int(seed >> 33 % uint64(n))
	}
	m := &sparse.CSR[V]{Rows: rows, Cols: cols, RowPtr: []int64{0}}
	for range rows {
		n := 0
		if longest > 0 && next(3) > 0 {
			n = next(longest)
		}
		for c := next(cols); n > 0 && c < cols; n-- {
			m.ColIdx = append(m.ColIdx, int32(c))
			m.Val = append(m.Val, V(next(2000)-1000)/64)
			c += 1 + next(3)
		}
		m.RowPtr = append(m.RowPtr, int64(len(m.Val)))
	}
	require.NoError(t, m.Validate())
	return m
}

func vector[V sparse.Value](n int, shift int) []V {
	v := make([]V, n)
	for i := range v {
		v[i] = V(math.Sin(float64(i + shift)))
	}
	return v
}

func property[V sparse.Value](t *rapid.T) {
	q := &problem[V]{a: draw[V](t), global: rapid.Bool().Draw(t, "global")}
	q.alpha = V(rapid.SampledFrom([]float64{1, -2.5, 0}).Draw(t, "alpha"))
	q.beta = V(rapid.SampledFrom([]float64{0, 1, 0.75}).Draw(t, "beta"))
	rule := rapid.SampledFrom([]partition.Rule{partition.RuleNNZ, partition.RuleMergePath, partition.RuleMajor}).Draw(t, "rule")
	n := rapid.SampledFrom([]int{1, 2, 3, 6}).Draw(t, "parts")
	var err error
	q.parts, _, err = partition.Split(q.a.RowPtr, n, rule)
	require.NoError(t, err)
	c := sim.Config{
		Gather: rapid.SampledFrom([]launch.Gather{launch.Vector, launch.Merge}).Draw(t, "kernel"),
		Blocks: rapid.SampledFrom([]int64{0, 1, 2}).Draw(t, "blocks"),
	}
	coo := rapid.Bool().Draw(t, "coo")
	transpose := rapid.Bool().Draw(t, "transpose")
	in, out := q.a.Cols, q.a.Rows
	if transpose {
		in, out = out, in
	}
	q.x, q.y = vector[V](in, 1), vector[V](out, 7)
	want := reference.Multiply(transpose, q.alpha, q.a, q.x, q.beta, q.y)
	if q.beta == 0 {
		for i := range q.y {
			q.y[i] = V(math.NaN())
		}
	}
	var got []V
	if transpose {
		got = q.scatter(t, c, coo)
	} else {
		got = q.gather(t, c, coo)
	}
	require.Equal(t, -1, reference.Check(got, want), "element, of %v", got)
}

func TestProductsOfFloat64AgreeWithTheReference(t *testing.T) { rapid.Check(t, property[float64]) }

func TestProductsOfFloat32AgreeWithTheReference(t *testing.T) { rapid.Check(t, property[float32]) }

func TestManyCarriesAreAddedInSeveralLevels(t *testing.T) {
	// 300 000 entries in three rows: more than 256 tiles of either kernel.
	const n = 300_000
	a := &sparse.CSR[float64]{Rows: 3, Cols: n, RowPtr: []int64{0, 10, n - 5, n}}
	for i := range n {
		a.ColIdx = append(a.ColIdx, int32(i))
		a.Val = append(a.Val, float64(i%17))
	}
	q := &problem[float64]{a: a, alpha: 1, x: vector[float64](n, 3), y: make([]float64, 3)}
	var err error
	q.parts, err = partition.ByNNZ(a.RowPtr, 1)
	require.NoError(t, err)
	want := reference.Multiply(false, 1, a, q.x, 0, q.y)
	for _, coo := range []bool{false, true} {
		got := q.gather(t, sim.Config{Gather: launch.Merge}, coo)
		require.Equal(t, -1, reference.Check(got, want))
	}
}
