package cpms_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/simd"
	cpmsform "github.com/msrep-go/msrep/kernels/cpu/internal/form/cpms"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse/cpms"
)

// headVector draws a vector that stores width bytes of each value, with values of any size, NaN and
// infinities, as a vector and as its values.
func headVector(t *rapid.T, n, width int) (*cpms.Heads, []float64) {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed of x"), 0))
	odd := rapid.SampledFrom([]float64{1, math.NaN(), math.Inf(1), math.Inf(-1)}).Draw(t, "odd")
	h, err := cpms.NewHeads(n, width)
	require.NoError(t, err)
	v := make([]float64, n)
	for i := range v {
		x := r.NormFloat64()
		if r.IntN(50) == 0 {
			x = odd
		}
		h.Set(i, x)
		v[i] = h.At(i)
	}
	return h, v
}

// requireSum compares a sum with its terms.
func requireSum(t require.TestingT, terms []float64, got float64, what string) {
	sum, scale := 0.0, 0.0
	for _, v := range terms {
		sum += v
		scale += math.Abs(v)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		require.Equal(t, math.Float64bits(sum)&^(1<<63-1<<51), math.Float64bits(got)&^(1<<63-1<<51), "%s: %g, %g", what, sum, got)
		return
	}
	require.LessOrEqual(t, math.Abs(got-sum), float64(len(terms)+4)*0x1p-52*scale, "%s", what)
}

func TestSegmentsAreJoinedAtEveryLevel(t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		rapid.Check(t, func(t *rapid.T) {
			layout := cpms.Layout{
				Segments: rapid.SampledFrom([]int{2, 4}).Draw(t, "segments"),
				Bank:     rapid.SampledFrom([]int{cpms.Separated, 64, 128, 192, 8192}).Draw(t, "bank"),
			}
			n := rapid.IntRange(1, 3000).Draw(t, "n")
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			v := make([]float64, n)
			for i := range v {
				v[i] = math.Float64frombits(r.Uint64())
			}
			a, err := cpms.FromFloats(v, layout)
			require.NoError(t, err)
			lo := rapid.IntRange(0, n).Draw(t, "lo")
			hi := rapid.IntRange(lo, n).Draw(t, "hi")
			k := rapid.IntRange(1, layout.Segments).Draw(t, "k")
			const guard = 42.0
			got := make([]float64, hi-lo+1)
			got[hi-lo] = guard
			cpmsform.JoinSegments(l, got[:hi-lo], a, lo, k)
			require.Equal(t, guard, got[hi-lo])
			for i := lo; i < hi; i++ {
				require.Equal(t, math.Float64bits(a.At(i, k)), math.Float64bits(got[i-lo]))
			}
		})
	})
}

func TestRowsOfHeadsAreSummedAtEveryLevel(t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		rapid.Check(t, func(t *rapid.T) {
			width := rapid.SampledFrom([]int{2, 4, 6, 8}).Draw(t, "width")
			cols := rapid.IntRange(1, 100).Draw(t, "cols")
			x, xv := headVector(t, cols, width)
			lengths := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 9), rapid.IntRange(0, 70), rapid.IntRange(0, 1500)), 0, 30).Draw(t, "lengths")
			ptr := []int64{rapid.Int64Range(0, 1000).Draw(t, "base")}
			for _, n := range lengths {
				ptr = append(ptr, ptr[len(ptr)-1]+int64(n))
			}
			e, val := entries(t, ptr[len(lengths)]+rapid.Int64Range(0, 300).Draw(t, "behind"), cols)
			y := make([]float64, len(lengths)+1)
			y[len(lengths)] = 42
			cpmsform.HeadRows(l, y[:len(lengths)], ptr, e, x, scratch)
			require.Equal(t, 42.0, y[len(lengths)])
			for i := range lengths {
				var terms []float64
				for k := ptr[i]; k < ptr[i+1]; k++ {
					terms = append(terms, val[k]*xv[e.Idx[k]])
				}
				requireSum(t, terms, y[i], "row")
			}
		})
	})
}

// entries draws n entries, plain, without values or in segments, and returns the values by which x
// is multiplied.
func entries(t *rapid.T, n int64, cols int) (e cpmsform.Entries, val []float64) {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	e.Idx, val = make([]int32, n), make([]float64, n)
	for k := range e.Idx {
		e.Idx[k], val[k] = int32(r.IntN(cols)), r.NormFloat64()
	}
	layout := rapid.SampledFrom([]cpms.Layout{{}, {Segments: 1}, {Segments: 2}, {Segments: 4}, {Segments: 2, Bank: 64}, {Segments: 4, Bank: 512},
		{Segments: 2, Bank: 1024}, {Segments: 2, Bank: 2112}, {Segments: 4, Bank: 8192}}).Draw(t, "values")
	switch layout.Segments {
	case 0:
		for k := range val {
			val[k] = 1
		}
	case 1:
		e.Plain = val
	default:
		var err error
		e.Segments, err = cpms.FromFloats(append([]float64(nil), val...), layout)
		require.NoError(t, err)
		e.Read = rapid.IntRange(1, layout.Segments).Draw(t, "read")
		for k := range val {
			val[k] = e.Segments.At(k, e.Read)
		}
	}
	return e, val
}

// scratch has room for few values, so that many rows do not fit.
var scratch = make([]float64, 48)

func TestSlicesOfHeadsAreAddedAtEveryLevel(t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		rapid.Check(t, func(t *rapid.T) {
			width := rapid.SampledFrom([]int{2, 4, 6, 8}).Draw(t, "width")
			cols := rapid.IntRange(1, 100).Draw(t, "cols")
			x, xv := headVector(t, cols, width)
			slices := rapid.IntRange(0, 5).Draw(t, "slices")
			count := make([]int32, slices*cpmsform.SliceRows)
			off := []int64{rapid.Int64Range(0, 9).Draw(t, "base") * cpmsform.SliceRows}
			for s := range slices {
				wide := rapid.OneOf(rapid.Int32Range(0, 20), rapid.Int32Range(0, 300)).Draw(t, "wide")
				for i := range cpmsform.SliceRows {
					count[s*cpmsform.SliceRows+i] = rapid.Int32Range(0, wide).Draw(t, "count")
				}
				off = append(off, off[s]+cpmsform.SliceRows*int64(wide))
			}
			e, val := entries(t, off[slices]+rapid.Int64Range(0, 300).Draw(t, "behind"), cols) // also entries of no row
			idx := e.Idx
			if rapid.Bool().Draw(t, "near") {
				e.Near, e.Idx, e.Start = make([]uint16, len(idx)), nil, make([]int32, slices)
				for s := range slices {
					e.Start[s] = rapid.Int32Range(0, int32(cols)-1).Draw(t, "start")
					for k := off[s]; k < off[s+1]; k++ {
						idx[k] = max(idx[k], e.Start[s])
						e.Near[k] = uint16(idx[k] - e.Start[s])
					}
				}
			}
			y := make([]float64, len(count)+1)
			for i := range y {
				y[i] = float64(i)
			}
			cpmsform.HeadSlices(l, y[:len(count)], count, off, e, x, scratch)
			require.Equal(t, float64(len(count)), y[len(count)])
			for i, n := range count {
				terms := []float64{float64(i)}
				for c := range int64(n) {
					k := off[i/cpmsform.SliceRows] + cpmsform.SliceRows*c + int64(i%cpmsform.SliceRows)
					terms = append(terms, val[k]*xv[idx[k]])
				}
				requireSum(t, terms, y[i], "row")
			}
		})
	})
}

func TestRanksFollowTheFormulaAtEveryLevel(t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.IntRange(0, 60).Draw(t, "n")
			from := rapid.SampledFrom([]int{2, 4, 6, 8}).Draw(t, "from")
			to := rapid.OneOf(rapid.Just(from), rapid.SampledFrom([]int{2, 4, 6, 8})).Draw(t, "to")
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
			cur, err := cpms.NewHeads(n, from)
			require.NoError(t, err)
			next, err := cpms.NewHeads(n, to)
			require.NoError(t, err)
			sum, degree := make([]float64, n), make([]int32, n)
			for i := range sum {
				sum[i], degree[i] = r.Float64(), int32(1+r.IntN(1000))
				cur.Set(i, r.Float64())
				next.Set(i, 1)
			}
			if rapid.Bool().Draw(t, "stored") {
				degree = nil
			}
			first := rapid.IntRange(0, n).Draw(t, "first")
			end := rapid.IntRange(first, n).Draw(t, "end")
			part := degree
			if degree != nil {
				part = degree[first:end]
			}
			got := cpmsform.Rank(l, sum[first:end], cur, next, first, part, 0.85, 0.25)
			diff := 0.0
			for i := range sum {
				if i < first || i >= end {
					require.Equal(t, 1.0, next.At(i), "other nodes stay")
					continue
				}
				p, d := 0.85*sum[i]+0.25, 1.0
				if degree != nil {
					d = float64(degree[i])
				}
				want := cpms.Keep(p/d, 8*to, cpms.Truncate)
				// A fused product may round to the other side of a truncation boundary.
				require.InEpsilon(t, want, next.At(i), math.Max(math.Ldexp(1, 13-8*to), 0x1p-51))
				diff += math.Abs(next.At(i)-cur.At(i)) * d
			}
			require.InDelta(t, diff, got, 1e-12*diff)
		})
	})
	require.Panics(t, func() {
		h := cpms.HeadsOf(make([]float64, 3))
		cpmsform.Rank(simd.Generic, make([]float64, 3), h, h, 1, nil, 1, 0)
	})
}
