//go:build cuda

package msrep

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// gpuArray returns the address of a copy of src on the GPU of sys, and a function that reads it back.
func gpuArray[V sparse.Value](t *testing.T, sys *System, src []V) (addr uint64, read func() []V) {
	d := devvec.Device(sys, 0)
	a, err := kernels.NewArray[V](d, int64(len(src)))
	require.NoError(t, err)
	s, err := d.NewStream()
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		runtime.KeepAlive(src) // the copy may end only now
		require.NoError(t, a.Free())
	})
	require.NoError(t, a.Write(s, src)) // VectorAt waits for it
	at, err := d.(*nvidia.Device).Address("", a.Buf, 0, a.Buf.Bytes())
	require.NoError(t, err)
	return uint64(at), func() []V {
		dst := make([]V, len(src))
		require.NoError(t, a.Read(s, dst))
		require.NoError(t, s.Sync())
		return dst
	}
}

func TestProductsUseVectorsInTheMemoryOfTheGPU(t *testing.T) {
	if !onGPU(t) {
		return
	}
	sys, err := Open(Config{Devices: "cuda:0"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sys.Close()) })
	t.Run("float64", func(t *testing.T) { checkVectorsAt[float64](t, sys) })
	t.Run("float32", func(t *testing.T) { checkVectorsAt[float32](t, sys) })
}

// checkVectorsAt multiplies vectors that begin within an allocation, so that they are aligned to an element only, and checks
// that the elements around the result stay.
func checkVectorsAt[V sparse.Value](t *testing.T, sys *System) {
	m, _, err := gen.Generate("random:rows=90,cols=70,nnz=450")
	require.NoError(t, err)
	a := sparse.Convert[V](m)
	random := rand.New(rand.NewPCG(1, 2))
	for _, op := range []Transpose{NoTrans, Trans} {
		plan, err := NewPlan(ctx, sys, a, PlanOptions{})
		require.NoError(t, err)
		rows, cols := plan.dims(op)
		x, y := make([]V, cols+3), make([]V, rows+3)
		for i := range x {
			x[i] = V(random.NormFloat64())
		}
		for i := range y {
			y[i] = V(random.NormFloat64())
		}
		size := uint64(unsafe.Sizeof(V(0)))
		atX, readX := gpuArray(t, sys, x)
		atY, readY := gpuArray(t, sys, y)
		vx, err := VectorAt[V](sys, atX+size, cols)
		require.NoError(t, err)
		vy, err := VectorAt[V](sys, atY+size, rows)
		require.NoError(t, err)
		require.NoError(t, plan.Apply(ctx, op, 2, vx, -3, vy))
		require.NoError(t, vy.Wait())
		require.NoError(t, vx.Close())
		require.NoError(t, vy.Close())
		require.Equal(t, x, readX())
		got := readY()
		require.Equal(t, y[0], got[0])
		require.Equal(t, y[rows+1:], got[rows+1:])
		want := reference.Multiply(bool(op), 2, sparse.Matrix[V](a), x[1:cols+1], -3, y[1:rows+1])
		require.Equal(t, -1, reference.Check(got[1:rows+1], want))
		require.NoError(t, plan.Close())
	}
}

func TestVectorsMustBeMemoryOfTheOnlyGPU(t *testing.T) {
	if !onGPU(t) {
		return
	}
	sys, err := Open(Config{Devices: "cuda:0"})
	require.NoError(t, err)
	var at uint64
	t.Cleanup(func() {
		require.NoError(t, sys.Close())
		require.ErrorIs(t, vectorAt(sys, at, 10), ErrClosed)
	})
	at, _ = gpuArray(t, sys, make([]float64, 10))
	host := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(make([]float64, 10)))))
	require.ErrorContains(t, vectorAt(sys, host, 10), "vector: ")
	require.ErrorContains(t, vectorAt(sys, host, 10), "not memory of this GPU")
	require.ErrorContains(t, vectorAt(sys, at+4, 1), "vector: begins at an address that is no multiple of 8")
	require.ErrorContains(t, vectorAt(sys, at, -1), "vector: -1 elements: use 0 to 2147483647")
	require.ErrorContains(t, vectorAt(nil, at, 1), "system: is nil")
	require.NoError(t, vectorAt(sys, 0, 0))
	for devices, message := range map[string]string{
		"cuda:0,0": "vector: in the memory of a GPU: the system has 2 devices, it must have this GPU only",
		"cpu":      "vector: in the memory of a GPU: the system has device cpu:0",
		"sim:1":    "vector: in the memory of a GPU: the system has device sim:0",
	} {
		other, err := Open(Config{Devices: devices})
		require.NoError(t, err)
		require.EqualError(t, vectorAt(other, at, 10), message)
		require.NoError(t, other.Close())
		require.Error(t, vectorAt(other, at, 10))
	}
}

func vectorAt(sys *System, at uint64, n int) error {
	v, err := VectorAt[float64](sys, at, n)
	if err == nil {
		err = v.Close()
	}
	return err
}
