package merge

import (
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

func TestCarriesCompleteTheRowsThatPartsShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := products().Draw(t, "product")
		parts, _, err := partition.Split(p.a.RowPtr, p.parts, p.rule)
		require.NoError(t, err)
		y, carry := p.start(), make([]float64, len(parts))
		for i, q := range parts {
			carry[i] = math.NaN() // not read without StartFlag
			if q.StartFlag {
				carry[i] = p.partial(q, q.StartMajor)
			}
			for r := q.OwnFirst; r < q.OwnEnd; r++ {
				old := 0.0
				if p.beta != 0 {
					old = p.beta * y[r]
				}
				y[r] = old + p.partial(q, r)
			}
		}
		require.NoError(t, Rows(y, parts, carry))
		want, size := p.reference()
		requireClose(t, want, size, y, len(p.a.Val))
	})
}

func TestPrivateVectorsAreCopiedIntoPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := products().Draw(t, "product")
		parts, _, err := partition.Split(p.a.RowPtr, p.parts, p.rule)
		require.NoError(t, err)
		y, py := p.start(), make([][]float64, len(parts))
		for i, q := range parts {
			for r := q.First(); r < q.End(); r++ {
				py[i] = append(py[i], p.partial(q, r))
			}
		}
		require.NoError(t, CopyRows(y, p.beta, parts, py))
		want, size := p.reference()
		requireClose(t, want, size, y, len(p.a.Val))
	})
}

// Row 1 holds 1000 entries in five parts. The values show that they are added in the
// order of the parts: (1e16 + 1) + 1 + ... loses every 1.
func TestRowOverManyPartsIsAddedInOrder(t *testing.T) {
	parts, _, err := partition.Split([]int64{0, 0, 1000, 1000}, 5, partition.RuleNNZ)
	require.NoError(t, err)
	y := []float64{7, 1e16, 7}
	require.NoError(t, Rows(y, parts, []float64{math.NaN(), 1, 1, 1, 1}))
	require.Equal(t, []float64{7, 1e16, 7}, y)
	y = []float64{7, 1, 7}
	require.NoError(t, Rows(y, parts, []float64{math.NaN(), 1, 1, 1, 1e16}))
	require.Equal(t, []float64{7, 1e16 + 4, 7}, y)

	y = []float64{math.NaN(), math.NaN(), math.NaN()}
	require.NoError(t, CopyRows(y, 0, parts, [][]float64{{0, 2}, {3}, {4}, {5}, {6, 0}}))
	require.Equal(t, []float64{0, 20, 0}, y)
	y = []float64{1, 1, 1}
	require.NoError(t, CopyRows(y, 10, parts, [][]float64{{0, 2}, {3}, {4}, {5}, {6, 0}}))
	require.Equal(t, []float64{10, 30, 10}, y)
}

func TestCopyRowsGivesTheSameBitsOnAnyNumberOfCores(t *testing.T) {
	const m = 150_000
	rng := rand.New(rand.NewSource(4))
	ptr := make([]int64, m+1)
	for r := range m {
		ptr[r+1] = ptr[r] + int64(rng.Intn(3))
	}
	parts, _, err := partition.Split(ptr, 3, partition.RuleNNZ)
	require.NoError(t, err)
	py := make([][]float32, len(parts))
	for i, p := range parts {
		py[i] = randoms[float32](rng, p.Majors())
	}
	start := randoms[float32](rng, m)
	got := onEachCore(func() []float32 {
		y := append([]float32(nil), start...)
		require.NoError(t, CopyRows(y, 0.3, parts, py))
		return y
	})
	for _, y := range got[1:] {
		require.Equal(t, got[0], y)
	}
	for i, p := range parts {
		r := p.OwnEnd - 2 // shared with no other part
		require.Equal(t, float32(0.3*start[r])+py[i][r-p.First()], got[0][r])
	}
}

func TestRowMergesRefuseWhatDoesNotFit(t *testing.T) {
	parts, _, err := partition.Split([]int64{0, 3, 6}, 3, partition.RuleNNZ)
	require.NoError(t, err)
	fits := [][]float64{{1}, {1, 1}, {1}}
	try := func(name string, rows int, spoil func(ps []partition.Part, py [][]float64) ([]partition.Part, [][]float64)) {
		y := make([]float64, rows)
		ps, py := spoil(append([]partition.Part(nil), parts...), append([][]float64(nil), fits...))
		require.True(t, sparse.IsInput(CopyRows(y, 2, ps, py)), name)
		require.Equal(t, make([]float64, rows), y, name)
	}
	same := func(ps []partition.Part, py [][]float64) ([]partition.Part, [][]float64) { return ps, py }
	require.NoError(t, CopyRows(make([]float64, 2), 2, parts, fits))
	try("y too short", 1, same)
	try("y too long", 3, same)
	try("a vector is missing", 2, func(ps []partition.Part, py [][]float64) ([]partition.Part, [][]float64) { return ps, py[:2] })
	try("a part is missing", 2, func(ps []partition.Part, py [][]float64) ([]partition.Part, [][]float64) { return ps[:1], py[:1] })
	try("a vector is short", 2, func(ps []partition.Part, py [][]float64) ([]partition.Part, [][]float64) {
		py[1] = py[1][:1]
		return ps, py
	})
	try("a row with two owners", 2, func(ps []partition.Part, py [][]float64) ([]partition.Part, [][]float64) {
		ps[2].OwnFirst--
		return ps, py
	})
	try("a part that ends before it begins", 2, func(ps []partition.Part, py [][]float64) ([]partition.Part, [][]float64) {
		ps[0].OwnEnd = -1
		return ps, py
	})
	try("a carry to a far row", 2, func(ps []partition.Part, py [][]float64) ([]partition.Part, [][]float64) {
		ps[2].StartFlag, ps[2].StartMajor, py[2] = true, 0, []float64{1, 1}
		return ps, py
	})

	y := []float64{1, 2}
	require.True(t, sparse.IsInput(Rows(y, parts, []float64{1, 2})))
	bad := append([]partition.Part(nil), parts...)
	bad[2] = partition.Part{StartFlag: true, StartMajor: 2}
	require.True(t, sparse.IsInput(Rows(y, bad, []float64{1, 2, 3})))
	bad[2].StartMajor = -1
	require.True(t, sparse.IsInput(Rows(y, bad, []float64{1, 2, 3})))
	require.Equal(t, []float64{1, 2}, y, "y is left alone on errors")
}

// ownsAll says whether the parts own each of m rows once, in order, and continue
// only the row before their own ones.
func ownsAll(parts []partition.Part, m int) bool {
	own := 0
	for _, p := range parts {
		if p.OwnFirst != own || p.OwnEnd < own || p.StartFlag && (own == 0 || p.StartMajor != own-1) {
			return false
		}
		own = p.OwnEnd
	}
	return own == m
}

func TestCopyRowsRefusesPartsThatDoNotOwnEachRowOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ptr := []int64{0}
		for r, n := range rapid.SliceOfN(rapid.Int64Range(0, 4), 0, 6).Draw(t, "row lengths") {
			ptr = append(ptr, ptr[r]+n)
		}
		parts, _, err := partition.Split(ptr, rapid.IntRange(1, 4).Draw(t, "parts"), partition.RuleNNZ)
		require.NoError(t, err)
		for range rapid.IntRange(0, 2).Draw(t, "faults") {
			q := &parts[rapid.IntRange(0, len(parts)-1).Draw(t, "part")]
			by := rapid.SampledFrom([]int{-1, 1}).Draw(t, "by")
			switch rapid.IntRange(0, 3).Draw(t, "field") {
			case 0:
				q.OwnFirst += by
			case 1:
				q.OwnEnd += by
			case 2:
				q.StartMajor += by
			case 3:
				q.StartFlag, q.StartMajor = !q.StartFlag, q.OwnFirst-1
			}
		}
		py := make([][]float64, len(parts))
		for i, q := range parts {
			py[i] = make([]float64, max(q.Majors(), 0)) // each as the part asks for
		}
		y := randoms[float64](rand.New(rand.NewSource(1)), len(ptr)-1)
		before := slices.Clone(y)
		err = CopyRows(y, 2, parts, py)
		require.Equal(t, ownsAll(parts, len(y)), err == nil, "%v, %+v", err, parts)
		if err != nil {
			require.True(t, sparse.IsInput(err))
			require.True(t, slices.Equal(before, y), "y is left alone on errors")
		}
	})
}
