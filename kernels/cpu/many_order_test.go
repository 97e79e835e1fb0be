package cpu

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/forms"
	"github.com/msrep-go/msrep/kernels/cpu/internal/rows"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// scattered is a matrix with entries anywhere. If hot is set, four of five entries are in every eighth column.
func scattered(r *rand.Rand, rows, cols int, hot bool) *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: rows, Cols: cols, RowPtr: []int64{0}}
	for i := range rows {
		for range r.IntN(40) + 40*(i%2) {
			c := r.IntN(cols)
			if hot && r.IntN(5) > 0 {
				c = c / 8 * 8
			}
			a.ColIdx, a.Val = append(a.ColIdx, int32(c)), append(a.Val, r.NormFloat64())
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.ColIdx)))
	}
	return a
}

func TestColumnsAreOrderedWhereThatIsFaster(t *testing.T) {
	const rows, cols, used, k, gap = 300, 400, 390, 3, 2
	old := hotBytes
	t.Cleanup(func() { hotBytes = old })
	hotBytes = 70 * 4 * 8 // 70 columns of three vectors
	for i := range 4 {
		wins, hot := i%2 == 0, i < 2
		d := open(t, Config{Threads: 3, Grain: 1, NUMANode: -1})
		s, err := d.NewStream()
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(1, 2))
		a := scattered(r, rows, used, hot)
		a.Cols = cols
		packing := kernels.Packing[float64]{Part: partition.Part{EndIdx: a.NNZ() - 1, EndMajor: rows - 1, OwnEnd: rows},
			Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Minors: cols, Form: kernels.FormCSR, InPlace: true}
		packs := mustPack(t, d, &packing)
		p := packs.(*packed[float64])
		held := d.InUse()

		x := make([]float64, cols*(k+gap))
		for i := range x {
			x[i] = r.NormFloat64()
		}
		multiply := func(k int) []float64 {
			y := make([]float64, rows*k)
			block := func(v []float64, stride int) kernels.MultiVector[float64] {
				return kernels.MultiVector[float64]{Val: kernels.AdoptArray(d, v), Cols: k, Stride: stride}
			}
			require.NoError(t, s.Launch(&kernels.MajorProductManyPacked[float64]{A: packs, Alpha: .7, X: block(x, len(x)/cols), Y: block(y, k)}))
			return y
		}
		want := multiply(k)
		for j := range k {
			column := func(v []float64, stride int) (out []float64) {
				for i := j; i < len(v); i += stride {
					out = append(out, v[i])
				}
				return out
			}
			ref := reference.Multiply(false, .7, a, column(x, k+gap), 0, make([]float64, rows))
			require.Equal(t, -1, reference.Check(column(want, k), ref))
		}
		for call := 2; call < 2+2*orderTrials; call++ {
			require.Equal(t, want, multiply(k), "the same bits")
			multiply(k + 1) // continues without the order
			require.Equal(t, call >= 2+orderTrials, p.trial.columns != nil, "product %d", call)
		}
		require.Equal(t, hot, p.trial.columns.rows != p.rows)
		if hot {
			require.Subset(t, p.trial.columns.order[:used/8+1], []int32{0, 8, 200, 384})
			columns := slices.Sorted(slices.Values(a.ColIdx))
			require.ElementsMatch(t, slices.Compact(columns), p.trial.columns.order, "empty ones are left out")
		}
		require.Greater(t, d.InUse(), held)
		counted := int64(0)
		for _, b := range packs.Buffers() {
			counted += b.Bytes()
		}
		require.Equal(t, d.InUse(), counted)
		if p.trial.plain = 0; wins {
			p.trial.plain = time.Hour
		}
		require.Equal(t, want, multiply(k))
		require.Equal(t, wins, p.trial.columns != nil)
		require.Equal(t, wins, d.InUse() > held)
		require.Equal(t, want, multiply(k))
		require.NoError(t, packs.Free())

		packing.Previous = packs
		packs = mustPack(t, d, &packing)
		p = packs.(*packed[float64])
		require.Equal(t, want, multiply(k))
		require.Equal(t, wins, p.trial.columns != nil, "of the same structure")
		require.Equal(t, wins, p.trial.op != nil)
		require.NoError(t, packs.Free())
		require.NoError(t, d.Close())
	}
}

func TestSlicesReplaceRowsIfAllPiecesSuit(t *testing.T) {
	if simd.Default() == simd.Generic {
		t.Skip("slices suit no vectors in plain Go")
	}
	a := scattered(rand.New(rand.NewPCG(1, 2)), 300, 400, false)
	d := open(t, Config{Threads: 2, Grain: 1})
	packs := mustPack(t, d, &kernels.Packing[float64]{Part: partition.Part{EndIdx: a.NNZ() - 1, EndMajor: a.Rows - 1, OwnEnd: a.Rows},
		Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Minors: a.Cols, Form: forms.FormSlices, InPlace: true})
	p := packs.(*packed[float64])
	require.Len(t, p.pieces, 2)
	require.Equal(t, 1, p.rowsFrom, "rows are faster unless slices suit")
	rows := func(k, yStride int) bool {
		x := form.MultiVector[float64]{Val: make([]float64, a.Cols*k), Cols: k, Stride: k}
		takes, err := p.takesRows(x, form.MultiVector[float64]{Val: make([]float64, a.Rows*yStride), Cols: k, Stride: yStride})
		require.NoError(t, err)
		return takes
	}
	require.False(t, rows(2, 2))
	require.True(t, rows(17, 17), "more vectors than slices sum at once")
	require.True(t, rows(2, 5000), "y does not stay in the caches")
	body := p.pieces[1].body
	p.pieces[1].body = nil
	require.True(t, rows(2, 2), "one piece does not suit")
	p.pieces[1].body = body
	require.NoError(t, p.Free())
	require.NoError(t, d.Close())
}

func TestHotColumnsLeaveFewerVectorsToRows(t *testing.T) {
	const rows, cols, few = 300, 400, 3 // vectors, by which the trial decides
	old := hotBytes
	t.Cleanup(func() { hotBytes = old })
	hotBytes = 70 * 4 * 8 // 70 columns of three vectors
	for _, hot := range []bool{true, false} {
		r := rand.New(rand.NewPCG(1, 2))
		a := scattered(r, rows, cols, hot)
		d := open(t, Config{Threads: 3, Grain: 1, NUMANode: -1, Memory: 1 << 30})
		s, err := d.NewStream()
		require.NoError(t, err)
		packing := kernels.Packing[float64]{Part: partition.Part{EndIdx: a.NNZ() - 1, EndMajor: rows - 1, OwnEnd: rows},
			Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Minors: cols, Form: forms.FormTiles, InPlace: true}
		packs := mustPack(t, d, &packing)
		p := packs.(*packed[float64])
		require.Equal(t, 5, p.rowsFrom)

		multiply := func(k int) []float64 {
			x, y := make([]float64, cols*k), make([]float64, rows*k)
			for i := range x {
				x[i] = float64(i%17) / 7
			}
			block := func(v []float64) kernels.MultiVector[float64] {
				return kernels.MultiVector[float64]{Val: kernels.AdoptArray(d, v), Cols: k, Stride: k}
			}
			require.NoError(t, s.Launch(&kernels.MajorProductManyPacked[float64]{A: packs, Alpha: .7, X: block(x), Y: block(y)}))
			for j := range k {
				column := func(v []float64) (out []float64) {
					for ; j < len(v); v = v[k:] {
						out = append(out, v[j])
					}
					return out
				}
				ref := reference.Multiply(false, .7, a, column(x), 0, make([]float64, rows))
				require.Equal(t, -1, reference.Check(column(y), ref), "vector %d of %d", j, k)
			}
			return y
		}
		multiply(2)
		require.False(t, p.trial.known, "16 bytes are for tiles anyway")
		hotBytes *= 10
		multiply(few)
		require.False(t, p.trial.known, "x is in the cache")
		hotBytes /= 10
		want := multiply(few)
		require.Equal(t, hot, p.trial.hot)
		require.Equal(t, hot, p.trial.calls == 1)
		for range 2 * orderTrials {
			require.Equal(t, want, multiply(few), "the same bits")
		}
		require.Equal(t, hot, p.trial.columns != nil)
		if !hot {
			require.Zero(t, p.trial.calls)
			require.NoError(t, packs.Free())
			require.NoError(t, d.Close())
			continue
		}
		p.trial.plain = time.Hour
		multiply(9)
		require.Equal(t, time.Hour, p.trial.plain, "the time of few vectors only")
		require.Equal(t, want, multiply(few))
		require.True(t, p.trial.won)
		room := func() int { return len(p.trial.columns.lines.val) }
		places := p.trial.columns.places
		require.Equal(t, 4*places, room(), "another number of vectors goes on without order until the trial is over")
		multiply(9)
		require.Equal(t, 16*places, room(), "and then with it")
		require.Equal(t, want, multiply(few))

		packing.Previous = packs
		again := mustPack(t, d, &packing)
		require.True(t, again.(*packed[float64]).trial.hot, "of the same structure")
		require.NoError(t, again.Free())
		d.mem.Limit = d.InUse()
		multiply(17)
		require.Nil(t, p.trial.columns, "there is no memory for a larger x")
		require.Equal(t, want, multiply(few), "by rows all the same")
		require.NoError(t, packs.Free())
		require.NoError(t, d.Close())
	}
}

func TestOtherValuesArePackedAsTheFirstWere(t *testing.T) {
	d := open(t, Config{Threads: 2, NUMANode: -1})
	a := scattered(rand.New(rand.NewPCG(1, 2)), 300, 400, false)
	packing := kernels.Packing[float64]{Part: partition.Part{EndIdx: a.NNZ() - 1, EndMajor: 299, OwnEnd: 300},
		Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Minors: 400, Form: forms.FormSlices}
	first := mustPack(t, d, &packing)
	var again atomic.Bool
	built := &first.(*packed[float64]).choice.Built
	build := built.Build
	built.Build = func(r form.Rows[float64]) (form.Form[float64], error) {
		again.Store(true)
		return build(r)
	}
	require.NoError(t, first.Free())
	packing.Previous = first
	second := mustPack(t, d, &packing)
	require.True(t, again.Load())
	require.Equal(t, forms.FormSlices, second.Info().Form)
	require.NoError(t, second.Free())
}

func TestColumnsWithMostEntriesComeFirst(t *testing.T) {
	idx := slices.Concat(slices.Repeat([]int32{7}, 5), slices.Repeat([]int32{2, 5}, 3), slices.Repeat([]int32{1, 3, 4}, 2), []int32{0, 6})
	order := []int32{7, 1, 2, 3, 4, 5, 0, 6, 8}
	for n, want := range [][]int32{nil, nil, nil, order, order, 9: order, 10: order} {
		if n <= 3 || n >= 9 {
			require.Equal(t, want, hottestFirst(idx, 9, n), n)
		}
	}
	require.Equal(t, []int32{1, 0}, hottestFirst(slices.Repeat([]int32{1}, 1<<16), 2, 1), "counts end, they don't begin anew")
}

func TestRowsOfOrderedBlocksDoNotReachOverLines(t *testing.T) {
	for cols, want := range []int{1: 4, 2: 4, 3: 4, 4: 4, 5: 8, 8: 8, 9: 16} {
		if want > 0 {
			require.Equal(t, want, rows.LineStride[float64](cols))
		}
	}
	require.Equal(t, 16, rows.LineStride[float32](9))
}
