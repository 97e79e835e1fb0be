package msrep

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/msrep/internal/placement"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// placedSystem returns a System with perNode[i] devices on node i. Only plans use these nodes: the threads run on any
// CPU.
func placedSystem(t require.TestingT, perNode []int, separate bool) *System {
	s := newSystem()
	for node, n := range perNode {
		for range n {
			i := len(s.devices().List)
			d, err := cpu.Open(cpu.Config{Index: i, Threads: 1 + i%3, NUMANode: node, Grain: 4})
			require.NoError(t, err)
			s.devices().List = append(s.devices().List, asDiscrete(d, separate))
		}
	}
	s.place(&numa.Topology{})
	return s
}

// readXFrom makes major products read x from there if the devices use host memory.
func readXFrom[V sparse.Value](plan *Plan[V], x XPlacement) {
	if r, ok := plan.route.(*shared[V]); ok {
		r.x = x
	}
}

func checkPlacedProducts[V sparse.Value](t *rapid.T) {
	a := randomMatrix[V](t)
	perNode := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 4).Draw(t, "devices per node")
	sys := placedSystem(t, perNode, rapid.Bool().Draw(t, "discrete"))
	defer func() { require.NoError(t, sys.Close(), "every buffer is freed") }()
	opt := PlanOptions{
		Storage: Storage{Format: rapid.SampledFrom([]sparse.Format{"", sparse.FormatCSR, sparse.FormatCSC, sparse.FormatCOO}).Draw(t, "format")},
		Variant: Variant{Strategy: rapid.SampledFrom([]Strategy{Optimized, Partial, Baseline}).Draw(t, "strategy"), Split: rapid.SampledFrom([]partition.Rule{"", partition.RuleNNZ, partition.RuleMergePath, partition.RuleMajor}).Draw(t, "split")},
	}
	if rapid.IntRange(0, 4).Draw(t, "deterministic") == 0 {
		opt = PlanOptions{Deterministic: true}
	}
	plan := planOf(t, sys, a, opt)
	require.Equal(t, opt.Variant.Strategy != Baseline, len(plan.Nodes()) == len(perNode))
	readXFrom(plan, rapid.SampledFrom([]XPlacement{XInPlace, XReplicated, XInterleaved}).Draw(t, "x"))
	for range 3 {
		alpha := rapid.SampledFrom([]V{1, -2.5}).Draw(t, "alpha")
		checkRandomProduct(t, plan, a, alpha, rapid.SampledFrom([]V{0, 1, 0.37}).Draw(t, "beta"))
		a = maybeUpdateValues(t, plan, a)
	}
}

func TestPlacedPlansAgreeWithTheReferenceInFloat64(t *testing.T) {
	rapid.Check(t, checkPlacedProducts[float64])
}

func TestPlacedPlansAgreeWithTheReferenceInFloat32(t *testing.T) {
	rapid.Check(t, checkPlacedProducts[float32])
}

// wideMatrix returns an n x n matrix with 4 entries in each row, except one row of n entries.
func wideMatrix(n int) *sparse.CSR[float64] { return spreadMatrix(n, 4) }

func TestDeterministicPlansGiveTheSameBitsWhenPlaced(t *testing.T) {
	placed := placedSystem(t, []int{2, 1, 3}, true)
	defer func() { require.NoError(t, placed.Close()) }()
	systems := []*System{openCPU(t, "cpu:1"), placed}
	r := rand.New(rand.NewPCG(7, 1))
	for _, op := range []Transpose{NoTrans, Trans} {
		for range 5 {
			checkFixed[float64](t, systems, op, wideMatrix(5000), r, false)
		}
	}
}

// spreadMatrix returns an n x n matrix with inRow entries in each row, except one row of n entries.
func spreadMatrix(n, inRow int) *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: []int64{0}}
	for r := range n {
		k := inRow
		if r == n/3 {
			k = n
		}
		for j := range k {
			c := j
			if k < n {
				c = (r*7 + j*(n/inRow)) % n
			}
			a.ColIdx = append(a.ColIdx, int32(c))
			a.Val = append(a.Val, 1+float64((r+j)%5))
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
	}
	return a
}

func chosenX(sys *System, n, inRow int) XPlacement {
	return sys.nodes.ChooseX(int64(n), 8, int64(n)*int64(inRow))
}

func TestProductsFollowTheXPlacement(t *testing.T) {
	const n = placement.MinCopied / 8
	for _, c := range []struct {
		perNode []int
		inRow   int
		want    XPlacement
	}{
		{[]int{2, 3}, 4, XInPlace},
		{[]int{2, 3}, 8, XReplicated},
		{[]int{2, 1, 1, 1}, 4, XInterleaved},
	} {
		sys := placedSystem(t, c.perNode, false)
		a := spreadMatrix(n, c.inRow)
		plan := planOf(t, sys, a, PlanOptions{})
		require.Equal(t, c.want, plan.XPlacement(NoTrans))
		require.Equal(t, XInPlace, plan.XPlacement(Trans), "minor products read each element once")
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = float64(i%11) - 5
		}
		for _, op := range []Transpose{NoTrans, Trans, NoTrans} {
			want := reference.Multiply(bool(op), 1, a, x, 0, y)
			multiply(t, plan, op, 1, x, 0, y)
			require.Equal(t, -1, reference.Check(y, want))
			copies := map[XPlacement]int{XReplicated: len(c.perNode), XInterleaved: 1}
			require.Len(t, plan.route.(*shared[float64]).copies, copies[c.want])
			require.Equal(t, c.want == XInterleaved, plan.interleaved() != nil)
			x[0]++ // the copy of x must be updated
		}
		nodes := plan.Nodes()
		require.Len(t, nodes, len(c.perNode))
		held, nnz := int64(0), int64(0)
		for i, n := range nodes {
			require.Len(t, n.Devices, c.perNode[i])
			require.Equal(t, sys.Placement().Nodes[i].Bytes-scratchOf(sys, n), n.Bytes)
			held, nnz = held+n.Bytes, nnz+n.NNZ
		}
		require.Equal(t, plan.NNZ(), nnz)
		require.Equal(t, plan.Bytes(), held)
		require.Equal(t, plan.Bytes(), inUse(sys), "bytes are counted once")
		require.NoError(t, plan.Close())
		require.Zero(t, inUse(sys))
		require.NoError(t, sys.Close())
	}
}

// scratchOf returns the memory of the workers of the devices of a node, which belongs to no plan.
func scratchOf(sys *System, n PlanNode) (sum int64) {
	for _, i := range n.Devices {
		sum += sys.devices().List[i].(*cpu.Device).Scratch()
	}
	return sum
}

func TestPlansThatAreNotPlacedReadXInPlaceOrOnTheDevice(t *testing.T) {
	sys := openCPU(t, "cpu:2")
	for strategy, want := range map[Strategy]XPlacement{Optimized: XInPlace, Partial: XReplicated, Baseline: XReplicated} {
		plan := planOf(t, sys, wideMatrix(100), PlanOptions{Variant: Variant{Strategy: strategy}})
		require.Equal(t, want, plan.XPlacement(NoTrans))
	}
	plan := planOf(t, sys, wideMatrix(100), PlanOptions{Expected: Expected{Transposed: 5}})
	require.Equal(t, XInPlace, plan.XPlacement(Trans))
}

func inUse(sys *System) (sum int64) {
	for _, d := range sys.devices().List {
		sum += d.InUse()
	}
	return sum
}

func TestWithoutPlacementThePlanUsesTheMatrixInPlace(t *testing.T) {
	sys := open(t, Config{Devices: "cpu:3", NUMA: NUMAOff})
	plan := planOf(t, sys, wideMatrix(1000), PlanOptions{})
	require.Empty(t, plan.Nodes())
	require.Equal(t, int64(3*8), plan.Bytes(), "only the carries")
	p := sys.Placement()
	require.False(t, p.On)
	require.Equal(t, []NodeMemory{{Node: -1, Devices: []int{0, 1, 2}, Bytes: 3 * 8}}, p.Nodes)
}

func TestAMatrixTooLargeForANodeIsUsedInPlace(t *testing.T) {
	const n = 1 << 12
	a := wideMatrix(n)
	bytes := int64(12*len(a.Val) + 8*len(a.RowPtr))
	for memory, placed := range map[int64]bool{0: true, 2*bytes*2/3 + 1: true, 2*bytes*2/3 - 1: false} {
		sys := placedSystem(t, nil, false)
		for i, node := range []int{0, 1, 1} { // two thirds of the matrix on node 1
			d, err := cpu.Open(cpu.Config{Index: i, Threads: 1, NUMANode: node, Memory: memory})
			require.NoError(t, err)
			sys.devices().List = append(sys.devices().List, d)
		}
		sys.place(&numa.Topology{})
		plan := planOf(t, sys, a, PlanOptions{})
		require.Equal(t, placed, len(plan.Nodes()) == 2)
		require.Equal(t, placed, sys.Placement().Refused == "")
		x, y := make([]float64, n), make([]float64, n)
		x[5] = 1
		want := reference.Multiply(false, 1, a, x, 0, y)
		multiply(t, plan, NoTrans, 1, x, 0, y)
		require.Equal(t, -1, reference.Check(y, want))
		require.NoError(t, sys.Close())
	}
}
