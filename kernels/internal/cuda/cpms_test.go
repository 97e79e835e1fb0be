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
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels/internal/ptx"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// cut draws a layout. It returns the values in it as on the device, and each value cut
// to its first k segments.
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

// bytesOf reinterprets s as elements of another type.
func bytesOf[T, E mem.Elem](s []E) []T {
	b := mem.Bytes(s)
	v, _ := mem.Slice[T](b, int64(len(b))/mem.Size[T]())
	return v
}

// vectorIn draws the storage of a vector on the device. It returns its words and the
// values that these words represent.
func vectorIn(t *rapid.T, name string, v []float64, segments int) (words []int32, kept []float64, read int64) {
	k := rapid.IntRange(0, segments).Draw(t, name)
	if k == 0 {
		return bytesOf[int32](slices.Clone(v)), v, 0
	}
	words, kept = inSegments(t, v, cpms.Layout{Segments: segments}, k)
	return words, kept, int64(k)
}

// keptIn returns the values that remain after writing v with read segments.
func keptIn(v []float64, segments int, read int64) []float64 {
	out := slices.Clone(v)
	for i := range out {
		if read > 0 {
			out[i] = cpms.Keep(out[i], int(read)*64/segments, cpms.Truncate)
		}
	}
	return out
}

// takeVector reads a vector from the device.
func takeVector(t require.TestingT, g *gpu, a ptx.Addr, n, segments int, read int64) []float64 {
	if read == 0 {
		return download[float64](g, a, n)
	}
	return fromSegments(t, download[int32](g, a, 2*n), cpms.Layout{Segments: segments}, int(read))
}

// requireCut checks results that were computed in float64 and then cut, to the
// precision of the last kept bit.
func requireCut(t require.TestingT, want reference.Product, got []float64, segments int, read int64) {
	if read == 0 {
		require.Equal(t, -1, reference.Check(got, want))
		return
	}
	unit := math.Ldexp(1, 12-int(read)*64/segments)
	for i, v := range want.Y {
		require.InDelta(t, v, got[i], 2*unit*math.Abs(v)+1e-12*want.Scale[i], "element %d", i)
	}
}

func TestProductsInSegmentsAgreeWithTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segments := rapid.SampledFrom([]int{2, 4}).Draw(t, "segments")
		k := rapid.IntRange(0, segments).Draw(t, "k")
		rows, cols := rapid.IntRange(1, 200).Draw(t, "rows"), rapid.IntRange(1, 60).Draw(t, "cols")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		a := &sparse.CSR[float64]{Rows: rows, Cols: cols, RowPtr: []int64{0}}
		long := map[int]int{}
		for _, row := range rapid.SliceOfN(rapid.SampledFrom([]int{0, 31, 32, 127, 128, rows - 1}), 0, 2).Draw(t, "long") {
			long[row] = rapid.SampledFrom([]int{100, 129, 2049, 5000}).Draw(t, "length")
		}
		for row := range rows {
			for range max(r.IntN(6), long[row]) {
				a.ColIdx, a.Val = append(a.ColIdx, int32(r.IntN(cols))), append(a.Val, r.NormFloat64())
			}
			a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
		}
		alpha, beta := 1.5, rapid.SampledFrom([]float64{0, 1, -0.5}).Draw(t, "beta")
		xs, x, xread := vectorIn(t, "x", random[float64](r, cols), segments)
		ys, y, yread := vectorIn(t, "y", random[float64](r, rows), segments)
		b := *a
		want := func(val []float64) reference.Product {
			if b.Val = val; k == 0 {
				b.Val = slices.Repeat([]float64{1}, len(val))
			}
			return reference.Multiply[float64](false, alpha, &b, x, beta, y)
		}
		g := newGPU(t)
		g.blocks = rapid.Int64Range(0, 2).Draw(t, "blocks")
		ends := []any{int64(cols), xread, int64(rows), yread, alpha, beta}

		words, shift, read := cut(t, a.Val, segments, max(k, 1))
		at := upload(g, "y", ys)
		val := ptx.Addr(0)
		if k > 0 {
			val = upload(g, "val", words)
		}
		nnz := int64(len(a.Val))
		g.launch(fmt.Sprintf("msrep_cpms_rows_%dof%d", k, segments), int64(rows), append([]any{upload(g, "ptr", a.RowPtr), upload(g, "idx", a.ColIdx),
			val, upload(g, "x", xs), at, ptx.Addr(0), int64(rows), int64(0), nnz, int64(0), shift}, ends...)...)
		g.ok()
		requireCut(t, want(read), takeVector(t, g, at, rows, segments, yread), segments, yread)

		e, err := ellpack.NewELLR(rapid.SampledFrom([]sparse.Format{ellpack.FormatELLR, ellpack.FormatPELLR}).Draw(t, "form"), ellpack.Of(a), ellpack.Options{})
		require.NoError(t, err)
		words, shift, _ = cut(t, e.Val, segments, max(k, 1))
		if at = upload(g, "y", ys); k > 0 {
			val = upload(g, "val", words)
		}
		optional := func(name string, v []int32) ptx.Addr {
			if v == nil {
				return 0
			}
			return upload(g, name, v)
		}
		start := ptx.Addr(0)
		if e.Start != nil {
			start = upload(g, "start", e.Start)
		}
		g.launch(fmt.Sprintf("msrep_cpms_ellr_%dof%d", k, segments), int64(rows), append([]any{upload(g, "idx", e.Idx), val, upload(g, "length", e.Length), start,
			optional("perm", e.Perm), upload(g, "x", xs), at, ptx.Addr(0), int64(rows), e.Stride, int64(len(e.Val)), int64(0), shift}, ends...)...)
		g.ok()
		requireCut(t, want(read), takeVector(t, g, at, rows, segments, yread), segments, yread)
	})
}

// gatherInSegments multiplies by a part with the first k segments of its values. x is
// plain, or has all of its segments.
func gatherInSegments(g *gpu, p *part[float64], k, segments int, plain bool) []float64 {
	y, carry := result(g, p.beta, p.y), carryOf[float64](g, p.skip)
	l, val, x, xread := cpms.Layout{Segments: segments, Bank: 128}, ptx.Addr(0), ptx.Addr(0), int64(0)
	if k > 0 && p.nnz() > 0 {
		words, _ := inSegments(g.t, p.val, l, k)
		val = upload(g, "val", words)
	}
	if plain {
		x = upload(g, "x", p.x)
	} else {
		words, _ := inSegments(g.t, p.x, cpms.Layout{Segments: segments}, segments)
		x, xread = upload(g, "x", words), int64(segments)
	}
	shift := int64(bits.TrailingZeros(uint(l.PerBank())))
	g.launch(fmt.Sprintf("msrep_cpms_rows_%dof%d", k, segments), int64(p.rows()),
		upload(g, "ptr", p.ptr), upload(g, "idx", p.idx), val, x, y.addr, carry.addr,
		int64(p.rows()), p.first, p.end, int64(p.skip), shift, int64(len(p.x)), xread, int64(len(p.y)), int64(0), p.alpha, p.beta)
	return append(carry.read(), y.read()...)
}

func TestLongRowsInSegmentsAreShared(t *testing.T) {
	lengths := slices.Repeat([]int{3}, 140)
	for row, n := range map[int]int{0: 5000, 1: 129, 31: 100, 32: 2049, 33: 0, 127: 5000, 128: 128, 129: 2048, 138: 3000, 139: 130} {
		lengths[row] = n
	}
	for _, segments := range []int{2, 4} {
		for k := range segments + 1 {
			for skip := range 2 {
				p := fixed(uint64(k), skip, 0, 0, lengths...)
				p.beta = 0.5 * float64(k%2)
				if skip == 1 { // a window
					p.first, p.end = 2900, p.end-1
					p.idx, p.val = p.idx[p.first:p.end], p.val[p.first:p.end]
				}
				q := *p
				if _, q.val = inSegments(t, p.val, cpms.Layout{Segments: segments}, max(k, 1)); k == 0 {
					q.val = slices.Repeat([]float64{1}, p.nnz())
				}
				for _, plain := range []bool{true, false} {
					g := newGPU(t)
					g.blocks = int64(1 + skip)
					got := gatherInSegments(g, p, k, segments, plain)
					g.ok()
					require.Equal(t, -1, reference.Check(got, q.gathered()), "%d of %d", k, segments)
					require.Less(t, g.last.WarpInstructions, int64(4*p.nnz()), "one thread alone takes more for each entry of a long row")
				}
			}
		}
	}
}

func TestArraysAreJoinedInPlaceOnTheDevice(t *testing.T) {
	for _, segments := range []int{2, 4} {
		for _, n := range []int{1, 31, 32, 33, 63, 64, 65, 1000} {
			r := rand.New(rand.NewPCG(uint64(n), uint64(segments)))
			v := make([]float64, n)
			for i := range v {
				v[i] = math.Float64frombits(r.Uint64())
			}
			cut, _ := inSegments(t, v, cpms.Layout{Segments: segments, Bank: 128}, segments)
			for _, blocks := range []int64{0, 1} {
				g := newGPU(t)
				g.blocks = blocks
				a := upload(g, "a", cut)
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
		n := rapid.SampledFrom(lengths[1:]).Draw(t, "n")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		words, p, read := vectorIn(t, "read", random[float64](r, n), segments)
		first := r.IntN(n)
		count := r.IntN(n - first + 1)
		g := newGPU(t)
		at := upload(g, "p", words)
		degree, links := ptx.Addr(0), slices.Repeat([]int32{1}, count)
		if rapid.Bool().Draw(t, "folded") {
			for i := range links {
				links[i] = int32(1 + r.IntN(9))
			}
			degree = upload(g, "degree", links)
		}
		total := func(blocks int64, partial ptx.Addr) float64 {
			out := array[float64](g, "out", 1)
			g.launch("msrep_total", blocks, partial, out, blocks)
			g.ok()
			return download[float64](g, out, 1)[0]
		}
		blocks := rapid.Int64Range(1, 5).Draw(t, "blocks")
		partial := array[float64](g, "partial", int(blocks))
		run := func(name string, args ...any) float64 {
			g.launchGrid(fmt.Sprintf("msrep_cpms_%s_%d", name, segments), blocks, args...)
			return total(blocks, partial)
		}

		want := 0.0
		for i, d := range links {
			want += math.Abs(p[first+i]) * float64(d)
		}
		require.InDelta(t, want, run("norm1", at, degree, partial, int64(n), read, int64(first), int64(count)), 1e-12*want)

		node := make([]int32, r.IntN(n+1))
		want = 0
		for i := range node {
			node[i] = int32(r.IntN(n))
			want += p[node[i]]
		}
		require.InDelta(t, want, run("pick", at, upload(g, "node", node), partial, int64(n), read, int64(len(node))), 1e-11)

		write := rapid.Int64Range(0, int64(segments)).Draw(t, "write")
		sums, next := random[float64](r, count), array[float64](g, "next", n)
		require.NoError(t, g.mem.Write(next, make([]byte, 8*n)))
		diff := run("rank", upload(g, "sums", sums), at, next, degree, partial, int64(n), read, write, int64(first), int64(count), 0.25)
		after := takeVector(t, g, next, n, segments, write)
		want = 0
		for i, s := range sums {
			v := keptIn([]float64{(s + 0.25) / float64(links[i])}, segments, write)[0]
			require.Equal(t, v, after[first+i])
			want += math.Abs(v-p[first+i]) * float64(links[i])
		}
		require.InDelta(t, want, diff, 1e-12*want)
		clear(after[first : first+count])
		require.Equal(t, make([]float64, n), after, "the others stay")

		run("divide", at, int64(n), read, int64(first), int64(count), 1.5)
		for i := range count {
			p[first+i] /= 1.5
		}
		require.Equal(t, keptIn(p, segments, read), takeVector(t, g, at, n, segments, read))
	})
}

// fromSegments reads values in segments from the device.
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
