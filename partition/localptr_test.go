package partition

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
)

// naiveLocal returns the local pointers of a part, counted major by major.
func naiveLocal[I int32 | int64](idx []int32, p Part) []I {
	ptr := make([]I, p.Majors()+1)
	for k := p.StartIdx; k <= p.EndIdx; k++ {
		ptr[int(idx[k])-p.First()+1]++
	}
	for j := range p.Majors() {
		ptr[j+1] += ptr[j]
	}
	return ptr
}

func TestLocalPointersCountThePartsEntries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ptr, np := pointers().Draw(t, "ptr"), rapid.IntRange(1, 20).Draw(t, "parts")
		idx := expand(ptr)
		for _, rule := range rules {
			parts, _, err := Split(ptr, np, rule)
			require.NoError(t, err, rule)
			for _, p := range parts {
				wide := make([]int64, p.Majors()+1)
				require.NoError(t, LocalPtr(wide, ptr, p))
				require.Equal(t, naiveLocal[int64](idx, p), wide, rule)
				narrow := make([]int32, p.Majors()+1)
				require.NoError(t, LocalPtr(narrow, ptr, p))
				require.Equal(t, naiveLocal[int32](idx, p), narrow, rule)
			}
		}
	})
}

// The matrix is large enough for several goroutines.
func TestLocalPointersOfManyRowsAreRight(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	ptr := make([]int64, 200_001)
	for r := range 200_000 {
		ptr[r+1] = ptr[r] + int64(rng.Intn(3)*rng.Intn(3))
	}
	idx := expand(ptr)
	parts, _, err := Split(ptr, 2, RuleNNZ)
	require.NoError(t, err)
	for _, p := range parts {
		got := make([]int64, p.Majors()+1)
		require.NoError(t, LocalPtr(got, ptr, p))
		require.Equal(t, naiveLocal[int64](idx, p), got)
	}
}

func TestPartsOwnTheirPointersWhereTheseAreLocal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ptr, np := pointers().Draw(t, "ptr"), rapid.IntRange(1, 20).Draw(t, "parts")
		parts, _, err := Split(ptr, np, rapid.SampledFrom(rules).Draw(t, "rule"))
		require.NoError(t, err)
		for _, p := range parts {
			want := make([]int64, p.Majors()+1)
			require.NoError(t, LocalPtr(want, ptr, p))
			window := ptr[p.First() : p.End()+1]
			require.Equal(t, slices.Equal(want, window), IsLocal(ptr, p))
			got, err := OwnPtr(ptr, p)
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.Equal(t, IsLocal(ptr, p), &window[0] == &got[0], "no copy is made then")
		}
	})
	wrong := Part{EndIdx: 3, OwnEnd: 9}
	require.False(t, IsLocal([]int64{0, 2, 4}, wrong))
	_, err := OwnPtr([]int64{0, 2, 4}, wrong)
	require.True(t, sparse.IsInput(err))
}

func TestLocalPointersThatDoNotFitAreRefused(t *testing.T) {
	ptr := []int64{0, 1 << 31, 5 << 30}
	parts, _, err := Split(ptr, 1, RuleNNZ)
	require.NoError(t, err)
	err = LocalPtr(make([]int32, 3), ptr, parts[0])
	require.True(t, sparse.IsInput(err))
	require.ErrorContains(t, err, "do not fit into 32 bits")
	wide := make([]int64, 3)
	require.NoError(t, LocalPtr(wide, ptr, parts[0]))
	require.Equal(t, ptr, wide)

	// Smaller parts fit, though they lie beyond the first 2^31 entries.
	parts, _, err = Split(ptr, 4, RuleNNZ)
	require.NoError(t, err)
	narrow := make([]int32, 2)
	require.NoError(t, LocalPtr(narrow, ptr, parts[3]))
	require.Equal(t, []int32{0, 5 << 28}, narrow)
}

func TestLocalPointersCheckTheirArguments(t *testing.T) {
	ptr := []int64{0, 2, 4}
	good := Part{EndIdx: 3, EndMajor: 1, OwnEnd: 2}
	require.NoError(t, LocalPtr(make([]int64, 3), ptr, good))
	for name, p := range map[string]Part{
		"rows beyond the end":   {EndIdx: 3, OwnEnd: 3},
		"rows before the start": {EndIdx: 3, OwnFirst: -1, OwnEnd: 1},
		"fewer than no rows":    {EndIdx: 3, OwnFirst: 2, OwnEnd: 0},
		"fewer than no entries": {StartIdx: 9, EndIdx: 3, OwnEnd: 2},
	} {
		require.True(t, sparse.IsInput(LocalPtr(make([]int64, 3), ptr, p)), name)
	}
	require.ErrorContains(t, LocalPtr(make([]int64, 2), ptr, good), "room for 2: a part of 2 rows has 3")
	require.True(t, sparse.IsInput(LocalPtr[int64](nil, nil, Part{})))
}
