package msrep

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

func TestSeveralThreadsTransposeAllVectors(t *testing.T) {
	const n, count, stride = transposedByGoroutine, 3, transposedByGoroutine + 5
	for _, devices := range []string{"cpu", "cpu:2"} { // transposed by workers, and by goroutines
		p := planOf[float32](t, open(t, Config{Devices: devices, Threads: 3}), sparse.Convert[float32](scattered(5000, 5000, 8)), PlanOptions{})
		require.Equal(t, 3/len(p.shares), p.shares[0].packed.(kernels.ManyMultiplier).Workers())
		b := MultiVector[float32]{Val: make([]float32, count*stride), Count: count, Stride: stride, ByColumn: true}
		for i := range b.Val {
			b.Val[i] = float32(i) // exact
		}
		rows := MultiVectorByRow(make([]float32, n*count), count)
		require.NoError(t, p.transposeVectors(b, rows, n, false))
		back := MultiVector[float32]{Val: make([]float32, count*stride), Count: count, Stride: stride, ByColumn: true}
		for i := range n {
			if [count]float32{b.Val[i], b.Val[stride+i], b.Val[2*stride+i]} != [count]float32(rows.Val[i*count:]) {
				t.Fatalf("row %d: %v", i, rows.Val[i*count:][:count])
			}
		}
		require.NoError(t, p.transposeVectors(back, rows, n, true))
		for j := range count {
			require.Equal(t, b.Val[j*stride:j*stride+n], back.Val[j*stride:j*stride+n])
			require.Equal(t, make([]float32, 5), back.Val[j*stride+n:(j+1)*stride])
		}
	}
}

func TestOnlyTwoVectorsOfASmallMatrixAreNotTransposed(t *testing.T) {
	small := scattered(300, 200, 5)
	for name, c := range map[string]struct {
		a          *sparse.CSR[float64]
		devices    string
		count      int
		byRow      bool // Y
		transposed bool
	}{
		"two":            {small, "cpu", 2, false, false},
		"three":          {small, "cpu", 3, false, true},
		"two and rows":   {small, "cpu", 2, true, true},
		"two devices":    {small, "cpu:2", 2, false, true},
		"a large matrix": {scattered(1<<14+1, 200, cachedEntries>>14), "cpu", 2, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			sys := open(t, Config{Devices: c.devices, Threads: 1})
			p := planOf[float64](t, sys, c.a, PlanOptions{Expected: Expected{Products: 1}})
			x := MultiVector[float64]{Val: make([]float64, c.count*c.a.Cols), Count: c.count, Stride: c.a.Cols, ByColumn: true}
			y := MultiVector[float64]{Val: make([]float64, c.count*c.a.Rows), Count: c.count, Stride: c.a.Rows, ByColumn: true}
			if c.byRow {
				y = MultiVectorByRow(y.Val, c.count)
			}
			multiplyMany(t, p, NoTrans, 1, x, 0, y)
			require.Equal(t, c.transposed, p.rowBuffers.bytes() > 0)
		})
	}
}
