package cluster

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/cases"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

func TestMain(m *testing.M) { cases.Main(m, "40") }

var ctx = context.Background()

// xorshift is a random number generator that is faster than rapid's draws.
type xorshift uint64

func (s *xorshift) next() uint64 {
	*s ^= *s<<13 | 1
	*s ^= *s >> 7
	*s ^= *s << 17
	return uint64(*s)
}

// randomMatrix draws a matrix of any shape down to 0 x n and n x 0, square half of the time, with empty rows at every
// border, long rows, and duplicate entries.
func randomMatrix[V sparse.Value](t *rapid.T) *sparse.CSR[V] {
	cols := rapid.SampledFrom([]int{0, 1, 2, 3, 7, 40, 300}).Draw(t, "cols")
	lens := rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 1, 2, 3, 9, cols, 3 * cols}), 0, 30).Draw(t, "row lengths")
	if rapid.Bool().Draw(t, "square") {
		cols = len(lens)
	}
	s := xorshift(rapid.Uint64().Draw(t, "seed"))
	a := &sparse.CSR[V]{Rows: len(lens), Cols: cols, RowPtr: []int64{0}, ColIdx: []int32{}, Val: []V{}}
	for _, n := range lens {
		for range n {
			if cols > 0 {
				a.ColIdx = append(a.ColIdx, int32(s.next()%uint64(cols)))
				a.Val = append(a.Val, V(int64(s.next()%2001)-1000)/64)
			}
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
	}
	return a
}

func randomVector[V sparse.Value](n int, seed uint64) []V {
	s := xorshift(seed)
	v := make([]V, n)
	for i := range v {
		v[i] = V(int64(s.next()%2001)-1000) / 512
	}
	return v
}

// each runs f on n ranks of this process, each with one CPU device, and requires that none fails.
func each(t require.TestingT, n int, f func(sys *System) error) {
	onRanks(t, n, msrep.Config{Devices: "cpu", Threads: 1}, f)
}

// onRanks is each with given devices.
func onRanks(t require.TestingT, n int, c msrep.Config, f func(sys *System) error) {
	for r, err := range Run(n, func(comm Comm) error { return withDevices(comm, c, f) }) {
		require.NoError(t, err, "rank %d of %d", r, n)
	}
}

func withSystem(c Comm, f func(sys *System) error) error {
	return withDevices(c, msrep.Config{Devices: "cpu", Threads: 1}, f)
}

func withDevices(c Comm, config msrep.Config, f func(sys *System) error) error {
	sys, err := Open(c, config)
	if err != nil {
		return err
	}
	defer sys.Close()
	return f(sys)
}

// planOf returns a plan for a rank's piece of a, and the cuts of x and y for products with op.
func planOf[V sparse.Value](sys *System, a *sparse.CSR[V], opt msrep.PlanOptions, align Align, op msrep.Transpose) (p *Plan[V], xCut, yCut []int, err error) {
	m, err := Slice(sys.Comm(), a, align)
	if err != nil {
		return nil, nil, nil, err
	}
	xCut, yCut = m.ColCut, m.RowCut
	if op == msrep.Trans {
		xCut, yCut = yCut, xCut
	}
	p, err = NewPlan(ctx, sys, m, opt)
	return p, xCut, yCut, err
}

// multiplied returns op(A)*x over n ranks as one vector, and the bytes and messages that each rank sent.
func multiplied[V sparse.Value](t require.TestingT, n int, a *sparse.CSR[V], opt msrep.PlanOptions, align Align, op msrep.Transpose, alpha V, x []V, beta V, y []V) (got []V, sent, counts []int64) {
	sent, counts = make([]int64, n), make([]int64, n)
	each(t, n, func(sys *System) error {
		p, xCut, yCut, err := planOf(sys, a, opt, align, op)
		if err != nil {
			return err
		}
		defer p.Close()
		r := sys.Comm().Rank()
		piece := append([]V(nil), y[yCut[r]:yCut[r+1]]...)
		if err := p.SpMV(ctx, op, alpha, x[xCut[r]:xCut[r+1]], beta, piece); err != nil {
			return err
		}
		sent[r], counts[r] = p.Sent()
		whole, err := Gather(sys.Comm(), piece)
		if r == 0 {
			got = whole
		}
		return err
	})
	return got, sent, counts
}
