package cuda_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/ptx"
	"github.com/msrep-go/msrep/kernels/reference"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
)

// cut draws a layout, and gives values in it as the device has them and what each
// is with its first k segments.
func cut(t *rapid.T, v []float64, segments, k int) (words []int32, shift int64, read []float64) {
	l := cpms.Layout{Segments: segments, Bank: rapid.SampledFrom([]int{128, 64, 8192, cpms.Separated}).Draw(t, "bank")}
	shift = 62
	if p := l.PerBank(); p > 0 {
		shift = int64(bits.TrailingZeros(uint(p)))
	}
	words, read = inSegments(t, v, l, k)
	return words, shift, read
}

func inSegments(t require.TestingT, v []float64, l cpms.Layout, k int) (words []int32, read []float64) {
	a, err := cpms.FromFloats(slices.Clone(v), l)
	require.NoError(t, err)
	read = make([]float64, len(v))
	a.Read(read, 0, k)
	if s := a.Segments32(); s != nil {
		words = bytesOf[int32](s)
	} else {
		words = bytesOf[int32](a.Segments16())
	}
	return words, read
}

// bytesOf sees s as another type.
func bytesOf[T, E mem.Elem](s []E) []T {
	b := mem.Bytes(s)
	v, _ := mem.Slice[T](b, int64(len(b))/mem.Size[T]())
	return v
}

func TestRowsInSegmentsAgreeWithTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segments := rapid.SampledFrom([]int{2, 4}).Draw(t, "segments")
		k := rapid.IntRange(1, segments).Draw(t, "k")
		rows, cols := rapid.IntRange(1, 200).Draw(t, "rows"), rapid.IntRange(1, 60).Draw(t, "cols")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		a := &sparse.CSR[float64]{Rows: rows, Cols: cols, RowPtr: []int64{0}}
		for range rows {
			for range r.IntN(6) {
				a.ColIdx, a.Val = append(a.ColIdx, int32(r.IntN(cols))), append(a.Val, r.NormFloat64())
			}
			a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
		}
		x, y := random[float64](r, cols), random[float64](r, rows)
		alpha, beta := 1.5, rapid.SampledFrom([]float64{0, 1, -0.5}).Draw(t, "beta")
		g := newGPU(t)
		g.blocks = rapid.Int64Range(0, 2).Draw(t, "blocks")
		words, shift, read := cut(t, a.Val, segments, k)
		got := result(g, beta, y)
		nnz := int64(len(a.Val))
		g.launch(fmt.Sprintf("msrep_cpms_rows_%dof%d", k, segments), int64(rows), upload(g, "ptr", a.RowPtr), upload(g, "idx", a.ColIdx),
			upload(g, "val", words), upload(g, "x", x), got.addr, ptx.Addr(0), int64(rows), int64(0), nnz, int64(0), shift, alpha, beta)
		g.ok()
		b := *a
		b.Val = read
		require.Equal(t, -1, reference.Check(got.read(), reference.Multiply[float64](false, alpha, &b, x, beta, y)))
	})
}

func TestArraysAreCutAndJoinedInPlaceOnTheDevice(t *testing.T) {
	for _, segments := range []int{2, 4} {
		for _, n := range []int{1, 31, 32, 33, 63, 64, 65, 1000} {
			r := rand.New(rand.NewPCG(uint64(n), uint64(segments)))
			v := make([]float64, n)
			for i := range v {
				v[i] = math.Float64frombits(r.Uint64())
			}
			want, _ := inSegments(t, v, cpms.Layout{Segments: segments, Bank: 128}, segments)
			for _, blocks := range []int64{0, 1} {
				g := newGPU(t)
				g.blocks = blocks
				a := upload(g, "a", v)
				g.launch(fmt.Sprintf("msrep_cpms_cut_%d", segments), int64(n), a, int64(n))
				g.ok()
				require.Equal(t, want, download[int32](g, a, 2*n))
				g.launch(fmt.Sprintf("msrep_cpms_join_%d", segments), int64(n), a, int64(n))
				g.ok()
				require.Equal(t, bytesOf[uint64](v), download[uint64](g, a, n))
			}
		}
	}
}

func TestVectorsInSegmentsFollowTheirFormulas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segments := rapid.SampledFrom([]int{2, 4}).Draw(t, "segments")
		k := rapid.IntRange(1, segments).Draw(t, "k")
		n := rapid.SampledFrom(lengths[1:]).Draw(t, "n")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		v, next := random[float64](r, n), random[float64](r, n)
		l := cpms.Layout{Segments: segments, Bank: 128}
		shift := int64(bits.TrailingZeros(uint(l.PerBank())))
		words, read := inSegments(t, v, l, k)
		g := newGPU(t)
		p := upload(g, "p", words)
		total := func(blocks int64, partial ptx.Addr) float64 {
			out := array[float64](g, "out", 1)
			g.launch("msrep_total", blocks, partial, out, blocks)
			g.ok()
			return download[float64](g, out, 1)[0]
		}
		of := fmt.Sprintf("_%dof%d", k, segments)
		blocks := rapid.Int64Range(1, 5).Draw(t, "blocks")

		partial := array[float64](g, "partial", int(blocks))
		g.launchGrid("msrep_cpms_norm1"+of, blocks, p, partial, int64(n), shift)
		want := 0.0
		for _, x := range read {
			want += math.Abs(x)
		}
		require.InDelta(t, want, total(blocks, partial), 1e-12*want)

		node := make([]int32, r.IntN(n+1))
		want = 0
		for i := range node {
			node[i] = int32(r.IntN(n))
			want += read[node[i]]
		}
		g.launchGrid("msrep_cpms_pick"+of, blocks, p, upload(g, "node", node), partial, int64(len(node)), int64(n), shift)
		require.InDelta(t, want, total(blocks, partial), 1e-11)

		w := rapid.IntRange(k, min(k+1, segments)).Draw(t, "w")
		if k*64/segments >= 32 {
			q := upload(g, "next", words)
			g.launchGrid(fmt.Sprintf("msrep_cpms_rank_%dto%dof%d", k, w, segments), blocks, upload(g, "sums", next), p, q, partial, int64(n), shift, 0.25)
			diff, after := total(blocks, partial), fromSegments(t, download[int32](g, q, 2*n), l, w)
			want = 0
			for i := range next {
				require.Equal(t, cpms.Keep(next[i]+0.25, w*64/segments, cpms.Truncate), after[i])
				want += math.Abs(after[i] - read[i])
			}
			require.InDelta(t, want, diff, 1e-12*want)
		}

		g.launch("msrep_cpms_scale"+of, int64(n), p, int64(n), shift, 1.5)
		g.ok()
		for i, x := range fromSegments(t, download[int32](g, p, 2*n), l, k) {
			require.Equal(t, cpms.Keep(1.5*read[i], k*64/segments, cpms.Truncate), x)
		}
	})
}

// fromSegments reads what the device has in segments.
func fromSegments(t require.TestingT, words []int32, l cpms.Layout, k int) []float64 {
	a, err := cpms.New(len(words)/2, l)
	require.NoError(t, err)
	if s := a.Segments32(); s != nil {
		copy(s, bytesOf[uint32](words))
	} else {
		copy(a.Segments16(), bytesOf[uint16](words))
	}
	v := make([]float64, a.Len())
	a.Read(v, 0, k)
	return v
}
