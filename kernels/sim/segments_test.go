package sim_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/ptx"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

func TestPartsInSegmentsMultiplyVectorsInSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segments := rapid.SampledFrom([]int{2, 4}).Draw(t, "segments")
		form := rapid.SampledFrom([]kernels.Form{"csr", "ell", "pellr"}).Draw(t, "form")
		devicetest.SegmentProperty(t, fresh(sim.Config{}), form, rapid.IntRange(0, segments).Draw(t, "values"), segments)
	})
}

func TestOperationsOnSegmentsFollowTheirFormulas(t *testing.T) {
	devicetest.SegmentOps(t, fresh(sim.Config{}))
}

func TestSumsAreWholeWhereADeviceTakesFewerBlocks(t *testing.T) {
	blocks := int64(0)
	d, s := open(t, sim.Config{Blocks: 1, Trace: func(_ string, c ptx.Counters) { blocks = max(blocks, c.Blocks) }})
	out := upload(t, s, d, []float64{math.NaN()})
	v := kernels.SegmentVector{Val: upload(t, s, d, slices.Repeat([]float64{0.5}, 1000))}
	require.NoError(t, s.Launch(&kernels.SumSegments{P: v, Count: 1000, Sum: out}))
	require.Equal(t, 500.0, download(t, s, out)[0])
	require.Equal(t, int64(1), blocks)
}

func TestAJoinedPartWithALongRowGoesByMergePath(t *testing.T) {
	for _, n := range []int{50, 5000} {
		a := &sparse.CSR[float64]{Rows: 2, Cols: 1, RowPtr: []int64{0, 1, int64(n)}, ColIdx: make([]int32, n), Val: slices.Repeat([]float64{1}, n)}
		parts, _, err := partition.Split(a.RowPtr, 1, partition.RuleNNZ)
		require.NoError(t, err)
		var ran []string
		d, s := open(t, sim.Config{Trace: func(name string, _ ptx.Counters) { ran = append(ran, name) }})
		packing := (&devicetest.Problem[float64]{A: a}).Packing(parts[0], "csr")
		packing.Segments = kernels.Segments{Count: 2, Read: 2}
		packed, err := d.Pack(packing)
		require.NoError(t, err)
		x, y := upload(t, s, d, []float64{2}), upload(t, s, d, make([]float64, 2))
		require.NoError(t, s.Launch(&kernels.JoinSegments{A: packed}))
		require.NoError(t, s.Launch(&kernels.MajorProductSegments{A: packed, Alpha: 1, X: kernels.SegmentVector{Val: x}, Y: kernels.SegmentVector{Val: y}}))
		require.Equal(t, []float64{2, 2 * float64(n-1)}, download(t, s, y))
		require.Equal(t, n > 4096, slices.Contains(ran, "msrep_major_merge_f64"), "%v", ran)
	}
}

func TestOperationsOnSegmentsRefuseWhatDoesNotFit(t *testing.T) {
	d, s := open(t, sim.Config{})
	v := upload(t, s, d, make([]float64, 4))
	one := upload(t, s, d, make([]float64, 1))
	whole := kernels.SegmentVector{Val: v, Of: 2, Read: 1}
	a := &sparse.CSR[float64]{Rows: 4, Cols: 4, RowPtr: make([]int64, 5)}
	parts, _, err := partition.Split(a.RowPtr, 1, partition.RuleNNZ)
	require.NoError(t, err)
	packing := (&devicetest.Problem[float64]{A: a}).Packing(parts[0], "csr")
	plain, err := d.Pack(packing)
	require.NoError(t, err)
	packing.Segments = kernels.Segments{Count: 2}
	ones, err := d.Pack(packing)
	require.NoError(t, err)
	for _, op := range []kernels.Operation{
		&kernels.MajorProductSegments{A: plain, X: whole, Y: whole},
		&kernels.MajorProductSegments{A: ones, Read: 1, X: whole, Y: whole},
		&kernels.MajorProductSegments{A: ones, X: kernels.SegmentVector{Val: v, Of: 4, Read: 1}, Y: whole},
		&kernels.MajorProductSegments{A: ones, X: kernels.SegmentVector{Val: one}, Y: whole},
		&kernels.JoinSegments{A: ones}, &kernels.JoinSegments{A: plain},
		&kernels.RankSegments{Sums: v, Cur: whole, Next: whole, First: 1, Diff: one},
		&kernels.RankSegments{Sums: v, Cur: whole, Next: whole, Diff: v},
		&kernels.SumSegments{P: whole, First: 3, Count: 2, Sum: one},
		&kernels.SumSegments{P: kernels.SegmentVector{Val: v, Of: 2, Read: 3}, Count: 4, Sum: one},
		&kernels.DivideSegments{P: kernels.SegmentVector{Val: v, Of: 0, Read: 1}, By: 1},
	} {
		require.ErrorIs(t, s.Launch(op), kernels.ErrArgument, "%T", op)
	}
	for _, p := range []kernels.Segments{{Count: 3, Read: 1}, {Count: 2, Read: 3}, {Count: 2, Read: -1}} {
		packing.Segments = p
		_, err := d.Pack(packing)
		require.True(t, sparse.IsInput(err), "%+v: %v", p, err)
	}
}
