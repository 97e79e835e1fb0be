package partition

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
)

func TestBadArgumentsAreNamed(t *testing.T) {
	good := []int64{0, 1, 2}
	for _, c := range []struct {
		ptr   []int64
		parts int
		says  string
	}{
		{good, 0, "parts: 0: a matrix is split into 1 to"},
		{good, -3, "parts: -3"},
		{good, MaxParts + 1, "1 to 1048576 parts"},
		{nil, 1, "pointers: none given"},
		{[]int64{1, 2}, 1, "run from 1 to 2"},
		{[]int64{0, -2}, 1, "run from 0 to -2"},
		{[]int64{0, math.MaxInt64}, 1, "more than"},
	} {
		for _, rule := range ptrRules {
			parts, _, err := Split(c.ptr, c.parts, rule)
			require.True(t, sparse.IsInput(err), "%v in %d parts by %s: %v", c.ptr, c.parts, rule, err)
			require.ErrorContains(t, err, c.says)
			require.Nil(t, parts)
		}
	}
	_, _, err := Split(good, 2, "rows")
	require.ErrorContains(t, err, `rule: "rows" is not known`)
	_, _, err = SplitCOO([]int32{0, 1}, 2, 2, "")
	require.ErrorContains(t, err, `rule: "" is not known`)
	_, _, err = Split([]int64{0, 9, 1, 8, 2, 10}, 3, RuleMajor)
	require.ErrorContains(t, err, "pointers: they decrease")
}

func TestBadCOOArgumentsAreNamed(t *testing.T) {
	good := []int32{0, 1, 1}
	for _, c := range []struct {
		idx           []int32
		majors, parts int
		says          string
	}{
		{good, 2, 0, "parts: 0"},
		{good, -1, 1, "-1 rows"},
		{good, 1, 1, "must be in [0, 1)"},
		{good, 0, 1, "must be in [0, 0)"},
		{[]int32{-1, 0}, 2, 1, "run from -1 to 0"},
	} {
		for _, rule := range rules {
			_, _, err := SplitCOO(c.idx, c.majors, c.parts, rule)
			require.True(t, sparse.IsInput(err), "%v by %s", c, rule)
			require.ErrorContains(t, err, c.says)
		}
	}
	for _, idx := range [][]int32{{0, 3, 1, 3}, {0, 7, 1, 3}, {0, -7, 1, 3}} {
		_, _, err := SplitCOO(idx, 4, 4, RuleNNZ)
		require.ErrorIs(t, err, ErrUnsorted)
		require.True(t, sparse.IsInput(err))
	}
	_, _, err := SplitCOO([]int32{0, 3, 1, 3}, 4, 2, RuleNNZ)
	require.ErrorIs(t, err, ErrUnsorted, "the index decreases at the border")
}

// For any pointers, a split returns an error or parts whose borders are within the matrix.
func TestArbitraryPointersNeverPanic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inner := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(-3, 20), rapid.Int64()), 0, 12).Draw(t, "inner")
		nnz := rapid.Int64Range(0, 15).Draw(t, "nnz")
		ptr := append(append([]int64{0}, inner...), nnz)
		np := rapid.IntRange(1, 20).Draw(t, "parts")
		for _, rule := range ptrRules {
			parts, _, err := Split(ptr, np, rule)
			if err != nil {
				require.True(t, sparse.IsInput(err))
				continue
			}
			within(t, parts, nnz, len(ptr)-1)
			for _, p := range parts {
				require.NoError(t, LocalPtr(make([]int32, p.Majors()+1), ptr, p))
			}
		}
	})
}

func TestArbitraryIndicesNeverPanic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		idx := rapid.SliceOfN(rapid.OneOf(rapid.Int32Range(-2, 9), rapid.Int32()), 0, 12).Draw(t, "idx")
		majors, np := rapid.IntRange(0, 9).Draw(t, "majors"), rapid.IntRange(1, 20).Draw(t, "parts")
		for _, rule := range rules {
			parts, _, err := SplitCOO(idx, majors, np, rule)
			if err != nil {
				require.True(t, sparse.IsInput(err))
				continue
			}
			within(t, parts, int64(len(idx)), majors)
		}
	})
}

func within(t require.TestingT, parts []Part, nnz int64, majors int) {
	idx, own := int64(0), 0
	for _, p := range parts {
		require.Equal(t, idx, p.StartIdx)
		require.Equal(t, own, p.OwnFirst)
		require.GreaterOrEqual(t, p.NNZ(), int64(0))
		require.GreaterOrEqual(t, p.OwnEnd, p.OwnFirst)
		require.GreaterOrEqual(t, p.First(), 0)
		if p.StartFlag {
			require.Equal(t, p.OwnFirst-1, p.StartMajor)
		}
		if !p.Empty() {
			require.GreaterOrEqual(t, p.StartMajor, p.First())
			require.GreaterOrEqual(t, p.EndMajor, p.StartMajor)
			require.Less(t, p.EndMajor, p.End())
		}
		idx, own = p.EndIdx+1, p.OwnEnd
	}
	require.Equal(t, nnz, idx)
	require.Equal(t, majors, own)
}

// Verify finds a wrong value in any field of a part.
func TestVerifyFindsEveryFault(t *testing.T) {
	ptr := []int64{0, 2, 2, 9, 9, 12, 12}
	parts, _, err := Split(ptr, 4, RuleNNZ)
	require.NoError(t, err)
	require.NoError(t, Verify(parts, ptr))
	require.Error(t, Verify(parts[:3], ptr), "a part is missing")
	require.Error(t, Verify(parts[1:], ptr), "the first part is missing")
	require.Error(t, Verify(nil, ptr))
	require.Error(t, Verify(parts, nil))
	faults := map[string]func(p *Part){
		"StartIdx +1":   func(p *Part) { p.StartIdx++ },
		"StartIdx -1":   func(p *Part) { p.StartIdx-- },
		"EndIdx +1":     func(p *Part) { p.EndIdx++ },
		"EndIdx -1":     func(p *Part) { p.EndIdx-- },
		"StartMajor +1": func(p *Part) { p.StartMajor++ },
		"StartMajor -1": func(p *Part) { p.StartMajor-- },
		"EndMajor +1":   func(p *Part) { p.EndMajor++ },
		"EndMajor -1":   func(p *Part) { p.EndMajor-- },
		"EndMajor +3":   func(p *Part) { p.EndMajor += 3 }, // of the last part: beyond all pointers
		"StartFlag":     func(p *Part) { p.StartFlag = !p.StartFlag },
		"OwnFirst +1":   func(p *Part) { p.OwnFirst++ },
		"OwnFirst -1":   func(p *Part) { p.OwnFirst-- },
		"OwnEnd +1":     func(p *Part) { p.OwnEnd++ },
		"OwnEnd -1":     func(p *Part) { p.OwnEnd-- },
	}
	for name, plant := range faults {
		for i := range parts {
			bad := append([]Part(nil), parts...)
			plant(&bad[i])
			require.True(t, sparse.IsInput(Verify(bad, ptr)), "%s in part %d", name, i)
		}
	}
	// The row at a border has the wrong owner, though all entries are covered.
	bad := append([]Part(nil), parts...)
	bad[0].OwnEnd--
	bad[1].OwnFirst--
	require.Error(t, Verify(bad, ptr))
	// Part 1 ends two entries before it begins, and part 2 begins one entry before part 1.
	bad = append([]Part(nil), parts...)
	bad[1].EndIdx, bad[2].StartIdx = bad[1].StartIdx-2, bad[1].StartIdx-1
	require.ErrorContains(t, Verify(bad, ptr), "part 1 holds the entries")
	// Part 3 begins with row 4, which part 2 must not own.
	bad = append([]Part(nil), parts...)
	bad[2].OwnEnd, bad[3].OwnFirst = 5, 5
	require.ErrorContains(t, Verify(bad, ptr), "part 2 owns row 4")
}

func TestAPartThatBeginsBeforeTheMatrixIsNotCutAgain(t *testing.T) {
	_, err := Within([]int64{0, 3}, Part{StartIdx: -5, EndIdx: 2, OwnEnd: 1}, 1)
	require.True(t, sparse.IsInput(err))
}
