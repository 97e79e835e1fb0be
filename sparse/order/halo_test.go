package order

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
)

func TestHaloCountsEachElementThatAPartLacksOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawMatrix(t, 12, true)
		p := rapid.Permutation(sequence(a.Rows)).Draw(t, "p")
		cuts := []int{0}
		for cuts[len(cuts)-1] < a.Rows {
			cuts = append(cuts, rapid.IntRange(cuts[len(cuts)-1], a.Rows).Draw(t, "cut"))
		}
		type pair struct {
			part int
			j    int32
		}
		part, need := map[int32]int{}, map[pair]bool{}
		want := HaloSize{Received: make([]int64, len(cuts)-1), Sent: make([]int64, len(cuts)-1)}
		for k := range len(cuts) - 1 {
			for _, i := range p[cuts[k]:cuts[k+1]] {
				part[i] = k
			}
		}
		for i := range int32(a.Rows) {
			for _, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
				if x := (pair{part[i], j}); part[j] != part[i] && !need[x] {
					need[x] = true
					want.Received[part[i]]++
					want.Sent[part[j]]++
				}
			}
		}
		want.Total = int64(len(need))
		for _, n := range want.Received {
			want.Largest = max(want.Largest, n)
		}
		got, err := Halo(a, p, cuts)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestHaloRefusesWhatAreNoParts(t *testing.T) {
	a := matrix("1.", ".1")
	for _, cuts := range [][]int{nil, {0}, {0, 1}, {1, 2}, {0, 2, 1, 2}, {0, 3}} {
		_, err := Halo(a, nil, cuts)
		require.EqualError(t, err, "cuts: must ascend from 0 to 2, the number of rows")
		require.True(t, sparse.IsInput(err))
	}
	_, err := Halo(a, []int32{0, 0}, []int{0, 2})
	require.True(t, sparse.IsInput(err))
}
