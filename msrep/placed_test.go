package msrep

import (
	"context"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/kernels/reference"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// placedSystem has devices on nodes 0, 1, ..., as many on each as perNode says.
// They are tied to the nodes for plans only: the threads run anywhere.
func placedSystem(t require.TestingT, perNode []int, mixed bool) *System {
	s := &System{plans: map[io.Closer]bool{}}
	for node, n := range perNode {
		for range n {
			i := len(s.devices)
			d, err := cpu.Open(cpu.Config{Index: i, Threads: 1 + i%3, NUMANode: node, Grain: 4})
			require.NoError(t, err)
			if mixed && i%2 == 1 {
				s.devices = append(s.devices, discrete{d})
			} else {
				s.devices = append(s.devices, d)
			}
		}
	}
	s.nodes = groupByNode(s.devices)
	return s
}

func checkPlacedProducts[V sparse.Value](t *rapid.T) {
	ctx := context.Background()
	a := randomMatrix[V](t)
	perNode := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 4).Draw(t, "devices per node")
	sys := placedSystem(t, perNode, rapid.Bool().Draw(t, "some discrete"))
	defer func() { require.NoError(t, sys.Close(), "every buffer is freed") }()
	plan, err := NewPlan(ctx, sys, a, PlanOptions{
		Format:   rapid.SampledFrom([]sparse.Format{"", sparse.FormatCSR, sparse.FormatCSC, sparse.FormatCOO}).Draw(t, "format"),
		Strategy: rapid.SampledFrom([]Strategy{Optimized, Partial, Baseline}).Draw(t, "strategy"),
		Split:    rapid.SampledFrom([]partition.Rule{"", partition.RuleNNZ, partition.RuleMergePath, partition.RuleMajor}).Draw(t, "split"),
	})
	require.NoError(t, err)
	rows, cols := a.Dims()
	for range 3 {
		op := Op(rapid.Bool().Draw(t, "transpose"))
		alpha := rapid.SampledFrom([]V{1, -2.5}).Draw(t, "alpha")
		beta := rapid.SampledFrom([]V{0, 1, 0.37}).Draw(t, "beta")
		m, n := rows, cols
		if op == Trans {
			m, n = cols, rows
		}
		x, y := randomVector[V](t, n, "x"), randomVector[V](t, m, "y")
		if beta == 0 {
			for i := range y {
				y[i] = V(math.NaN())
			}
		}
		want := reference.Multiply(bool(op), alpha, a, x, beta, y)
		_, err := plan.SpMV(ctx, op, alpha, x, beta, y)
		require.NoError(t, err)
		bad := reference.Check(y, want)
		require.Equal(t, -1, bad, "%s", describe(y, want, bad))
		if rapid.Bool().Draw(t, "new values") {
			val := randomVector[V](t, int(a.NNZ()), "val")
			a = withValues(a, val)
			require.NoError(t, plan.UpdateValues(ctx, val))
		}
	}
}

func TestPlacedPlansAgreeWithTheReferenceInFloat64(t *testing.T) {
	rapid.Check(t, checkPlacedProducts[float64])
}

func TestPlacedPlansAgreeWithTheReferenceInFloat32(t *testing.T) {
	rapid.Check(t, checkPlacedProducts[float32])
}

// wideMatrix is n x n with 4 entries in each row, and one row of n entries.
func wideMatrix(n int) *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: []int64{0}}
	for r := range n {
		k := 4
		if r == n/3 {
			k = n
		}
		for j := range k {
			c := j
			if k < n {
				c = (r*7 + j*(n/4)) % n
			}
			a.ColIdx = append(a.ColIdx, int32(c))
			a.Val = append(a.Val, 1+float64((r+j)%5))
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
	}
	return a
}

func TestALargeXIsCopiedOncePerNodeAndASmallOneIsNot(t *testing.T) {
	ctx := context.Background()
	for n, copied := range map[int]bool{minCopiedX/8 - 8: false, minCopiedX / 8: true} {
		sys := placedSystem(t, []int{2, 3}, false)
		a := wideMatrix(n)
		plan, err := NewPlan(ctx, sys, a, PlanOptions{})
		require.NoError(t, err)
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = float64(i%11) - 5
		}
		for _, op := range []Op{NoTrans, Trans, NoTrans} {
			want := reference.Multiply(bool(op), 1, a, x, 0, y)
			_, err = plan.SpMV(ctx, op, 1, x, 0, y)
			require.NoError(t, err)
			require.Equal(t, -1, reference.Check(y, want))
			for _, node := range plan.nodes {
				require.Equal(t, copied, node.x.Buf != nil)
			}
			x[0]++ // the copy must follow
		}
		nodes := plan.Nodes()
		require.Len(t, nodes, 2)
		require.Equal(t, []int{2, 3, 4}, nodes[1].Devices)
		require.Equal(t, plan.NNZ(), nodes[0].NNZ+nodes[1].NNZ)
		require.Equal(t, plan.Bytes(), nodes[0].Bytes+nodes[1].Bytes)
		require.Equal(t, plan.Bytes(), inUse(sys), "bytes are counted once")
		require.NoError(t, plan.Close())
		require.Zero(t, inUse(sys))
		require.NoError(t, sys.Close())
	}
}

func inUse(sys *System) (sum int64) {
	for _, d := range sys.devices {
		sum += d.InUse()
	}
	return sum
}

func TestWithoutPlacementThePlanUsesTheMatrixInPlace(t *testing.T) {
	sys, err := Open(Config{Devices: "cpu:3", NUMA: NUMAOff})
	require.NoError(t, err)
	defer sys.Close()
	plan, err := NewPlan(context.Background(), sys, wideMatrix(1000), PlanOptions{})
	require.NoError(t, err)
	require.Empty(t, plan.Nodes())
	require.Equal(t, int64(3*8), plan.Bytes(), "the carries alone")
	p := sys.Placement()
	require.False(t, p.On)
	require.Equal(t, []NodeMemory{{Node: -1, Devices: []int{0, 1, 2}, Bytes: 3 * 8}}, p.Nodes)
}

func TestAMatrixTooLargeForANodeIsUsedInPlace(t *testing.T) {
	ctx := context.Background()
	const n = 1 << 12
	a := wideMatrix(n)
	bytes := int64(12*len(a.Val) + 8*len(a.RowPtr))
	for memory, placed := range map[int64]bool{0: true, 2*bytes*2/3 + 1: true, 2*bytes*2/3 - 1: false} {
		sys := placedSystem(t, nil, false)
		for i, node := range []int{0, 1, 1} { // two thirds of the matrix on node 1
			d, err := cpu.Open(cpu.Config{Index: i, Threads: 1, NUMANode: node, Memory: memory})
			require.NoError(t, err)
			sys.devices = append(sys.devices, d)
		}
		sys.nodes = groupByNode(sys.devices)
		plan, err := NewPlan(ctx, sys, a, PlanOptions{})
		require.NoError(t, err)
		require.Equal(t, placed, len(plan.Nodes()) == 2)
		require.Equal(t, placed, sys.Placement().Refused == "")
		x, y := make([]float64, n), make([]float64, n)
		x[5] = 1
		want := reference.Multiply(false, 1, a, x, 0, y)
		_, err = plan.SpMV(ctx, NoTrans, 1, x, 0, y)
		require.NoError(t, err)
		require.Equal(t, -1, reference.Check(y, want))
		require.NoError(t, sys.Close())
	}
}

// failing is a CPU device whose allocation number at fails.
type failing struct {
	*cpu.Device
	left *int
}

var errInjected = errors.New("injected")

func (f failing) Alloc(bytes int64) (kernels.Buffer, error) {
	if *f.left--; *f.left == 0 {
		return nil, errInjected
	}
	return f.Device.Alloc(bytes)
}
