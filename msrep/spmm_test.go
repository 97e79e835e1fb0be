package msrep

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// randomMultiVector draws count vectors of n elements, with NaN in the gaps.
func randomMultiVector[V sparse.Value](t *rapid.T, n, count int, name string) MultiVector[V] {
	b := MultiVector[V]{Count: count, ByColumn: rapid.Bool().Draw(t, name+" by column")}
	gap := rapid.IntRange(0, 3).Draw(t, name+" gap")
	b.Stride = count + gap
	size := n * b.Stride
	if b.ByColumn {
		b.Stride = n + gap
		size = count * b.Stride
	}
	b.Val = make([]V, size)
	for i := range b.Val {
		b.Val[i] = V(math.NaN())
	}
	for j := range count {
		b.put(j, randomVector[V](t, n, name))
	}
	return b
}

func (b MultiVector[V]) at(i, j int) *V {
	if b.ByColumn {
		return &b.Val[j*b.Stride+i]
	}
	return &b.Val[i*b.Stride+j]
}

func (b MultiVector[V]) put(j int, v []V) {
	for i := range v {
		*b.at(i, j) = v[i]
	}
}

func (b MultiVector[V]) get(j, n int) []V {
	v := make([]V, n)
	for i := range v {
		v[i] = *b.at(i, j)
	}
	return v
}

func checkRandomMultiVectors[V sparse.Value](t *rapid.T) {
	ctx := context.Background()
	a := randomMatrix[V](t)
	discrete := rapid.Bool().Draw(t, "discrete")
	sys := testSystem(t, rapid.SampledFrom([]int{1, 2, 3, 8, 70}).Draw(t, "devices"), discrete)
	defer func() { require.NoError(t, sys.Close(), "every buffer is freed") }()
	storage := NamedStorage(rapid.SampledFrom([]string{"", "slices", "tiles", "csr", "csc", "coo"}).Draw(t, "storage"))
	storage.Release = rapid.SampledFrom([]bool{false, false, true}).Draw(t, "release")
	transposed := rapid.SampledFrom([]int{0, 10}).Draw(t, "expected transposed")
	if discrete && storage.Release { // such devices multiply with the transpose of a released matrix only if that was expected
		transposed = 10
	}
	plan, err := NewPlan(ctx, sys, a, PlanOptions{
		Storage:  storage,
		Variant:  Variant{Strategy: rapid.SampledFrom([]Strategy{Optimized, Partial, Baseline}).Draw(t, "strategy"), Split: rapid.SampledFrom([]partition.Rule{"", partition.RuleMergePath}).Draw(t, "split")},
		Expected: Expected{Transposed: transposed},
	})
	require.NoError(t, err)
	m, n := a.Dims()
	op := Transpose(rapid.Bool().Draw(t, "transpose"))
	if op == Trans {
		m, n = n, m
	}
	scalar := rapid.SampledFrom([]V{0, 1, 0.37, -2.5})
	alpha, beta := scalar.Draw(t, "alpha"), scalar.Draw(t, "beta")
	count := rapid.SampledFrom([]int{1, 2, 3, 5, 8, 17}).Draw(t, "vectors")
	x, y := randomMultiVector[V](t, n, count, "x"), randomMultiVector[V](t, m, count, "y")
	var want []reference.Product
	for j := range count {
		yj := y.get(j, m)
		want = append(want, reference.Multiply(bool(op), alpha, a, x.get(j, n), beta, yj))
	}
	if beta == 0 {
		for i := range y.Val {
			y.Val[i] = V(math.NaN())
		}
	}
	gaps := map[int]bool{}
	for i, v := range y.Val {
		gaps[i] = v != v && beta != 0
	}
	multiplyMany(t, plan, op, alpha, x, beta, y)
	for j := range count {
		got := y.get(j, m)
		bad := reference.Check(got, want[j])
		require.Equal(t, -1, bad, "vector %d: %s", j, describe(got, want[j], bad))
	}
	for i, v := range y.Val {
		require.False(t, gaps[i] && v == v, "a gap was written")
	}
}

func TestSeveralVectorsAtOnceAgreeWithTheReferenceInFloat64(t *testing.T) {
	rapid.Check(t, checkRandomMultiVectors[float64])
}

func TestSeveralVectorsAtOnceAgreeWithTheReferenceInFloat32(t *testing.T) {
	rapid.Check(t, checkRandomMultiVectors[float32])
}

// Small stencils have masks, so their rows multiply whole registers of vectors.
func TestStencilsInDiagonalsMultiplySeveralVectors(t *testing.T) {
	t.Run("float64", checkStencilVectors[float64])
	t.Run("float32", checkStencilVectors[float32])
}

func checkStencilVectors[V sparse.Value](t *testing.T) {
	ctx := context.Background()
	stencil := generated(t, "stencil:dims=3,points=7,n=9")
	rng := rand.New(rand.NewPCG(1, 2))
	fill := func(v []V) []V {
		for i := range v {
			v[i] = V(rng.Float64() - .5)
		}
		return v
	}
	for _, devices := range []int{1, 3} {
		a := sparse.Convert[V](stencil)
		fill(a.Val)
		sys := testSystem(t, devices, false)
		plan := planOf(t, sys, a, PlanOptions{Storage: Storage{Form: "diagonals"}})
		for _, val := range [][]V{a.Val, fill(make([]V, len(a.Val)))} { // also with updated values
			b := *a
			b.Val = val
			require.NoError(t, plan.UpdateValues(ctx, val))
			require.EqualValues(t, "diagonals", plan.Packed(NoTrans)[0].Form)
			for _, k := range []int{3, 8, 19} {
				for _, byColumn := range []bool{false, true} {
					x := MultiVector[V]{Val: fill(make([]V, k*a.Cols)), Count: k, Stride: k}
					if byColumn {
						x.Stride, x.ByColumn = a.Cols, true
					}
					y := x
					y.Val = fill(make([]V, k*a.Rows))
					var want []reference.Product
					for j := range k {
						want = append(want, reference.Multiply(false, 1.5, sparse.Matrix[V](&b), x.get(j, a.Cols), -.5, y.get(j, a.Rows)))
					}
					multiplyMany(t, plan, NoTrans, 1.5, x, -.5, y)
					for j := range want {
						require.Equal(t, -1, reference.Check(y.get(j, a.Rows), want[j]), "%d devices, vector %d of %d, by column %v", devices, j, k, byColumn)
					}
				}
			}
		}
		require.NoError(t, sys.Close())
	}
}

func TestReleasedPlansMultiplyAllVectorsAtOnceInTheFormTheyHave(t *testing.T) {
	for _, c := range []struct {
		form   Form
		atOnce bool
	}{{"slices", true}, {"tiles", true}, {"ellr", false}} {
		plan := planOf(t, openCPU(t, "cpu:2"), small(t), PlanOptions{Storage: Storage{Form: c.form, Release: true}})
		require.Equal(t, c.atOnce, plan.atOnce(NoTrans), c.form)
		m, n := plan.Dims()
		x, y := MultiVectorByRow(make([]float64, 3*n), 3), MultiVectorByRow(make([]float64, 3*m), 3)
		multiplyMany(t, plan, NoTrans, 1, x, 0, y)
		multiplyMany(t, plan, Trans, 1, y, 0, x)
		require.NoError(t, plan.Close())
	}
}

func TestMinorProductsTakeWholeCacheLinesOfVectors(t *testing.T) {
	for count, want := range map[int]int{1: 0, 3: 0, 4: 4, 7: 7, 8: 8, 11: 8, 12: 12, 64: 64} {
		require.Equal(t, want, minorAtOnce[float64](count))
	}
	require.Equal(t, 16, minorAtOnce[float32](19))
	require.Equal(t, 11, minorAtOnce[float32](11))
}

// scarce is a device without memory for minor products of several vectors.
type scarce struct {
	*cpu.Device
	calls *int
}

type scarceStream struct {
	kernels.Stream
	calls *int
}

func (d scarce) NewStream() (kernels.Stream, error) {
	s, err := d.Device.NewStream()
	return scarceStream{s, d.calls}, err
}

func (s scarceStream) Launch(op kernels.Operation) error {
	if op.Name() == "minor-product-many" {
		*s.calls++
		return &kernels.DeviceError{Device: "cpu:0", Call: op.Name(), Err: kernels.ErrOutOfMemory}
	}
	return s.Stream.Launch(op)
}

func TestVectorsAreMultipliedOneByOneWhereMemoryIsScarce(t *testing.T) {
	d, err := cpu.Open(cpu.Config{Threads: 2, NUMANode: -1})
	require.NoError(t, err)
	asked := 0
	sys := newSystem(scarce{d, &asked})
	defer sys.Close()
	plan := planOf(t, sys, unitMatrix(30), PlanOptions{})
	x, y := MultiVectorByRow(make([]float64, 30*9), 9), MultiVectorByRow(make([]float64, 30*9), 9)
	for i := range x.Val {
		x.Val[i], y.Val[i] = float64(i), 1
	}
	multiplyMany(t, plan, Trans, 2, x, 3, y)
	require.Equal(t, 1, asked)
	for i, v := range y.Val {
		require.Equal(t, float64(2*i+3), v)
	}
}

func TestTheTimeOfVectorsMultipliedOneByOneIncludesTheirCopies(t *testing.T) {
	const n, count = 200000, 4
	ctx := context.Background()
	plan := planOf(t, openCPU(t, "cpu:2"), unitMatrix(n), PlanOptions{Deterministic: true})
	x, y := MultiVectorByRow(make([]float64, n*count), count), MultiVectorByRow(make([]float64, n*count), count)
	fraction := 0.0
	for range 5 {
		begin := time.Now()
		require.NoError(t, plan.SpMM(ctx, NoTrans, 1, x, 0, y))
		fraction = max(fraction, float64(plan.LastTiming().Total)/float64(time.Since(begin)))
	}
	require.Greater(t, fraction, 0.8)
}

func TestWrongMultiVectorsAreNamedAndLeaveYUnchanged(t *testing.T) {
	ctx := context.Background()
	sys := openCPU(t, "cpu:2")
	plan := planOf(t, sys, small(t), PlanOptions{})
	m, n := plan.Dims()
	x, y := MultiVectorByRow(make([]float64, 3*n), 3), MultiVectorByRow(make([]float64, 3*m), 3)
	for i := range y.Val {
		y.Val[i] = 7
	}
	wide := int64(1) << 33
	many, long := int(wide), int(wide/4) // 0 and negative as 32-bit ints
	for message, c := range map[string][2]MultiVector[float64]{
		"y: 2 vectors: x has 3":                {x, MultiVectorByRow(y.Val, 2)},
		"x: 0 vectors":                         {MultiVectorByRow(x.Val, 0), MultiVectorByRow(y.Val, 0)},
		"x: -3 vectors: there must be":         {MultiVectorByRow(x.Val, -3), y},
		"x: a stride of 2":                     {{Val: x.Val, Count: 3, Stride: 2}, y},
		"y: a stride of":                       {x, {Val: y.Val, Count: 3, Stride: m - 1, ByColumn: true}},
		"x: ":                                  {MultiVectorByRow(x.Val[1:], 3), y},
		"y: shares memory with x":              {x, MultiVectorByRow(x.Val[:3*m], 3)},
		fmt.Sprintf("x: %d vectors", many):     {{Val: x.Val, Count: many, Stride: 1<<31 - 1, ByColumn: true}, {Val: y.Val, Count: many, Stride: 1<<31 - 1, ByColumn: true}},
		fmt.Sprintf("y: a stride of %d", long): {x, {Val: y.Val, Count: 3, Stride: long}},
	} {
		if message == "y: shares memory with x" && m > n {
			continue
		}
		err := plan.SpMM(ctx, NoTrans, 1, c[0], 0, c[1])
		require.ErrorContains(t, err, message)
		require.True(t, sparse.IsInput(err))
	}
	for _, v := range y.Val {
		require.Equal(t, 7.0, v)
	}
	require.NoError(t, plan.Close())
	err := plan.SpMM(ctx, NoTrans, 1, x, 0, y)
	require.ErrorIs(t, err, ErrClosed)
}

func TestMultiVectorsOfEmptyVectorsAreAccepted(t *testing.T) {
	sys := openCPU(t, "cpu:2")
	for _, f := range []sparse.Format{"", sparse.FormatCOO} {
		plan := planOf(t, sys, sparse.ToCSR[float64](&sparse.COO[float64]{Rows: 0, Cols: 5}), PlanOptions{Storage: Storage{Format: f}})
		x, y := MultiVector[float64]{Val: make([]float64, 10), Count: 2, Stride: 5, ByColumn: true}, MultiVector[float64]{Count: 2, Stride: 1, ByColumn: true}
		multiplyMany(t, plan, NoTrans, 1, x, 0, y)
		multiplyMany(t, plan, Trans, 1, y, 0, x)
	}
}

func TestPlansKeepTheBuffersOfTransposedVectorsUntilClose(t *testing.T) {
	const n = 3000
	before := mem.Mapped()
	sys := testSystem(t, 1, false)
	plan := planOf(t, sys, unitMatrix(n), PlanOptions{Storage: Storage{Format: sparse.FormatCSR}})
	held := plan.Bytes()
	for _, count := range []int{9, 2, 17, 17} {
		x := MultiVector[float64]{Val: make([]float64, n*count), Count: count, Stride: n, ByColumn: true}
		y := x
		y.Val = make([]float64, n*count)
		for i := range x.Val {
			x.Val[i] = float64(i % 17)
		}
		multiplyMany(t, plan, NoTrans, 2, x, 0, y)
		for i, v := range x.Val {
			require.Equal(t, 2*v, y.Val[i])
		}
	}
	require.Equal(t, held+2*17*n*8, plan.Bytes())
	require.NoError(t, plan.Close())
	require.NoError(t, sys.Close())
	require.Equal(t, before, mem.Mapped())
}

// unitMatrix returns the identity matrix of n rows.
func unitMatrix(n int) *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: make([]int64, n+1), ColIdx: make([]int32, n), Val: make([]float64, n)}
	for i := range n {
		a.RowPtr[i+1], a.ColIdx[i], a.Val[i] = int64(i+1), int32(i), 1
	}
	return a
}

func TestVectorsLongerThanAMatrixAreRefused(t *testing.T) {
	b := MultiVector[float64]{Val: make([]float64, 4), Count: 1, Stride: math.MaxInt32}
	require.NoError(t, b.Check("x", 1))
	wide := int64(1<<33 + 2) // 2 as a 32-bit int
	for _, n := range []int{-1, 2, int(wide)} {
		require.ErrorContains(t, b.Check("x", n), "x: ")
	}
}
