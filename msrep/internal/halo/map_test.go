package halo

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawCuts returns the bounds of the pieces of a vector with n elements on some devices.
func drawCuts(t *rapid.T, n, devices int) []int {
	cuts := []int{0}
	for range devices - 1 {
		cuts = append(cuts, rapid.IntRange(0, n).Draw(t, "cut"))
	}
	slices.Sort(cuts)
	return append(cuts, n)
}

// drawIndices returns indices in [0, n): of a range, of few or of all elements.
func drawIndices(t *rapid.T, n int) []int32 {
	lo := rapid.IntRange(0, n-1).Draw(t, "lo")
	index := rapid.Int32Range(int32(lo), int32(rapid.IntRange(lo, n-1).Draw(t, "hi")))
	return rapid.SliceOfN(index, 0, rapid.SampledFrom([]int{3, 40, 3 * n}).Draw(t, "most")).Draw(t, "idx")
}

// fill returns the local elements that runs bring from a vector with the elements 0, 1, ...; -1 stands for others.
func fill(t require.TestingT, m *Map, runs []Run, cuts []int) []int {
	local := slices.Repeat([]int{-1}, int(m.N))
	for _, r := range runs {
		for k := range r.N {
			at := r.At + k
			if r.Idx != nil {
				at = int(r.Idx[k])
			}
			require.Less(t, at, cuts[r.From+1]-cuts[r.From], "in the piece")
			require.Equal(t, -1, local[r.Local+int64(k)], "once")
			local[r.Local+int64(k)] = cuts[r.From] + at
		}
	}
	return local
}

func TestEveryIndexGetsItsElementFromAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 5, 70, 300}).Draw(t, "n")
		devices := rapid.IntRange(1, 5).Draw(t, "devices")
		cuts, owner := drawCuts(t, n, devices), rapid.IntRange(0, devices-1).Draw(t, "owner")
		idx := drawIndices(t, n)
		m, err := New(idx, n, cuts, owner)
		require.NoError(t, err)
		local, err := m.Renumber(idx)
		require.NoError(t, err)
		own := int64(cuts[owner+1] - cuts[owner])
		require.Zero(t, m.Before%aligned)
		require.LessOrEqual(t, m.Before+own, m.N)
		require.LessOrEqual(t, m.N, int64(n+aligned))
		for _, pieces := range [][]int{cuts, drawCuts(t, n, rapid.IntRange(1, 4).Draw(t, "other devices"))} {
			elements := fill(t, m, m.Runs(pieces), pieces)
			for k, j := range idx {
				require.EqualValues(t, j, elements[local[k]])
				require.EqualValues(t, m.Local(int(j)), local[k])
			}
			require.True(t, slices.IsSorted(slices.DeleteFunc(elements, func(j int) bool { return j < 0 })), "the order stays")
		}
		for j := cuts[owner]; j < cuts[owner+1]; j++ {
			require.EqualValues(t, m.Before+int64(j-cuts[owner]), m.Local(j), "the own piece is one stretch")
		}
		elements := fill(t, m, m.FromHost(), []int{0, n})
		for k, j := range idx {
			require.EqualValues(t, j, elements[local[k]])
		}
	})
}

func TestARangeIsOneStretchBesideTheOwnPiece(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, devices := rapid.IntRange(1, 200).Draw(t, "n"), rapid.IntRange(1, 5).Draw(t, "devices")
		cuts, owner := drawCuts(t, n, devices), rapid.IntRange(0, devices-1).Draw(t, "owner")
		lo := rapid.IntRange(0, n).Draw(t, "lo")
		hi := rapid.IntRange(lo, n).Draw(t, "hi")
		m := Range(lo, hi, cuts, owner)
		elements := fill(t, m, m.Runs(cuts), cuts)
		for j := lo; j < hi; j++ {
			require.Equal(t, j, elements[m.Local(j)])
			require.Equal(t, m.Local(lo)+int64(j-lo), m.Local(j))
		}
		require.Equal(t, hi-lo, len(slices.DeleteFunc(elements, func(j int) bool { return j < 0 })), "nothing else is copied")
	})
}

func TestFewElementsAreListedAndManyAreOneStretch(t *testing.T) {
	cuts := []int{0, 1000, 2000, 3000, 4000}
	var idx []int32
	for k := range int32(100) {
		idx = append(idx, 10*k, 2000+2*k, 3990) // few of piece 0; many of piece 2; one of piece 3
	}
	m, err := New(idx, 4000, cuts, 1)
	require.NoError(t, err)
	runs := m.Runs(cuts)
	require.Equal(t, Run{From: 2, At: 0, N: 199, Local: m.Before + 1000}, runs[0])
	require.Equal(t, Run{From: 3, At: 990, N: 1, Local: m.Before + 1199}, runs[1])
	require.Len(t, runs[2].Idx, 100)
	require.Equal(t, 0, runs[2].From)
	require.Len(t, runs, 3, "no element of the own piece is needed")
	require.EqualValues(t, 28+100, m.Before)
	require.EqualValues(t, 128+1000+199+1, m.N)
}

func TestNoTwoDevicesReadTheSamePieceInTheSameStep(t *testing.T) {
	cuts := []int{0, 10, 20, 30, 40, 50}
	var all []int32
	for j := range int32(50) {
		all = append(all, j)
	}
	for step := range 5 {
		read := map[int]bool{}
		for owner := range 5 {
			m, err := New(all, 50, cuts, owner)
			require.NoError(t, err)
			from := m.Runs(cuts)[step].From
			require.False(t, read[from])
			read[from] = true
			require.Equal(t, step == 4, from == owner, "the own piece is last")
		}
	}
}

func TestAnIndexOutsideOfTheVectorIsAnError(t *testing.T) {
	for _, j := range []int32{-1, 4} {
		_, err := New([]int32{0, j}, 4, []int{0, 2, 4}, 0)
		require.ErrorIs(t, err, ErrIndex)
		require.ErrorContains(t, err, "not in [0, 4)")
	}
}
