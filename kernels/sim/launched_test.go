package sim_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch/launchtest"
	"github.com/msrep-go/msrep/kernels/internal/ptx"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// The tests of package kernels check that the library uses the operations.
func TestEveryKernelOfTheTableBelongsToAnOperation(t *testing.T) {
	ran := map[string]bool{}
	var mu sync.Mutex
	c := sim.Config{Unchecked: true, Trace: func(name string, _ ptx.Counters) {
		mu.Lock()
		defer mu.Unlock()
		ran[name] = true
	}}
	launchProducts[float64](t, c)
	launchProducts[float32](t, c)
	drawn := func(f func(t *rapid.T)) { // the same cases in each run
		for seed := range 8 {
			rapid.Custom(func(t *rapid.T) bool { f(t); return true }).Example(seed)
		}
	}
	drawn(func(t *rapid.T) {
		d, _ := open(t, c)
		devicetest.VectorOps[float64](t, d)
		devicetest.VectorOps[float32](t, d)
		devicetest.CGScalars(t, d)
	})
	drawn(func(t *rapid.T) {
		devicetest.Triangular[float64](t, fresh(c))
		devicetest.Triangular[float32](t, fresh(c))
	})
	drawn(func(t *rapid.T) {
		devicetest.SpGEMM[float64](t, fresh(c))
		devicetest.SpGEMM[float32](t, fresh(c))
	})
	drawn(func(t *rapid.T) {
		var devices []kernels.Device
		for _, d := range peers(t, 2, c) {
			devices = append(devices, d)
		}
		devicetest.Exchange[float64](t, devices)
		devicetest.Exchange[float32](t, devices)
	})
	drawn(func(t *rapid.T) {
		d, s := open(t, c)
		launchtest.DrawnTiles[float64](t, d, s)
		launchtest.DrawnTiles[float32](t, d, s)
	})
	devicetest.SegmentOps(t, fresh(c))
	for _, segments := range []int{2, 4} {
		for read := range segments + 1 {
			for _, form := range []kernels.Form{"csr", "pellr"} {
				drawn(func(t *rapid.T) { devicetest.SegmentProperty(t, fresh(c), form, read, segments) })
			}
		}
	}
	for _, k := range cuda.Kernels() {
		require.True(t, ran[k.Name], "no operation launches %s: drop it from its source, the table and README.md", k.Name)
	}
}

// launchProducts multiplies, in all forms, by matrices with rows of each length that
// has its own vector kernel.
func launchProducts[V sparse.Value](t *testing.T, c sim.Config) {
	for n := int64(1); n <= 128; n *= 2 {
		a := &sparse.CSR[V]{Rows: 40, Cols: 200, RowPtr: []int64{0}}
		for r := range a.Rows {
			for k := range n {
				a.ColIdx, a.Val = append(a.ColIdx, int32(k)), append(a.Val, V(r)+V(n)/3)
			}
			a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
		}
		q := &devicetest.Problem[V]{A: a, Alpha: 2, Beta: 0.5, X: make([]V, a.Cols), Y: make([]V, a.Rows)}
		var err error
		q.Parts, _, err = partition.Split(a.RowPtr, 1, partition.RuleNNZ)
		require.NoError(t, err)
		q.MajorProduct(t, fresh(c), devicetest.Plain)
		if n > 2 {
			continue
		}
		ways := append(devicetest.RowForms(), devicetest.COO, devicetest.Fixed, kernels.FormMerge)
		for _, way := range ways {
			q.MajorProduct(t, fresh(c), way)
		}
		for k := range a.Val {
			a.Val[k] = 1 // which float32 holds
		}
		q.MajorProduct(t, fresh(c), kernels.FormSlices)
		q.MajorProduct(t, fresh(c), kernels.FormTiles)
		q.X, q.Y = q.Y, q.X
		for _, coo := range []bool{true, false} {
			q.MinorProduct(t, fresh(c), coo)
		}
	}
}
