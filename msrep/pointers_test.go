package msrep

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

func TestDevicesMakeThePointersOfTheirParts(t *testing.T) {
	a := bands(300)
	x, y := sines(a.Cols), make([]float64, a.Rows)
	for _, format := range []sparse.Format{sparse.FormatCSR, sparse.FormatCSC} {
		for _, strategy := range []Strategy{Optimized, Partial, Baseline} {
			for devices, others := range map[string]int{"sim:1": 0, "sim:3": 3} {
				var recorded eventLog
				sys := open(t, Config{Devices: devices, Trace: recorded.record})
				plan := planOf[float64](t, sys, a, PlanOptions{Storage: Storage{Format: format}, Variant: Variant{Strategy: strategy, Split: partition.RuleNNZ}})
				require.Equal(t, plan.Bytes(), inUse(sys), "the pointers of the matrix were freed")
				var made []string
				for _, s := range plan.shares {
					require.Equal(t, int64(s.part.Majors())+1, s.ptr.Len)
					for _, name := range recorded.names(s.dev.Info().ID) {
						if name == "local-ptr" {
							made = append(made, name)
						}
					}
				}
				if strategy != Optimized {
					others = 0 // the host makes them
				}
				require.Len(t, made, others, "%s in %s: %s", devices, format, strategy)
				for _, op := range []Transpose{NoTrans, Trans} {
					want := reference.Multiply(bool(op), 1, a, x, 0, y)
					multiply(t, plan, op, 1, x, 0, y)
					require.Equal(t, -1, reference.Check(y, want))
				}
			}
		}
	}
}

func TestADeviceThatFailsAtItsPointersLeaksNothing(t *testing.T) {
	a := bands(40)
	failures := 0
	for n := 1; n < 80; n++ {
		left := n
		sys := newSystem()
		for i := range 2 {
			c := sim.Config{Index: i}
			if i == 1 {
				c.Fail = func(call string) error {
					if left--; left == 0 {
						return errFault
					}
					return nil
				}
			}
			d, err := sim.Open(c)
			require.NoError(t, err)
			sys.devices().List = append(sys.devices().List, d)
		}
		plan, err := NewPlan[float64](ctx, sys, a, PlanOptions{Storage: Storage{Format: sparse.FormatCSR}, Variant: Variant{Split: partition.RuleNNZ}})
		if err != nil {
			require.ErrorIs(t, err, errFault)
			require.Nil(t, plan)
			if strings.Contains(err.Error(), "local_ptr") || strings.Contains(err.Error(), (&kernels.LocalPtr{}).Name()) {
				failures++
			}
		}
		require.NoError(t, sys.Close(), "call %d: every buffer is freed", n)
		for _, d := range sys.devices().List {
			require.Zero(t, d.InUse())
		}
	}
	require.Positive(t, failures, "the kernel must fail in some run")
}

// Many warps share a long row, also in an unpacked part in CSR.
func TestPartsWithALongRowAreMultipliedByMergePath(t *testing.T) {
	const n = 5000
	for _, long := range []bool{false, true} {
		a := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: []int64{0}}
		for r := range n {
			for c := range n {
				if c == r || long && r == 7 {
					a.ColIdx, a.Val = append(a.ColIdx, int32(c)), append(a.Val, float64(c%9)-3)
				}
			}
			a.RowPtr = append(a.RowPtr, int64(len(a.ColIdx)))
		}
		ran := map[string]bool{}
		d, err := sim.Open(sim.Config{Trace: func(kernel string, _ sim.Counters) { ran[kernel] = true }})
		require.NoError(t, err)
		sys := newSystem(d)
		x, y := sines(n), make([]float64, n)
		plan := planOf[float64](t, sys, a, PlanOptions{Storage: Storage{Format: sparse.FormatCSR}})
		multiply(t, plan, NoTrans, 1, x, 0, y)
		require.Equal(t, -1, reference.Check(y, reference.Multiply(false, 1, a, x, 0, make([]float64, n))))
		require.Equal(t, long, ran["msrep_major_merge_f64"])
		require.Equal(t, !long, ran["msrep_major_vector1_f64"])
		require.NoError(t, sys.Close())
	}
}
