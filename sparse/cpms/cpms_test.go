package cpms

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/cases"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

func TestMain(m *testing.M) { cases.Main(m, "300") }

// special has a value of each class of float64, and the borders between them.
var special = []float64{
	0, math.Copysign(0, -1), 1, -1, 1.0 / 3, math.Pi, -math.Pi,
	math.MaxFloat64, -math.MaxFloat64, math.MaxFloat32, math.SmallestNonzeroFloat32,
	0x1p-1022, -0x1p-1022, math.Nextafter(0x1p-1022, 0), // least normal, largest subnormal
	math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 0x1p-1023, 0x1p-1026,
	math.Inf(1), math.Inf(-1), math.NaN(),
	math.Float64frombits(0x7ff0000000000001), math.Float64frombits(0xfff7ffffffffffff), // signalling
	math.Float64frombits(0x7ff00000ffffffff), math.Float64frombits(0xffffffffffffffff),
	1 + 0x1p-20, 1 + 0x1p-21, 1 + 0x1p-21 + 0x1p-52, 1 + 0x1p-4, 1 + 0x1p-5, 2 - 0x1p-52, 2 - 0x1p-20,
}

// anyValue draws bits of any class.
var anyValue = rapid.OneOf(
	rapid.SampledFrom(special),
	rapid.Map(rapid.Uint64(), math.Float64frombits),
	rapid.Float64(),
)

func anyLayout(t *rapid.T) Layout {
	return Layout{
		Segments: rapid.SampledFrom([]int{2, 4}).Draw(t, "segments"),
		Bank:     rapid.OneOf(rapid.SampledFrom([]int{Separated, 64, 128, 192, 8192, 65536}), rapid.Map(rapid.IntRange(1, 1024), func(k int) int { return k * BankStep })).Draw(t, "bank"),
	}
}

// anyArray mostly draws more values than one bank holds, and often an incomplete last bank.
func anyArray(t *rapid.T, l Layout) []float64 {
	n := rapid.IntRange(0, 300).Draw(t, "n")
	if p := l.PerBank(); p > 0 && p < 1<<14 {
		n += rapid.IntRange(0, 2).Draw(t, "banks") * p
	}
	seed := rapid.Uint64().Draw(t, "seed")
	drawn := rapid.SliceOfN(anyValue, 1, 20).Draw(t, "values")
	r := rand.New(rand.NewPCG(seed, 1))
	v := make([]float64, n)
	for i := range v {
		if r.IntN(2) == 0 {
			v[i] = drawn[r.IntN(len(drawn))]
		} else {
			v[i] = math.Float64frombits(r.Uint64())
		}
	}
	return v
}

func bitsOf(v []float64) []uint64 {
	b := make([]uint64, len(v))
	for i := range v {
		b[i] = math.Float64bits(v[i])
	}
	return b
}

func TestConversionInPlaceIsUndoneBitByBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLayout(t)
		v := anyArray(t, l)
		want := bitsOf(v)
		a, err := FromFloats(v, l)
		require.NoError(t, err)
		require.Equal(t, len(want), a.Len())
		for i, u := range want {
			for k := 1; k <= l.Segments; k++ {
				require.Equal(t, u&^(1<<(64-k*l.Bits())-1), math.Float64bits(a.At(i, k)), "%v, value %d, %d segments", l, i, k)
			}
		}
		back := a.Floats()
		require.Equal(t, want, bitsOf(back))
		require.Zero(t, a.Len())
		if len(back) > 0 {
			require.Same(t, &v[0], &back[0], "in place")
		}
	})
}

func TestLargeArraysAreConvertedByManyGoroutines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, l := range []Layout{{2, 128}, {4, 8192}, {2, 1 << 20}, {4, Separated}} {
		v := make([]float64, 1<<18+77)
		for i := range v {
			v[i] = math.Float64frombits(r.Uint64())
		}
		want := bitsOf(v)
		a, err := FromFloats(v, l)
		require.NoError(t, err)
		for i := 0; i < len(v); i += 1009 {
			require.Equal(t, want[i], math.Float64bits(a.At(i, l.Segments)), l)
		}
		require.True(t, slices.Equal(want, bitsOf(a.Floats())), l)
	}
}

func TestSegmentsLieWhereTheLayoutSays(t *testing.T) {
	v := make([]float64, 70)
	for i := range v {
		v[i] = math.Float64frombits(uint64(i)<<48 | uint64(i+100)<<32 | uint64(i+200)<<16 | uint64(i+300))
	}
	a, err := FromFloats(slices.Clone(v), Layout{4, 64})
	require.NoError(t, err)
	require.Equal(t, 32, a.layout.PerBank())
	for _, c := range []struct{ at, want int }{
		{0, 0}, {31, 31}, {32, 100}, {63, 131}, {64, 200}, {96, 300}, {127, 331}, // the first block
		{128, 32}, {160, 132}, {255, 363},
		{256, 64}, {261, 69}, {262, 164}, {268, 264}, {279, 369}, // the last, of six values
	} {
		require.EqualValues(t, c.want, a.s16[c.at], "segment %d", c.at)
	}
	a, err = FromFloats(v, Layout{4, Separated})
	require.NoError(t, err)
	require.EqualValues(t, 105, a.s16[75])
}

func TestWritingAndReadingGivesTheLeadingBitsOfEveryClass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLayout(t)
		v := anyArray(t, l)
		k := rapid.IntRange(1, l.Segments).Draw(t, "k")
		r := Rounding(rapid.Bool().Draw(t, "nearest"))
		a, err := New(len(v), l)
		require.NoError(t, err)
		before := anyValue.Draw(t, "before")
		for i := range v {
			a.Set(i, l.Segments, before, Truncate)
		}
		whole := a.layout.Bits() * l.Segments
		require.Equal(t, 64, whole)
		a.Write(v, 0, k, r)
		got := make([]float64, len(v))
		a.Read(got, 0, k)
		for i, x := range v {
			requireHead(t, x, got[i], k*l.Bits(), r)
			low := uint64(1)<<(64-k*l.Bits()) - 1
			kept := math.Float64bits(Keep(before, 64, Truncate)) & low
			require.Equal(t, kept, math.Float64bits(a.At(i, l.Segments))&low, "segments that are not written stay")
		}
	})
}

// requireHead checks that got has the first bits of x, by the guarantees in the package
// comment.
func requireHead(t require.TestingT, x, got float64, bits int, r Rounding) {
	ulp := math.Float64frombits(math.Float64bits(math.Abs(x))&(0x7ff<<52)) * math.Ldexp(1, 12-bits)
	switch {
	case math.IsNaN(x):
		require.True(t, math.IsNaN(got))
	case math.IsInf(x, 0) || x == 0:
		require.Equal(t, math.Float64bits(x), math.Float64bits(got))
	case math.Abs(x) < 0x1p-1022:
		require.False(t, math.IsNaN(got))
		require.LessOrEqual(t, math.Abs(got-x), math.Ldexp(0x1p-1022, 12-bits))
	case r == Truncate:
		require.LessOrEqual(t, math.Abs(got), math.Abs(x))
		require.Less(t, math.Abs(got-x), math.Max(ulp, 5e-324), "%x", x)
	default:
		require.False(t, math.IsInf(got, 0), "no overflow")
		if math.Abs(x) < math.MaxFloat64/2 {
			require.LessOrEqual(t, math.Abs(got-x), ulp/2, "%x", x)
		}
	}
	require.Equal(t, math.Signbit(x), math.Signbit(got))
	require.Zero(t, math.Float64bits(got)&(1<<(64-bits)-1))
}

func TestEverySpecialValueSurvivesEveryWidth(t *testing.T) {
	for _, x := range special {
		for _, bits := range []int{16, 32, 48, 64} {
			for _, r := range []Rounding{Truncate, Nearest} {
				requireHead(t, x, Keep(x, bits, r), bits, r)
			}
		}
		require.True(t, math.IsNaN(x) || Keep(x, 64, Nearest) == x)
	}
	require.Equal(t, 1.0, Keep(1+0x1p-21, 32, Nearest), "ties go to even")
	require.Equal(t, 1+0x1p-19, Keep(1+0x1p-20+0x1p-21, 32, Nearest), "ties go to even")
	require.Equal(t, 1+0x1p-20, Keep(1+0x1p-21+0x1p-52, 32, Nearest))
	require.Equal(t, 2.0, Keep(2-0x1p-52, 32, Nearest), "into the next exponent")
	require.Equal(t, 0x1p-1022, Keep(math.Nextafter(0x1p-1022, 0), 32, Nearest), "out of the subnormals")
}

func TestHeadsKeepTheLeadingBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 100).Draw(t, "n")
		v := rapid.SliceOfN(anyValue, n, n).Draw(t, "v")
		widest := rapid.SampledFrom([]int{2, 4, 6, 8}).Draw(t, "widest")
		h, err := NewHeads(n, widest)
		require.NoError(t, err)
		for w := 2; w <= widest; w += 2 {
			h.SetWidth(w)
			require.Equal(t, w, h.Width())
			for i, x := range v {
				h.Set(i, x)
			}
			for i, x := range v {
				requireHead(t, x, h.At(i), 8*w, Truncate)
				if w < 8 {
					tail := binary.LittleEndian.Uint64(h.Tails()[i*w:])
					require.Equal(t, math.Float64bits(h.At(i)), tail&HeadMask(w), "as kernels read it")
				}
			}
		}
		require.Panics(t, func() { h.SetWidth(3) })
		if n > 0 && widest < 8 {
			require.Panics(t, func() { h.SetWidth(8) })
		}
	})
}

func TestWrongLayoutsAreInputErrors(t *testing.T) {
	for _, l := range []Layout{{}, {3, 64}, {2, -64}, {2, 63}, {4, MaxBank + 64}} {
		_, err := New(5, l)
		require.True(t, sparse.IsInput(err), "%v", l)
		_, err = FromFloats(make([]float64, 5), l)
		require.True(t, sparse.IsInput(err), "%v", l)
	}
	for _, s := range []string{"", "interleaved", "interleaved:", "interleaved:0", "interleaved:65", "interleaved:99999999999999999999", "Separated"} {
		_, err := ParseBank(s)
		require.True(t, sparse.IsInput(err), s)
	}
	for _, l := range []Layout{{2, Separated}, {4, 64}, {2, 65536}} {
		bank, err := ParseBank(l.String())
		require.NoError(t, err)
		require.Equal(t, l.Bank, bank)
	}
	_, err := NewHeads(-1, 8)
	require.True(t, sparse.IsInput(err))
	_, err = NewHeads(1, 3)
	require.True(t, sparse.IsInput(err))
	a, err := New(3, Layout{2, 64})
	require.NoError(t, err)
	require.Panics(t, func() { a.At(3, 1) })
	require.Panics(t, func() { a.At(0, 3) })
	require.Panics(t, func() { a.Read(make([]float64, 2), 2, 1) })
	const beyond = "cpms: values [2, 4) and 1 segments of an array of 3 values of 2 segments"
	require.PanicsWithValue(t, beyond, func() { a.Write([]float64{1, 1}, 2, 1, Truncate) })
	require.Zero(t, a.At(2, 2), "and nothing is written")
}

func TestArraysThatDoNotFitIntoMemoryAreRefused(t *testing.T) {
	for _, n := range []int{-1, math.MaxInt, math.MinInt} {
		_, err := New(n, Layout{Segments: 2})
		require.True(t, sparse.IsInput(err), "%d: %v", n, err)
	}
	err := checkMemory(1<<40, 8)
	require.True(t, sparse.IsInput(err))
	require.ErrorContains(t, err, "n: 1099511627776 values of 8 bytes: ")
}

func TestACopyThatDoesNotFitIntoMemoryIsRefused(t *testing.T) {
	defer mem.SetAvailable(0)()
	v := make([]float64, 2<<20)
	_, err := FromFloats(v, Layout{Segments: 2})
	require.True(t, sparse.IsInput(err), "%v", err)
	_, err = FromFloats(v, Layout{Segments: 2, Bank: 128})
	require.NoError(t, err, "bank by bank")
}
