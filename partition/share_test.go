package partition

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
)

// twoLevel splits among nodes with these numbers of devices, then among the devices of
// each node.
func twoLevel(t require.TestingT, whole Part, perNode []int, share func(Part, []int) ([]Part, error)) (parts []Part) {
	nodes, err := share(whole, perNode)
	require.NoError(t, err)
	require.Len(t, nodes, len(perNode))
	for g, node := range nodes {
		if perNode[g] == 0 {
			require.True(t, node.Empty(), "a node without devices gets nothing")
			require.Equal(t, node.OwnFirst, node.OwnEnd)
			continue
		}
		ones := make([]int, perNode[g])
		for i := range ones {
			ones[i] = 1
		}
		inner, err := share(node, ones)
		require.NoError(t, err)
		parts = append(parts, inner...)
	}
	return parts
}

func TestTheTwoLevelSplitKeepsTheInvariantsAndTheBalanceOfOneLevel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ptr, idx := drawRows(t)
		perNode := rapid.SliceOfN(rapid.IntRange(0, 6), 1, 6).Draw(t, "devices per node")
		perNode[rapid.IntRange(0, len(perNode)-1).Draw(t, "node")]++
		devices := 0
		for _, n := range perNode {
			devices += n
		}
		rule := rapid.SampledFrom([]Rule{RuleNNZ, RuleMergePath, RuleMajor, RuleWhole}).Draw(t, "rule")
		one, _, err := Split(ptr, 1, rule)
		require.NoError(t, err)

		parts := twoLevel(t, one[0], perNode, func(p Part, w []int) ([]Part, error) { return SplitWeighted(ptr, p, w, rule) })
		require.Len(t, parts, devices)
		require.NoError(t, Verify(parts, ptr), "%+v", parts)
		if rule == RuleWhole { // not for COO
			for _, p := range parts {
				require.False(t, p.StartFlag)
				require.LessOrEqual(t, p.NNZ(), ptr[len(ptr)-1]/int64(devices)+1+2*50, "%+v", parts)
			}
			return
		}
		coo := twoLevel(t, one[0], perNode, func(p Part, w []int) ([]Part, error) { return SplitWeightedCOO(idx, p, w, rule) })
		require.Equal(t, parts, coo, "the same cuts without pointers")

		nnz := ptr[len(ptr)-1]
		switch rule {
		case RuleNNZ:
			for _, p := range parts {
				require.LessOrEqual(t, p.NNZ(), (nnz+int64(devices)-1)/int64(devices), "%+v", parts)
			}
			if nnz > 0 {
				require.LessOrEqual(t, Imbalance(parts), 1+float64(devices)/float64(nnz)+1e-12)
			}
			flat, _, err := Split(ptr, devices, RuleNNZ)
			require.NoError(t, err)
			if nnz%int64(devices) == 0 {
				require.Equal(t, flat, parts, "the cuts of one level")
			}
		case RuleMergePath:
			most := (nnz+int64(len(ptr)-1)+int64(devices)-1)/int64(devices) + 3
			for _, p := range parts {
				require.LessOrEqual(t, p.NNZ()+int64(p.OwnEnd-p.OwnFirst), most, "%+v", parts)
			}
		case RuleMajor:
			for _, p := range parts {
				require.False(t, p.StartFlag)
			}
		}
	})
}

func TestShareCutsAPartThatBeginsInsideARow(t *testing.T) {
	ptr := []int64{0, 10, 10, 12} // the part holds entries 4 to 11: the rest of row 0, and rows 1 and 2
	p := Part{StartIdx: 4, EndIdx: 11, EndMajor: 2, StartFlag: true, OwnFirst: 1, OwnEnd: 3}
	parts, err := SplitWeighted(ptr, p, []int{3, 0, 1}, RuleNNZ)
	require.NoError(t, err)
	require.Equal(t, []Part{
		{StartIdx: 4, EndIdx: 9, StartFlag: true, OwnFirst: 1, OwnEnd: 1},
		{StartIdx: 10, EndIdx: 9, StartMajor: 1, OwnFirst: 1, OwnEnd: 1},
		{StartIdx: 10, EndIdx: 11, StartMajor: 2, EndMajor: 2, OwnFirst: 1, OwnEnd: 3},
	}, parts)
}

func TestShareRefusesWrongWeightsRulesAndParts(t *testing.T) {
	ptr, idx := []int64{0, 1, 2}, []int32{0, 1}
	whole := Part{EndIdx: 1, EndMajor: 1, OwnEnd: 2}
	for want, call := range map[string]struct {
		p       Part
		weights []int
		rule    Rule
	}{
		"none may be negative": {whole, []int{1, -1}, RuleNNZ},
		"sum at most":          {whole, []int{MaxParts, 1}, RuleNNZ},
		"their sum is 0":       {whole, []int{0}, RuleMajor},
		"is not known":         {whole, []int{1}, "half"},
		"auto stands for one":  {whole, []int{1}, RuleAuto},
		"it ":                  {Part{OwnEnd: 3, EndIdx: 2}, []int{1}, RuleNNZ},
	} {
		_, err := SplitWeighted(ptr, call.p, call.weights, call.rule)
		require.ErrorContains(t, err, want)
		_, err = SplitWeightedCOO(idx, call.p, call.weights, call.rule)
		require.ErrorContains(t, err, want)
	}
}

// For any part, splitting it again returns an error or parts that are within the matrix,
// in order.
func TestArbitraryPartsAreRefusedOrCutInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ptr, idx := drawRows(t)
		near := rapid.IntRange(-2, 12)
		number := rapid.OneOf(near, near, near, rapid.IntRange(math.MaxInt-2, math.MaxInt), rapid.IntRange(math.MinInt, math.MinInt+2))
		p := Part{
			StartIdx: int64(number.Draw(t, "StartIdx")), EndIdx: int64(number.Draw(t, "EndIdx")),
			OwnFirst: number.Draw(t, "OwnFirst"), OwnEnd: number.Draw(t, "OwnEnd"),
		}
		weights := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 4).Draw(t, "weights")
		check := func(parts []Part, err error) {
			if err != nil {
				require.True(t, sparse.IsInput(err))
				require.Nil(t, parts)
				return
			}
			at, own := p.StartIdx, p.OwnFirst
			require.GreaterOrEqual(t, at, int64(0))
			require.Less(t, p.EndIdx, ptr[len(ptr)-1])
			for _, q := range parts {
				require.Equal(t, at, q.StartIdx)
				require.Equal(t, own, q.OwnFirst)
				at, own = q.EndIdx+1, q.OwnEnd
				require.GreaterOrEqual(t, at, q.StartIdx)
				require.GreaterOrEqual(t, own, q.OwnFirst)
			}
			require.Equal(t, p.EndIdx+1, at)
			require.Equal(t, p.OwnEnd, own)
		}
		for _, rule := range []Rule{RuleNNZ, RuleMergePath, RuleMajor, RuleWhole} {
			check(SplitWeighted(ptr, p, weights, rule))
			check(SplitWeightedCOO(idx, p, weights, rule))
		}
	})
}
