package bins_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/bins"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/tiles"
	"github.com/msrep-go/msrep/sparse"
)

func TestBinsOfTheSizeOfTheCachesMultiplyAsTheReference(t *testing.T) {
	formtest.EachLevel(t, checkLargeBins[float64], checkLargeBins[float32])
}

// checkLargeBins multiplies by a matrix with several groups, blocks of rows and blocks of columns,
// with a row longer than some runs, and with runs dense enough for prefetching.
func checkLargeBins[V sparse.Value](t *testing.T, l simd.Level) {
	r := rand.New(rand.NewPCG(3, 4))
	const rows, cols = 10_000, 33_000 // the last block of columns is a narrow one
	a := &sparse.CSR[V]{Rows: rows, Cols: cols, RowPtr: []int64{0}}
	for i := range rows {
		n := r.IntN(20)
		if i == 4000 {
			n = 20_000
		}
		for range n {
			a.ColIdx = append(a.ColIdx, r.Int32N(cols))
			a.Val = append(a.Val, V(r.NormFloat64()))
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.ColIdx)))
	}
	f := formtest.Must(bins.NewBins(formtest.RowsOf(a), bins.BinOptions[V]{Level: l, Group: 60_000}))(t)
	require.Less(t, f.Padding(), int64(len(a.Val))/5)
	whole := formtest.Must(bins.NewBins(formtest.RowsOf(a), bins.BinOptions[V]{Level: l}))(t)
	require.Less(t, f.Bytes(), whole.Bytes(), "copies for a group take less room than for all")
	require.Greater(t, f.Bytes(), int64(len(a.Val)*8+60_000*4))

	const vectors = 2
	x, y := make([]V, cols*vectors), make([]V, rows*vectors)
	for i := range x {
		x[i] = V(r.NormFloat64())
	}
	for i := range y {
		y[i] = V(r.NormFloat64())
	}
	want := reference.Multiply(false, -1.25, sparse.Matrix[V](a), x[:cols], .5, y[:rows])
	one := slices.Clone(y[:rows])
	f.Multiply(-1.25, .5, x[:cols], one)
	require.Equal(t, -1, reference.Check(one, want), f.Name())

	want = reference.Multiply(true, -1.25, sparse.Matrix[V](a), y[:rows], 1, x[:cols])
	transposed := slices.Clone(x[:cols])
	f.MultiplyTransposed(-1.25, y[:rows], func(lo, hi int) []V { return transposed[lo:hi] })
	require.Equal(t, -1, reference.Check(transposed, want), f.Name())

	column := func(v []V, n, j int) []V {
		out := make([]V, n)
		for i := range out {
			out[i] = v[i*vectors+j]
		}
		return out
	}
	var g formtest.Guards
	defer g.Free(t)
	atEnd := &form.Memory{Alloc: func(n int64) ([]byte, error) { return g.Bytes(n, 64, true) }}
	f = formtest.Must(bins.NewBins(form.Rows[V]{Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Cols: cols, Mem: atEnd}, bins.BinOptions[V]{Level: l, Rows: 500}))(t)
	for _, beta := range []V{0, .5} {
		many := slices.Clone(y)
		f.(form.Many[V]).MultiplyMany(-1.25, beta, form.MultiVector[V]{Val: x, Cols: vectors, Stride: vectors}, form.MultiVector[V]{Val: many, Cols: vectors, Stride: vectors})
		for j := range vectors {
			want := column(y, rows, j)
			f.Multiply(-1.25, beta, column(x, cols, j), want) // the whole group with one call
			require.Equal(t, want, column(many, rows, j), "the same bits as one by one")
		}
	}

	f = formtest.Must(bins.NewBins(form.Rows[V]{Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Cols: cols, Mem: atEnd}, bins.BinOptions[V]{Level: l, Rows: 500, Group: 60_000}))(t)
	checkBinLines(t, r, f.(form.Many[V]), a)
}

// checkBinLines multiplies by a cache line of vectors and by a few more vectors.
func checkBinLines[V sparse.Value](t *testing.T, r *rand.Rand, f form.Many[V], a *sparse.CSR[V]) {
	const vectors = 21
	column := func(v []V, n, j int) []V {
		out := make([]V, n)
		for i := range out {
			out[i] = v[i*vectors+j]
		}
		return out
	}
	x, y := make([]V, a.Cols*vectors), make([]V, a.Rows*vectors)
	for i := range x {
		x[i] = V(r.NormFloat64())
	}
	for i := range y {
		y[i] = V(r.NormFloat64())
	}
	for _, beta := range []V{0, .5} {
		many := slices.Clone(y)
		f.MultiplyMany(-1.25, beta, form.MultiVector[V]{Val: x, Cols: vectors, Stride: vectors}, form.MultiVector[V]{Val: many, Cols: vectors, Stride: vectors})
		for _, j := range []int{0, 7, 8, 15, 16, 20} {
			want := reference.Multiply(false, -1.25, sparse.Matrix[V](a), column(x, a.Cols, j), beta, column(y, a.Rows, j))
			require.Equal(t, -1, reference.Check(column(many, a.Rows, j), want), "column %d", j)
		}
	}
}

func TestBinsSuitRowsOfXThatAreCacheLines(t *testing.T) {
	a := formtest.Pattern{Cols: 40, Rows: [][]int32{{3, 5}, {7}}}.Csr(func() float64 { return 1 })
	f := formtest.Must(bins.NewBins(formtest.RowsOf(a), bins.BinOptions[float64]{}))(t)
	x, ok := mem.Slice[float64](mem.Aligned(8*1000), 1000)
	require.True(t, ok)
	for _, c := range []struct {
		from, cols, stride int
		lines, gains       bool
	}{{0, 8, 8, true, false}, {8, 8, 8, true, false}, {4, 8, 8, false, true}, {0, 4, 4, true, false}, {4, 4, 4, true, false},
		{2, 4, 4, false, true}, {0, 7, 8, true, false}, {0, 7, 9, false, true}, {0, 3, 4, true, false}, {0, 3, 3, false, true},
		{0, 6, 6, false, true}, {0, 2, 2, false, false}, {0, 2, 4, false, false}, {0, 16, 16, false, false}} {
		x := form.MultiVector[float64]{Val: x[c.from:], Cols: c.cols, Stride: c.stride}
		require.Equal(t, c.lines, f.(form.Lined[float64]).Suits(x, x), "%+v", c)
		require.Equal(t, c.gains, f.(form.Lined[float64]).GainsByLines(x), "%+v", c)
	}
}

func TestSlotsOfBinsWithoutAnEntryAddNothing(t *testing.T) {
	formtest.EachLevel(t, checkEmptyPlaces[float64], checkEmptyPlaces[float32])
}

// checkEmptyPlaces has one value for all entries and runs that fill no cache line. 0 times the
// value, or times alpha, may be NaN.
func checkEmptyPlaces[V sparse.Value](t *testing.T, l simd.Level) {
	inf := math.Inf(1)
	for _, value := range []float64{inf, 2} {
		a := formtest.Pattern{Cols: 40, Rows: [][]int32{{3, 5}, {7}, {20, 3}}}.Csr(func() float64 { return value })
		r := form.Rows[V]{Ptr: a.RowPtr, Idx: a.ColIdx, Val: sparse.Convert[V](a).Val, Cols: a.Cols}
		f := formtest.Must(bins.NewBins(r, bins.BinOptions[V]{Level: l, Rows: 2, Cols: 16, Values: form.FindValues(r.Val)}))(t)
		require.Contains(t, f.Name(), "same")
		for _, alpha := range []float64{1, .5, inf} {
			y := make([]V, a.Cols)
			f.MultiplyTransposed(V(alpha), []V{1, 1, 1}, func(lo, hi int) []V { return y[lo:hi] })
			for c, v := range y {
				want := V(0)
				for _, i := range a.ColIdx {
					if int(i) == c {
						want += V(alpha * value)
					}
				}
				require.Equal(t, want, v, "column %d", c)
			}
		}
	}
}

func TestBinsRefuseInvalidInput(t *testing.T) {
	one := form.Rows[float64]{Ptr: []int64{0, 1}, Idx: []int32{0}, Val: []float64{1}, Cols: 1}
	for _, o := range []bins.BinOptions[float64]{{Rows: -1}, {Rows: 65536}, {Cols: -2}, {Cols: 24}, {Cols: 1 << 17}, {Group: -1}} {
		_, err := bins.NewBins(one, o)
		require.True(t, sparse.IsInput(err), "%+v: %v", o, err)
		require.ErrorContains(t, err, "power of two")
	}
	dense := formtest.Pattern{Cols: 300, Rows: make([][]int32, 300)}
	for i := range dense.Rows {
		for c := range dense.Cols {
			dense.Rows[i] = append(dense.Rows[i], int32(c))
		}
	}
	a := dense.Csr(func() float64 { return 1 })
	_, err := bins.NewBins(formtest.RowsOf(a), bins.BinOptions[float64]{Rows: 1, Cols: 1})
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "90000 entries would be in 90000 runs")

	empty := form.Rows[float64]{Ptr: make([]int64, 1<<24+1), Idx: []int32{}, Val: []float64{}, Cols: math.MaxInt32}
	_, err = bins.NewBins(empty, bins.BinOptions[float64]{})
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "0 entries would be in")
}

func TestTilesReadXAgainWhereItIsLong(t *testing.T) {
	rows := func(rows, cols, each int) form.Rows[float64] {
		r := form.Rows[float64]{Ptr: make([]int64, rows+1), Idx: make([]int32, rows*each), Cols: cols}
		for i := range r.Ptr {
			r.Ptr[i] = int64(i * each)
		}
		return r
	}
	require.Zero(t, tiles.TileRereadRatio(rows(100_000, 10_000, 4)))
	require.Zero(t, tiles.TileRereadRatio(form.Rows[float64]{Ptr: []int64{0}}))
	long, longer := tiles.TileRereadRatio(rows(300_000, 5_000_000, 4)), tiles.TileRereadRatio(rows(300_000, 50_000_000, 4))
	require.Positive(t, long)
	require.InEpsilon(t, 10, longer/long, 1e-9)
	require.Less(t, tiles.TileRereadRatio(rows(300_000, 5_000_000, 8)), long)
}
