package msrep

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/msrep/internal/layout"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// limitedForms are the forms that refuse some matrices.
var limitedForms = map[Form]bool{"ell": true, "diagonals": true, "blocks": true}

// discrete is a CPU device without kernels.HostMapper. A plan treats it like a GPU.
type discrete struct{ kernels.Device }

// Pack calls Pack of the device.
func (d discrete) Pack(op kernels.Operation) (kernels.Packed, error) {
	return d.Device.(kernels.Packer).Pack(op)
}

// asDiscrete returns d, as a discrete device if separate is set.
func asDiscrete(d *cpu.Device, separate bool) kernels.Device {
	if separate {
		return discrete{d}
	}
	return d
}

// testSystem returns a System of n devices with 1 to 3 workers each.
func testSystem(t require.TestingT, n int, separate bool) *System {
	s := newSystem()
	for i := range n {
		d, err := cpu.Open(cpu.Config{Index: i, Threads: 1 + i%3, NUMANode: -1, Grain: 4})
		require.NoError(t, err)
		s.devices().List = append(s.devices().List, asDiscrete(d, separate))
	}
	return s
}

// randomMatrix draws a matrix of any shape, 0 x n and n x 0 included, with empty and long rows, in any format and
// order.
func randomMatrix[V sparse.Value](t *rapid.T) sparse.Matrix[V] {
	cols := rapid.SampledFrom([]int{0, 1, 2, 3, 7, 40, 300}).Draw(t, "cols")
	lens := rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 1, 2, 3, 9, cols, 3 * cols}), 0, 30).Draw(t, "row lengths")
	seed := rapid.Uint64().Draw(t, "seed")
	next := func() uint64 { // xorshift: drawing each entry by rapid would be slow
		seed ^= seed<<13 | 1
		seed ^= seed >> 7
		seed ^= seed << 17
		return seed
	}
	coo := &sparse.COO[V]{Rows: len(lens), Cols: cols}
	for r, n := range lens {
		if cols == 0 {
			break
		}
		for range n {
			coo.RowIdx = append(coo.RowIdx, int32(r))
			coo.ColIdx = append(coo.ColIdx, int32(next()%uint64(cols)))
			coo.Val = append(coo.Val, V(int64(next()%2001)-1000)/V(64))
		}
	}
	switch rapid.SampledFrom([]string{"csr", "csc", "coo by row", "coo by column", "coo unsorted"}).Draw(t, "given as") {
	case "csr":
		return sparse.ToCSR[V](coo)
	case "csc":
		return sparse.ToCSC[V](coo)
	case "coo by column":
		return sparse.ToCOO[V](sparse.ToCSC[V](coo))
	case "coo unsorted":
		for k := len(coo.Val) - 1; k > 0; k-- {
			j := next() % uint64(k+1)
			coo.RowIdx[k], coo.RowIdx[j] = coo.RowIdx[j], coo.RowIdx[k]
			coo.ColIdx[k], coo.ColIdx[j] = coo.ColIdx[j], coo.ColIdx[k]
			coo.Val[k], coo.Val[j] = coo.Val[j], coo.Val[k]
		}
	}
	return coo
}

func randomVector[V sparse.Value](t *rapid.T, n int, name string) []V {
	phase := rapid.Float64Range(0, 6).Draw(t, name)
	v := make([]V, n)
	for i := range v {
		v[i] = V(math.Sin(float64(i+1)*1.7 + phase))
	}
	return v
}

func checkRandomProducts[V sparse.Value](t *rapid.T) {
	ctx := context.Background()
	a := randomMatrix[V](t)
	sys := testSystem(t, rapid.SampledFrom([]int{1, 2, 3, 8, 70}).Draw(t, "devices"), rapid.Bool().Draw(t, "discrete"))
	defer func() { require.NoError(t, sys.Close(), "every buffer is freed") }()
	storages := []string{"", "csr", "csc", "coo"}
	for _, f := range cpu.Forms() {
		storages = append(storages, string(f))
	}
	opt := PlanOptions{
		Expected: Expected{Products: rapid.SampledFrom([]int{0, 1, 10}).Draw(t, "expected products"), Transposed: rapid.SampledFrom([]int{0, 10}).Draw(t, "expected transposed")},
		Storage:  NamedStorage(rapid.SampledFrom(storages).Draw(t, "storage")),
		Variant:  Variant{Strategy: rapid.SampledFrom([]Strategy{Optimized, Partial, Baseline}).Draw(t, "strategy"), Split: rapid.SampledFrom([]partition.Rule{"", partition.RuleNNZ, partition.RuleMergePath}).Draw(t, "split")},
	}
	plan, err := NewPlan(ctx, sys, a, opt)
	if limitedForms[opt.Storage.Form] && sparse.IsInput(err) {
		return
	}
	require.NoError(t, err)
	for range rapid.IntRange(1, 3).Draw(t, "products") {
		scalars := []V{0, 1, -1, 0.37, -2.5}
		alpha := rapid.SampledFrom(scalars).Draw(t, "alpha")
		tm := checkRandomProduct(t, plan, a, alpha, rapid.SampledFrom(append(scalars, V(math.Inf(1)), V(math.NaN()))).Draw(t, "beta"))
		require.Len(t, tm.Devices, len(sys.devices().List))
		a = maybeUpdateValues(t, plan, a)
	}
}

// checkRandomProduct compares the product of a plan with the reference, for a random op and random x and y. With beta
// = 0, y is NaN before the product. Some elements of x and y may be NaN or infinite; they must affect only the rows
// that use them.
func checkRandomProduct[V sparse.Value](t *rapid.T, plan *Plan[V], a sparse.Matrix[V], alpha, beta V) Timing {
	m, n := a.Dims()
	op := Transpose(rapid.Bool().Draw(t, "transpose"))
	if op == Trans {
		m, n = n, m
	}
	x, y := randomVector[V](t, n, "x"), randomVector[V](t, m, "y")
	for _, v := range [][]V{x, y} {
		special := rapid.SampledFrom([]V{0, V(math.NaN()), V(math.Inf(1)), V(math.Inf(-1))}).Draw(t, "special")
		for i := rapid.IntRange(0, 9).Draw(t, "first special"); i < len(v) && special != 0; i += 5 {
			v[i] = special
		}
	}
	if beta == 0 {
		for i := range y {
			y[i] = V(math.NaN())
		}
	}
	want := reference.Multiply(bool(op), alpha, a, x, beta, y)
	require.NoError(t, plan.SpMV(ctx, op, alpha, x, beta, y))
	bad := reference.Check(y, want)
	require.Equal(t, -1, bad, "%s", describe(y, want, bad))
	return plan.LastTiming()
}

// maybeUpdateValues updates the values of the plan in some cases, and returns the present matrix.
func maybeUpdateValues[V sparse.Value](t *rapid.T, plan *Plan[V], a sparse.Matrix[V]) sparse.Matrix[V] {
	if !rapid.Bool().Draw(t, "new values") {
		return a
	}
	val := randomVector[V](t, int(a.NNZ()), "val")
	require.NoError(t, plan.UpdateValues(ctx, val))
	return layout.WithValues(a, val)
}

func describe[V sparse.Value](y []V, want reference.Product, i int) string {
	if i < 0 || i >= len(y) {
		return ""
	}
	return fmt.Sprintf("y[%d] = %v, reference %v, scale %v", i, y[i], want.Y[i], want.Scale[i])
}

func TestEveryPathAgreesWithTheReferenceInFloat64(t *testing.T) {
	rapid.Check(t, checkRandomProducts[float64])
}

func TestEveryPathAgreesWithTheReferenceInFloat32(t *testing.T) {
	rapid.Check(t, checkRandomProducts[float32])
}
