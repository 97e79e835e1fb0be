package slices_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	slicesform "github.com/msrep-go/msrep/kernels/cpu/internal/form/slices"
	"github.com/msrep-go/msrep/sparse"
)

// links returns rows with most entries within 200 columns of the diagonal; one in eight is
// anywhere, and one in 16 is in one of 50 columns. One row is long.
func links[V sparse.Value](r *rand.Rand, n int) form.Rows[V] {
	a := form.Rows[V]{Ptr: []int64{0}, Cols: n}
	for i := range n {
		entries := 1 + r.IntN(15)
		if i == n/2 {
			entries = 20_000
		}
		for range entries {
			c := min(max(i-200+r.IntN(400), 0), n-1)
			switch r.IntN(16) {
			case 0:
				c = r.IntN(50)
			case 1, 2:
				c = r.IntN(n)
			}
			a.Idx, a.Val = append(a.Idx, int32(c)), append(a.Val, V(r.NormFloat64()))
		}
		a.Ptr = append(a.Ptr, int64(len(a.Idx)))
	}
	return a
}

func TestOnlyEntriesOfLoneLinesAreFar(t *testing.T) {
	formtest.EachLevel(t, checkLinks[float64], checkLinks[float32])
}

// checkLinks multiplies by a matrix with several blocks of rows and of columns, and several groups.
func checkLinks[V sparse.Value](t *testing.T, l simd.Level) {
	r := rand.New(rand.NewPCG(5, 6))
	const n = 150_000
	rows := links[V](r, n)
	o := slicesform.NearFarOptions[V]{Level: l, Window: 1 << 15, Cols: 1 << 14, Group: 50_000}
	f := formtest.Must(slicesform.NewNearFar(rows, o))(t)
	require.Contains(t, []string{
		"near entries in slices, 11 % far ones in bins", "near entries in slices, 12 % far ones in bins"}, f.Name())

	a := &sparse.CSR[V]{Rows: n, Cols: n, RowPtr: rows.Ptr, ColIdx: rows.Idx, Val: rows.Val}
	x, y := make([]V, n), make([]V, n)
	for i := range x {
		x[i], y[i] = V(r.NormFloat64()), V(r.NormFloat64())
	}
	want := reference.Multiply(false, -1.25, sparse.Matrix[V](a), x, .5, y)
	out := slices.Clone(y)
	f.Multiply(-1.25, .5, x, out)
	require.Equal(t, -1, reference.Check(out, want), f.Name())

	want = reference.Multiply(true, -1.25, sparse.Matrix[V](a), y, 1, x)
	out = slices.Clone(x)
	f.MultiplyTransposed(-1.25, y, func(lo, hi int) []V { return out[lo:hi] })
	require.Equal(t, -1, reference.Check(out, want), f.Name())

	rows.Fixed = true
	f = formtest.Must(slicesform.NewNearFar(rows, o))(t)
	out = slices.Clone(y)
	f.Multiply(-1.25, .5, x, out)
	require.Equal(t, reference.Fixed(-1.25, a, x, .5, y), out, "%s, in stored order", f.Name())
}

func TestBlocksHaveAsManyRowsAsColumnsOfTwoBytesReach(t *testing.T) {
	// Each line of x has two entries, so that it is near: 4 elements per entry.
	const entries = 1 << 17
	r := form.Rows[float64]{Ptr: []int64{0}, Cols: 4 * entries}
	for k := range entries {
		r.Idx, r.Val = append(r.Idx, int32(k/2*8+k%2)), append(r.Val, 1)
		r.Ptr = append(r.Ptr, int64(k+1))
	}
	f := formtest.Must(slicesform.NewNearFar(r, slicesform.NearFarOptions[float64]{Window: entries, Lone: 1}))(t)
	require.Len(t, slicesform.NarrowBlocks(f), 8, "of 65536 places")
	f = formtest.Must(slicesform.NewNearFar(r, slicesform.NearFarOptions[float64]{Window: entries / 16, Lone: 1}))(t)
	require.Len(t, slicesform.NarrowBlocks(f), 16)
}

func TestBlocksOfRowsFillLinesOfY(t *testing.T) {
	r := form.Rows[float64]{Ptr: []int64{0}, Cols: 10}
	for range 50 { // of 3 entries each
		r.Idx, r.Val = append(r.Idx, 1, 2, 9), append(r.Val, 1, 2, 3)
		r.Ptr = append(r.Ptr, int64(len(r.Idx)))
	}
	for window, want := range map[int][]int{60: {16, 16, 18}, 24: {8, 8, 8, 8, 8, 8, 2}, 12: {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 2}} {
		f := formtest.Must(slicesform.NewNearFar(r, slicesform.NearFarOptions[float64]{Window: window}))(t)
		require.Equal(t, want, slicesform.NarrowBlocks(f), "blocks of %d entries", window)
	}
}

func TestLoneShareIsTheFractionOfTheForm(t *testing.T) {
	for cache, n := range map[int]int{-1: 1 << 18, 1 << 20: 1 << 19} { // some more than 64 windows of entries
		slicesform.WithLoneCache(cache, func() { checkLoneShare(t, n, 16*max(cache, 512<<10)) })
	}
}

// checkLoneShare checks FarFraction for n rows, which are too few for a second-level cache of
// tooLarge bytes.
func checkLoneShare(t *testing.T, n, tooLarge int) {
	r := rand.New(rand.NewPCG(7, 8))
	rows := links[float64](r, n)
	require.False(t, known(form.Rows[float64]{Ptr: rows.Ptr, Idx: rows.Idx, Val: rows.Val, Cols: 100}), "x is in the caches")
	rows.Cols = 32 * n // far beyond the second cache
	for k, c := range rows.Idx {
		if r.IntN(4) == 0 {
			rows.Idx[k] = c + r.Int32N(int32(16*n))
		}
	}
	share, ok := slicesform.FarFraction(rows)
	require.True(t, ok)
	require.InDelta(t, 1./4+3./4/8, share, .03)
	f := formtest.Must(slicesform.NewNearFar(rows, slicesform.NearFarOptions[float64]{Level: simd.Default()}))(t)
	require.Contains(t, f.Name(), fmt.Sprintf("%.0f %% far ones", 100*share))
	slicesform.WithLoneCache(tooLarge, func() { require.False(t, known(rows), "a block would be more than an eighth of the entries") })
	few := rows
	few.Ptr = []int64{0, int64(len(rows.Idx)) * 2 / 3}
	few.Idx = rows.Idx[:few.Ptr[1]]
	fewer, ok := slicesform.FarFraction(few)
	require.True(t, ok, "fewer blocks are looked at")
	require.InDelta(t, share, fewer, .03)
	rows.Idx[0] = -1
	require.False(t, known(rows))
	rows.Idx[0], rows.Cols = 0, 1<<30
	require.False(t, known(rows), "more lines than entries")
}

func known(r form.Rows[float64]) bool {
	_, ok := slicesform.FarFraction(r)
	return ok
}

func TestXOfAFewSecondCachesIsNear(t *testing.T) {
	slicesform.WithLoneCache(1<<20, func() {
		require.True(t, slicesform.XIsNear[float64](4<<17))
		require.False(t, slicesform.XIsNear[float64](4<<17+1))
		require.True(t, slicesform.XIsNear[float32](4<<18))
	})
}

func TestFewFarEntriesCountAsNear(t *testing.T) {
	// Two entries share a line of x. The third one is far, with so many columns that nearly all
	// runs would be empty.
	r := form.Rows[float64]{Ptr: make([]int64, 100_001), Idx: []int32{0, 1, 1 << 23}, Val: []float64{1, 2, 3}, Cols: 1 << 24}
	for i := range r.Ptr {
		r.Ptr[i] = 3
	}
	r.Ptr[0] = 0
	f := formtest.Must(slicesform.NewNearFar(r, slicesform.NearFarOptions[float64]{Lone: 1}))(t)
	require.Equal(t, "near entries in slices, 33 % far ones in bins", f.Name())
	f = formtest.Must(slicesform.NewNearFar(r, slicesform.NearFarOptions[float64]{Lone: 1, Cols: 128}))(t)
	require.Equal(t, "near entries in slices, 0 % far ones in bins", f.Name())
}

func TestNearFarRefusesInvalidInput(t *testing.T) {
	one := form.Rows[float64]{Ptr: []int64{0, 1}, Idx: []int32{0}, Val: []float64{1}, Cols: 1}
	for _, o := range []slicesform.NearFarOptions[float64]{{Window: -1}, {Lone: -1}, {Lone: 255}, {Cols: -1}, {Cols: 3}, {Cols: 1 << 17}, {Group: -1}} {
		_, err := slicesform.NewNearFar(one, o)
		require.True(t, sparse.IsInput(err), "%+v: %v", o, err)
	}
}

func TestValuesOutsideTheSecondLevelCacheArePrefetched(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	small, large := links[float64](r, 4_000), links[float64](r, 400_000)
	for l := simd.AVX2; l <= simd.Best(); l++ {
		for rows, want := range map[*form.Rows[float64]]bool{&small: false, &large: true} {
			f := formtest.Must(slicesform.NewSlices(*rows, slicesform.SliceOptions[float64]{Level: l}))(t)
			require.Equal(t, want, slicesform.AsksAhead(f), "slices of %d rows", rows.Cols)
			f = formtest.Must(slicesform.NewNearFar(*rows, slicesform.NearFarOptions[float64]{Level: l}))(t)
			require.True(t, slicesform.AsksAhead(f), "blocks of %d rows, which are small but many", rows.Cols)
		}
	}
}
