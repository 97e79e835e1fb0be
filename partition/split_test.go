package partition

import (
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
)

// naive is the rule of the paper, computed entry by entry and major by major.
func naive(ptr []int64, parts int) []Part {
	idx, m, nnz := expand(ptr), len(ptr)-1, ptr[len(ptr)-1]
	out := make([]Part, parts)
	for i := range out {
		p := &out[i]
		p.StartIdx = int64(i) * nnz / int64(parts)
		p.EndIdx = int64(i+1)*nnz/int64(parts) - 1
	}
	owner := func(r int) int {
		for i, p := range out {
			switch {
			case ptr[r] < ptr[r+1] && p.StartIdx <= ptr[r] && ptr[r] <= p.EndIdx:
				return i
			case ptr[r] == ptr[r+1] && (i == parts-1 || p.StartIdx <= ptr[r] && ptr[r] < out[i+1].StartIdx):
				return i
			}
		}
		panic("a major without an owner")
	}
	owned := make([]int, parts)
	for r := range m {
		owned[owner(r)]++
	}
	at := 0
	for i := range out {
		p := &out[i]
		p.OwnFirst, at = at, at+owned[i]
		p.OwnEnd = at
		p.StartMajor, p.EndMajor = p.OwnFirst, p.OwnFirst-1
		if p.StartIdx <= p.EndIdx {
			p.StartMajor, p.EndMajor = int(idx[p.StartIdx]), int(idx[p.EndIdx])
			p.StartFlag = p.StartIdx > 0 && idx[p.StartIdx-1] == idx[p.StartIdx]
		}
	}
	return out
}

func TestSplitByNNZIsTheRuleOfThePaper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ptr, np := pointers().Draw(t, "ptr"), rapid.IntRange(1, 40).Draw(t, "parts")
		parts, _, err := Split(ptr, np, RuleNNZ)
		require.NoError(t, err)
		require.Equal(t, naive(ptr, np), parts)
		least, most := int64(math.MaxInt64), int64(0)
		for _, p := range parts {
			least, most = min(least, p.NNZ()), max(most, p.NNZ())
		}
		require.LessOrEqual(t, most-least, int64(1))
	})
}

func TestEveryRuleCoversEntriesAndMajorsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ptr, np := pointers().Draw(t, "ptr"), rapid.IntRange(1, 40).Draw(t, "parts")
		m, nnz := len(ptr)-1, ptr[len(ptr)-1]
		idx := expand(ptr)
		for _, rule := range rules {
			parts, _, err := Split(ptr, np, rule)
			require.NoError(t, err, rule)
			require.Len(t, parts, np, rule)
			require.NoError(t, Verify(parts, ptr), rule)
			entries, owners := make([]int, nnz), make([]int, m)
			for i, p := range parts {
				for k := p.StartIdx; k <= p.EndIdx; k++ {
					entries[k]++
					r := int(idx[k])
					require.True(t, p.First() <= r && r < p.End(), "rule %s: part %d does not cover row %d", rule, i, r)
				}
				for r := p.OwnFirst; r < p.OwnEnd; r++ {
					owners[r]++
				}
				flag := !p.Empty() && p.StartIdx > 0 && idx[p.StartIdx-1] == idx[p.StartIdx]
				require.Equal(t, flag, p.StartFlag, "rule %s: part %d", rule, i)
			}
			require.NotContains(t, entries, 0, rule)
			require.NotContains(t, entries, 2, rule)
			require.NotContains(t, owners, 0, rule)
			require.NotContains(t, owners, 2, rule)
		}
	})
}

func TestCOOSplitsLikeCompressed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ptr, np := pointers().Draw(t, "ptr"), rapid.IntRange(1, 40).Draw(t, "parts")
		idx := expand(ptr)
		for _, rule := range rules {
			want, _, err := Split(ptr, np, rule)
			require.NoError(t, err, rule)
			got, _, err := SplitCOO(idx, len(ptr)-1, np, rule)
			require.NoError(t, err, rule)
			require.Equal(t, want, got, rule)
		}
	})
}

func TestMergePathBalancesMajorsAndEntriesTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ptr, np := pointers().Draw(t, "ptr"), rapid.IntRange(1, 40).Draw(t, "parts")
		parts, _, err := Split(ptr, np, RuleMergePath)
		require.NoError(t, err)
		var work []int64
		for _, p := range parts {
			work = append(work, p.NNZ()+int64(p.OwnEnd-p.OwnFirst))
		}
		require.LessOrEqual(t, slices.Max(work)-slices.Min(work), int64(3))
	})
}

func TestSplitByMajorGivesEqualBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ptr, np := pointers().Draw(t, "ptr"), rapid.IntRange(1, 40).Draw(t, "parts")
		parts, _, err := Split(ptr, np, RuleMajor)
		require.NoError(t, err)
		m := len(ptr) - 1
		for i, p := range parts {
			require.Equal(t, i*m/np, p.OwnFirst)
			require.Equal(t, ptr[p.OwnFirst], p.StartIdx)
			require.False(t, p.StartFlag)
		}
	})
}

func TestOneRowOverManyPartsGivesCarriesOnly(t *testing.T) {
	for _, rule := range []Rule{RuleNNZ, RuleMergePath} {
		parts, _, err := Split([]int64{0, 0, 1000, 1000}, 5, rule)
		require.NoError(t, err)
		require.Equal(t, []int{0, 2}, []int{parts[0].OwnFirst, parts[0].OwnEnd})
		for i, p := range parts[1:] {
			require.True(t, p.StartFlag)
			require.Equal(t, 1, p.StartMajor)
			require.Equal(t, 1, p.EndMajor)
			require.Equal(t, i == 3, p.OwnEnd > p.OwnFirst, "only the last part owns row 2")
		}
	}
}

func TestEmptyMatrixHasOneOwnerForEachRow(t *testing.T) {
	for _, rule := range rules {
		parts, _, err := Split(make([]int64, 11), 3, rule)
		require.NoError(t, err, rule)
		require.NoError(t, Verify(parts, make([]int64, 11)), rule)
		parts, _, err = Split([]int64{0}, 3, rule)
		require.NoError(t, err, rule)
		require.Equal(t, 0, parts[2].OwnEnd, rule)
	}
}

func TestEntriesBeyond32BitsAndNearTheLimitSplit(t *testing.T) {
	for _, nnz := range []int64{1<<31 + 5, 1 << 40, math.MaxInt64 - sparse.MaxDim} {
		ptr := []int64{0, 3, nnz - 1, nnz - 1, nnz}
		for _, rule := range rules {
			for _, np := range []int{1, 7, 1000} {
				parts, _, err := Split(ptr, np, rule)
				require.NoError(t, err, rule)
				require.NoError(t, Verify(parts, ptr), rule)
			}
		}
	}
	_, _, err := Split([]int64{0, math.MaxInt64}, 2, RuleMergePath)
	require.True(t, sparse.IsInput(err))
}

// The cuts do not depend on the number of goroutines.
func TestManyPartsAreMadeInParallel(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	ptr := make([]int64, 5001)
	for r := range 5000 {
		ptr[r+1] = ptr[r] + int64(rng.Intn(4)*rng.Intn(4))
	}
	idx := expand(ptr)
	for _, rule := range rules {
		for _, np := range []int{1, partsPerGoroutine, 8*partsPerGoroutine + 3, 20000} {
			parts, _, err := Split(ptr, np, rule)
			require.NoError(t, err, rule)
			require.NoError(t, Verify(parts, ptr), rule)
			coo, _, err := SplitCOO(idx, 5000, np, rule)
			require.NoError(t, err, rule)
			require.Equal(t, parts, coo, rule)
		}
	}
}

func TestAutoTakesTheMergePathForShortRowsOnly(t *testing.T) {
	for _, c := range []struct {
		ptr  []int64
		want Rule
	}{
		{[]int64{0, 5, 9}, RuleNNZ},
		{[]int64{0, 2, 4}, RuleNNZ},
		{[]int64{0, 1, 3}, RuleMergePath},
		{make([]int64, 9), RuleMergePath},
		{[]int64{0}, RuleNNZ},
	} {
		parts, rule, err := Split(c.ptr, 3, RuleAuto)
		require.NoError(t, err)
		require.Equal(t, c.want, rule)
		want, _, err := Split(c.ptr, 3, rule)
		require.NoError(t, err)
		require.Equal(t, want, parts)
		coo, rule, err := SplitCOO(expand(c.ptr), len(c.ptr)-1, 3, RuleAuto)
		require.NoError(t, err)
		require.Equal(t, c.want, rule)
		require.Equal(t, want, coo)
	}
}

func TestMergePathSpreadsEmptyRows(t *testing.T) {
	ptr := make([]int64, 1001) // 1000 rows; only the first ten hold entries
	for r := range ptr {
		ptr[r] = int64(min(r, 10))
	}
	byNNZ, _, err := Split(ptr, 4, RuleNNZ)
	require.NoError(t, err)
	require.Equal(t, 993, byNNZ[3].Majors(), "by entries the last part is left with the empty rows")
	byPath, _, err := Split(ptr, 4, RuleMergePath)
	require.NoError(t, err)
	for _, p := range byPath {
		require.InDelta(t, 250, p.Majors(), 10)
	}
}

func TestImbalanceIsMostOverMean(t *testing.T) {
	require.Equal(t, 1.0, Imbalance(nil))
	parts, _, err := Split([]int64{0, 9, 10, 12}, 3, RuleMajor)
	require.NoError(t, err)
	require.InDelta(t, 9.0/4, Imbalance(parts), 1e-15)
	parts, _, err = Split([]int64{0, 0, 0}, 3, RuleNNZ)
	require.NoError(t, err)
	require.Equal(t, 1.0, Imbalance(parts))
}

func TestSearchesFromBothEndsFindTheSamePlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := pointers().Draw(t, "a")
		x := rapid.Int64Range(-1, a[len(a)-1]+2).Draw(t, "x")
		want, _ := slices.BinarySearch(a, x)
		require.Equal(t, want, searchUp(a, x))
		require.Equal(t, want, searchDown(a, x))
	})
}
