package devicetest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// drawFactor draws a matrix whose rows have repeated columns in any order.
func drawFactor[V sparse.Value](r *rand.Rand, rows, cols, longest int) *sparse.CSR[V] {
	m := &sparse.CSR[V]{Rows: rows, Cols: cols, RowPtr: []int64{0}}
	for range rows {
		n := 0
		if r.IntN(4) > 0 && cols > 0 {
			n = r.IntN(longest + 1)
		}
		for range n {
			m.ColIdx = append(m.ColIdx, int32(r.IntN(cols)))
			m.Val = append(m.Val, V([]float64{r.NormFloat64(), 0, math.Copysign(0, -1), 1, -1}[r.IntN(5)]))
		}
		m.RowPtr = append(m.RowPtr, int64(len(m.Val)))
	}
	return m
}

// spgemmRow returns row r of A B, its number of multiplications, and its columns in ascending order.
func spgemmRow[V sparse.Value](a, b *sparse.CSR[V], r int) (sums map[int32]V, products int64, cols []int32) {
	sums = map[int32]V{}
	for k := a.RowPtr[r]; k < a.RowPtr[r+1]; k++ {
		row := a.ColIdx[k]
		for j := b.RowPtr[row]; j < b.RowPtr[row+1]; j++ {
			products++
			p := V(a.Val[k] * b.Val[j])
			if s, ok := sums[b.ColIdx[j]]; ok {
				p += s
			} else {
				cols = append(cols, b.ColIdx[j])
			}
			sums[b.ColIdx[j]] = p
		}
	}
	slices.Sort(cols)
	return sums, products, cols
}

// SpGEMM checks the counts and the bits of a random product of sparse matrices: some rows of A, with the rows of B that
// they need. Rows may be computed by kernels for larger rows.
func SpGEMM[V sparse.Value](t *rapid.T, open Open) {
	rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
	rows, inner := rapid.IntRange(1, 60).Draw(t, "rows"), rapid.IntRange(1, 60).Draw(t, "inner")
	cols := rapid.SampledFrom([]int{1, 2, 31, 32, 33, 300, 5000}).Draw(t, "cols")
	a := drawFactor[V](rnd, rows, inner, rapid.SampledFrom([]int{1, 5, 33, 70}).Draw(t, "longest of A"))
	b := drawFactor[V](rnd, inner, cols, rapid.SampledFrom([]int{1, 4, 40, 300}).Draw(t, "longest of B"))
	lo := rapid.IntRange(0, rows-1).Draw(t, "lo")
	hi := rapid.IntRange(lo+1, rows).Draw(t, "hi")
	at, past := a.RowPtr[lo], a.RowPtr[hi]
	rowB, endB := 0, 0
	if past > at {
		rowB, endB = int(slices.Min(a.ColIdx[at:past])), int(slices.Max(a.ColIdx[at:past]))+1
	}
	atB, pastB := b.RowPtr[rowB], b.RowPtr[endB]

	var products []int64
	var want []int32
	var wantIdx []int32
	var wantVal []V
	ptr := []int64{0}
	for r := lo; r < hi; r++ {
		sums, n, columns := spgemmRow(a, b, r)
		products, want = append(products, n), append(want, int32(len(columns)))
		for _, c := range columns {
			wantIdx, wantVal = append(wantIdx, c), append(wantVal, sums[c])
		}
		ptr = append(ptr, int64(len(wantIdx)))
	}

	d, s := open(t)
	m := &memory{}
	of := kernels.SpGEMMFactors{
		A:    kernels.Structure{Ptr: up(t, m, s, d, a.RowPtr[lo:hi+1]), Idx: up(t, m, s, d, a.ColIdx[at:past]), First: at},
		B:    kernels.Structure{Ptr: up(t, m, s, d, b.RowPtr[rowB:endB+1]), Idx: up(t, m, s, d, b.ColIdx[atB:pastB]), First: atB},
		RowB: int64(rowB), Cols: int64(cols),
	}
	blocks := rapid.Int64Range(1, 3).Draw(t, "blocks")
	bits := up(t, m, s, d, make([]int32, blocks*kernels.SpGEMMWords(of.Cols)+1))
	lists := func(l kernels.SpGEMMLists) kernels.SpGEMMRows {
		l = promote(t, l)
		return kernels.SpGEMMRows{Warp: up(t, m, s, d, l.Warp), Block: up(t, m, s, d, l.Block), Dense: up(t, m, s, d, l.Dense), Bits: bits}
	}
	count := up(t, m, s, d, make([]int32, hi-lo))
	require.NoError(t, s.Launch(&kernels.SpGEMMCount{Of: of, Rows: lists(kernels.SpGEMMCountRows(products, of.Cols)), Count: count}))
	require.Equal(t, want, Download(t, s, count))

	idx, val := up(t, m, s, d, make([]int32, len(wantIdx))), up(t, m, s, d, make([]V, len(wantIdx)))
	fill := &kernels.SpGEMMFill[V]{
		Of: of, ValA: up(t, m, s, d, a.Val[at:past]), ValB: up(t, m, s, d, b.Val[atB:pastB]), Rows: lists(kernels.SpGEMMFillRows(products, want)),
		Sums: up(t, m, s, d, make([]V, blocks*of.Cols)), Ptr: up(t, m, s, d, ptr), Idx: idx, Val: val,
	}
	require.NoError(t, s.Launch(fill))
	require.Equal(t, len(wantIdx), int(idx.Len))
	for k, c := range Download(t, s, idx) {
		require.Equal(t, wantIdx[k], c, "column of entry %d", k)
	}
	for k, v := range Download(t, s, val) {
		require.Equal(t, math.Float64bits(float64(wantVal[k])), math.Float64bits(float64(v)), "entry %d: %v, not %v", k, v, wantVal[k])
	}
	for i, w := range Download(t, s, bits) {
		require.Zero(t, w, "word %d is as before", i)
	}

	// Sizes that contradict each other are refused.
	wrong := *fill
	wrong.Ptr = wrong.Ptr.Sub(0, wrong.Ptr.Len-1)
	require.ErrorIs(t, s.Launch(&wrong), kernels.ErrArgument)
	wrong = *fill
	wrong.Of.RowB = -1
	require.ErrorIs(t, s.Launch(&wrong), kernels.ErrArgument)
	wrong = *fill
	wrong.Rows.Dense, wrong.Rows.Bits = count.Sub(0, 1), bits.Sub(0, kernels.SpGEMMWords(of.Cols)-1)
	require.ErrorIs(t, s.Launch(&wrong), kernels.ErrArgument)
	wrong.Rows.Bits, wrong.Sums = bits, wrong.Sums.Sub(0, of.Cols-1)
	require.ErrorIs(t, s.Launch(&wrong), kernels.ErrArgument)
	m.free(t)
}

// promote moves some rows to the lists of kernels for larger rows.
func promote(t *rapid.T, l kernels.SpGEMMLists) kernels.SpGEMMLists {
	by := rapid.IntRange(0, 2).Draw(t, "lists")
	var out kernels.SpGEMMLists
	place := []*[]int32{&out.Warp, &out.Block, &out.Dense}
	for from, list := range [][]int32{l.Warp, l.Block, l.Dense} {
		for i, r := range list {
			to := from
			if by > 0 && i%2 == 0 {
				to = min(from+by, 2)
			}
			*place[to] = append(*place[to], r)
		}
	}
	return out
}
