package ellpack_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

func TestEveryFormatHoldsTheEntriesOfTheRowsAndWhatItsShapeSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, want := matrix(lengthLists().Draw(t, "lengths"), rapid.Uint64().Draw(t, "seed"))
		o := ellpack.Options{Height: rapid.SampledFrom([]int{2, 8, 16, 32}).Draw(t, "height"), Serial: rapid.Bool().Draw(t, "serial")}
		o.Sigma = rapid.SampledFrom([]int{1, o.Height, 4 * o.Height}).Draw(t, "sigma")
		o.Sliced = rapid.Bool().Draw(t, "sliced")
		var asked int64
		if rapid.Bool().Draw(t, "own memory") {
			o.Alloc = func(n int64) ([]byte, error) {
				asked += n
				return make([]byte, n), nil
			}
		}
		l, err := ellpack.Measure(rows.Ptr, rows.First, rows.End, o)
		require.NoError(t, err)
		for _, f := range ellpack.Formats() {
			asked = 0
			got, err := build(f, rows, o)
			require.NoError(t, err, f)
			if o.Alloc != nil {
				require.EqualValues(t, got.bytes, asked, f)
			}
			require.Equal(t, want, sorted(got.entries), f)
			require.EqualValues(t, got.slots, got.shape.Slots, f)
			require.EqualValues(t, got.bytes, got.shape.Bytes(8), f)
			require.EqualValues(t, len(want), got.shape.NNZ, f)
			told, ok := l.Shape(f, 8)
			require.True(t, ok)
			require.Equal(t, told, got.shape, f)
		}
	})
}

func TestAPartOfAMatrixIsItsOwnEntries(t *testing.T) {
	whole, list := matrix([]int{3, 0, 5, 2, 0, 4}, 1)
	part := whole
	part.First, part.End = 2, 9 // the last of row 0 to the first of row 3
	part.Idx, part.Val = whole.Idx[2:9], whole.Val[2:9]
	var want []entry
	for row, k := range [][2]int{{2, 3}, {}, {3, 8}, {8, 9}} {
		for at := k[0]; at < k[1]; at++ {
			want = append(want, entry{int32(row), whole.Idx[at], whole.Val[at]})
		}
	}
	require.Len(t, list, 14)
	want = sorted(want)
	for _, f := range ellpack.Formats() {
		got, err := build(f, part, ellpack.Options{Height: 4, Sigma: 4})
		require.NoError(t, err)
		require.Equal(t, want, sorted(got.entries), f)
	}
}

// steps is the sum over warps of h rows of the longest.
func steps(lengths []int, h int) (sum int64) {
	for warp := range slices.Chunk(lengths, h) {
		sum += int64(slices.Max(warp))
	}
	return sum
}

func TestStepsAndWorkAreThePapersEquations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := lengthLists().Draw(t, "lengths")
		h := rapid.SampledFrom([]int{8, 32}).Draw(t, "height")
		rows, list := matrix(lengths, 1)
		l, err := ellpack.Measure(rows.Ptr, rows.First, rows.End, ellpack.Options{Height: h, Sigma: h})
		require.NoError(t, err)
		shape := func(f sparse.Format) ellpack.Shape {
			s, _ := l.Shape(f, 8)
			return s
		}
		work, longest := int64(0), 0
		for _, n := range lengths {
			work += int64(max(2*n-1, 0))
			longest = max(longest, n)
		}
		falling := slices.Clone(lengths)
		slices.Sort(falling)
		slices.Reverse(falling)
		require.Equal(t, int64((len(lengths)+h-1)/h*longest), shape(ellpack.FormatELL).Steps)
		require.Equal(t, steps(lengths, h), shape(ellpack.FormatELLR).Steps)
		require.Equal(t, steps(lengths, h), shape(ellpack.FormatSELL).Steps, "one warp a window")
		for _, f := range []sparse.Format{ellpack.FormatPELLR, ellpack.FormatPELLRWarp, ellpack.FormatJAD} {
			require.Equal(t, steps(falling, h), shape(f).Steps, f)
		}
		for _, f := range []sparse.Format{ellpack.FormatELLR, ellpack.FormatPELLR, ellpack.FormatBiELL, ellpack.FormatJAD, ellpack.FormatSELL} {
			require.Equal(t, work, shape(f).Work, f)
		}
		require.Equal(t, int64(len(lengths)*max(2*longest-1, 0)), shape(ellpack.FormatELL).Work)
		for _, f := range []sparse.Format{ellpack.FormatBiELL, ellpack.FormatBiJAD} {
			require.GreaterOrEqual(t, shape(f).Steps*int64(h), int64(len(list)), f)
		}
		require.LessOrEqual(t, shape(ellpack.FormatBiELL).Steps, steps(lengths, h)+5*int64(len(lengths)/h+1), "halves round up")
	})
}

// The example of section 3: 26 rows, warps of 8.
func TestTheExampleOfThePaperTakes18And14Steps(t *testing.T) {
	rows, _ := matrix([]int{2, 3, 3, 4, 4, 4, 2, 4, 2, 3, 2, 3, 2, 3, 2, 2, 2, 2, 7, 3, 3, 3, 3, 3, 4, 3}, 1)
	l, err := ellpack.Measure(rows.Ptr, 0, rows.End, ellpack.Options{Height: 8})
	require.NoError(t, err)
	s, _ := l.Shape(ellpack.FormatELLR, 8)
	require.EqualValues(t, 18, s.Steps)
	rows, _ = matrix([]int{7, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, 1)
	l, err = ellpack.Measure(rows.Ptr, 0, rows.End, ellpack.Options{Height: 8})
	require.NoError(t, err)
	s, _ = l.Shape(ellpack.FormatPELLR, 8)
	require.EqualValues(t, 14, s.Steps)
}

func TestAWarpIsBisectedAtThe17th9th5th3rdAnd2ndRow(t *testing.T) {
	// Lengths 100, 90, 80, 80, 60, ... : rows 17, 9, 5, 3 and 2 have 2, 10, 60, 80, 90.
	lengths := []int{100, 90, 80, 80, 60, 60, 60, 60, 10, 10, 10, 10, 10, 10, 10, 10, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 0, 0}
	rand.Shuffle(len(lengths), func(i, j int) { lengths[i], lengths[j] = lengths[j], lengths[i] })
	rows, _ := matrix(lengths, 1)
	for _, f := range []sparse.Format{ellpack.FormatBiELL, ellpack.FormatBiJAD} {
		e, err := ellpack.NewBisected(f, rows, ellpack.Options{})
		require.NoError(t, err)
		require.Equal(t, 6, e.Groups)
		var steps []int64
		for g := range e.Groups {
			steps = append(steps, (e.Start[g+1]-e.Start[g])/32)
		}
		// 2; (10-2)/2; (60-10)/4; (80-60)/8; (90-80)/16; (100-90)/32, rounded up.
		require.Equal(t, []int64{2, 4, 13, 3, 1, 1}, steps)
		require.EqualValues(t, 24, e.Shape.Steps)
	}
}

func TestTheWidthOfAHybFollowsItsRule(t *testing.T) {
	// 9 rows: 3 of them, a third, have at least 5 entries; 2 have more. The mean is 3.
	rows, _ := matrix([]int{1, 1, 2, 5, 7, 1, 7, 1, 2}, 1)
	third, err := ellpack.NewHYB(ellpack.FormatHYB, rows, ellpack.Options{})
	require.NoError(t, err)
	require.EqualValues(t, 5, third.ELL.Width)
	require.Equal(t, []int32{4, 4, 6, 6}, third.Row)
	mean, err := ellpack.NewHYB(ellpack.FormatHYBMean, rows, ellpack.Options{})
	require.NoError(t, err)
	require.EqualValues(t, 3, mean.ELL.Width)
	require.Len(t, mean.Row, 10)
}

func BenchmarkBuild(b *testing.B) {
	lengths := make([]int, 200_000)
	for i := range lengths {
		lengths[i] = i * i % 41
	}
	rows, _ := matrix(lengths, 1)
	for _, f := range ellpack.Formats() {
		b.Run(string(f), func(b *testing.B) {
			b.SetBytes(12 * rows.End)
			for b.Loop() {
				if err := construct(f, rows, ellpack.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func construct(f sparse.Format, r ellpack.Rows[float64], o ellpack.Options) (err error) {
	switch f {
	case ellpack.FormatELL:
		_, err = ellpack.NewELL(r, o)
	case ellpack.FormatELLR, ellpack.FormatPELLR, ellpack.FormatPELLRWarp:
		_, err = ellpack.NewELLR(f, r, o)
	case ellpack.FormatBiELL, ellpack.FormatBiJAD:
		_, err = ellpack.NewBisected(f, r, o)
	case ellpack.FormatJAD:
		_, err = ellpack.NewJAD(r, o)
	case ellpack.FormatHYB, ellpack.FormatHYBMean:
		_, err = ellpack.NewHYB(f, r, o)
	default:
		_, err = ellpack.NewSELL(r, o)
	}
	return err
}
