package partition

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCuttingEveryPartOnceMoreIsStillASplitOfTheWholeMatrix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ptr, idx := drawRows(t)
		rule := rapid.SampledFrom([]Rule{RuleNNZ, RuleMergePath, RuleMajor}).Draw(t, "rule")
		parts, _, err := Split(ptr, rapid.IntRange(1, 9).Draw(t, "parts"), rule)
		require.NoError(t, err)
		n := rapid.IntRange(1, 5).Draw(t, "pieces")
		var fine, fineCOO []Part
		for _, p := range parts {
			// Through a window, as a device does it.
			win := p.First()
			sub, err := Within(ptr[win:], p.Shift(win, 0), n)
			require.NoError(t, err)
			lo, hi := int64(1)<<62, int64(0)
			for _, q := range sub {
				fine = append(fine, q.Shift(-win, 0))
				work := q.NNZ() + int64(q.OwnEnd-q.OwnFirst)
				lo, hi = min(lo, work), max(hi, work)
			}
			require.LessOrEqual(t, hi-lo, int64(3), "balance of %+v", sub)
			sub, err = WithinCOO(idx, p, n)
			require.NoError(t, err)
			fineCOO = append(fineCOO, sub...)
		}
		require.NoError(t, Verify(fine, ptr), "%+v", fine)
		require.NoError(t, Verify(fineCOO, ptr), "%+v", fineCOO)
	})
}

func TestWithinRefusesPartsOutsideTheMatrix(t *testing.T) {
	ptr := []int64{0, 1, 2}
	for _, p := range []Part{{OwnFirst: -1, EndIdx: -1}, {OwnFirst: 2, OwnEnd: 1, EndIdx: -1}, {OwnEnd: 3, EndIdx: -1}} {
		_, err := Within(ptr, p, 2)
		require.ErrorContains(t, err, "pointers")
	}
	_, err := Within(ptr, Part{OwnEnd: 2, EndIdx: 1, EndMajor: 1}, 0)
	require.ErrorContains(t, err, "split into 1")
	_, err = WithinCOO([]int32{0, 1}, Part{EndIdx: 2, OwnEnd: 2}, 2)
	require.ErrorContains(t, err, "entries")
}
