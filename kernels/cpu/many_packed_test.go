package cpu_test

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// packing returns the operation that packs a part of a matrix in a form.
func packing(a *sparse.CSR[float64], p partition.Part, form kernels.Form, inPlace bool) *kernels.Packing[float64] {
	return &kernels.Packing[float64]{Part: p.Shift(p.First(), 0), Ptr: a.RowPtr[p.First() : p.End()+1],
		Idx: a.ColIdx[p.StartIdx : p.EndIdx+1], Val: a.Val[p.StartIdx : p.EndIdx+1], Minors: a.Cols, Form: form, InPlace: inPlace}
}

func TestPackedPartsMultiplyManyVectorsAsEach(t *testing.T) {
	eachPackedMany(t, []kernels.Form{kernels.FormCSR, "slices", "tiles", "ellr"}, []bool{false, true})
}

func TestAllWorkersMultiplyLongRowsTogether(t *testing.T) {
	for _, entries := range []int64{4, 50} { // several rows in a part, and one row in most parts
		cpu.SetLongRowEntries(t, entries)
		eachPackedMany(t, []kernels.Form{"tiles"}, []bool{true})
		for _, threads := range []int{1, 3, 7} {
			for _, parts := range []int{1, 2, 5} {
				checkMany(t, rand.New(rand.NewSource(1)), threads, parts, 8, plainMany)
			}
		}
	}
}

// eachPackedMany multiplies a matrix in these forms, from copied rows and from rows that stay in place.
func eachPackedMany(t *testing.T, forms []kernels.Form, places []bool) {
	rng := rand.New(rand.NewSource(1))
	for _, form := range forms {
		for _, inPlace := range places {
			if form == "ellr" && !inPlace {
				continue // the form multiplies one vector, its rows several
			}
			for _, threads := range []int{1, 3} {
				for _, parts := range []int{1, 2, 5} {
					for _, k := range []int{1, 3, 8, 19} {
						t.Run(fmt.Sprintf("%s, in place %v, %d workers, %d parts, %d vectors", form, inPlace, threads, parts, k), func(t *testing.T) {
							checkMany(t, rng, threads, parts, k, func(t *testing.T, d *cpu.Device, a *sparse.CSR[float64], p partition.Part, op kernels.MajorProductMany[float64]) kernels.Operation {
								packed := mustPack(t, d, packing(a, p, form, inPlace))
								t.Cleanup(func() { require.NoError(t, packed.Free()) })
								require.True(t, packed.(kernels.ManyMultiplier).MultipliesMany())
								if threads == 3 && !p.StartFlag { // the same for vectors in host memory
									return onHost(t, d, packed, op)
								}
								return &kernels.MajorProductManyPacked[float64]{A: packed, Alpha: op.Alpha, Beta: op.Beta, X: op.X, Y: op.Y, Carry: op.Carry}
							})
						})
					}
				}
			}
		}
	}
}

// onHost returns a product with a packed part for vectors in host memory.
func onHost(t *testing.T, d *cpu.Device, p kernels.Packed, op kernels.MajorProductMany[float64]) kernels.Operation {
	x, err := kernels.View(d, op.X.Val)
	require.NoError(t, err)
	y, err := kernels.View(d, op.Y.Val)
	require.NoError(t, err)
	return &kernels.HostProduct[float64]{A: p, Alpha: op.Alpha, Beta: op.Beta, X: x, Y: y, Cols: op.X.Cols, StrideX: op.X.Stride, StrideY: op.Y.Stride}
}

func TestPackedPartsReportWhetherTheyMultiplyOneVectorOnly(t *testing.T) {
	d, s := open(t, cpu.Config{Threads: 2})
	defer d.Close()
	a := unevenCSR(rand.New(rand.NewSource(1)), 90, 70)
	split := splitOf(t, a, 1)
	val := func(n int) kernels.Array[float64] { return kernels.AdoptArray(d, make([]float64, n)) }
	launch := func(p kernels.Packed, xs, ys int) error {
		return s.Launch(&kernels.MajorProductManyPacked[float64]{A: p, Alpha: 1,
			X: kernels.MultiVector[float64]{Val: val(xs * 2), Cols: 2, Stride: 2}, Y: kernels.MultiVector[float64]{Val: val(ys * 2), Cols: 2, Stride: 2}})
	}
	one := mustPack(t, d, packing(a, split[0], "ellr", false))
	require.False(t, one.(kernels.ManyMultiplier).MultipliesMany())
	require.ErrorIs(t, launch(one, 70, 90), kernels.ErrNotSupported)
	require.NoError(t, one.Free())

	many := mustPack(t, d, packing(a, split[0], "slices", false))
	require.NoError(t, launch(many, 70, 90))
	require.ErrorIs(t, launch(many, 69, 90), kernels.ErrArgument)
	require.ErrorIs(t, launch(many, 70, 89), kernels.ErrArgument)
	require.NoError(t, many.Free())
	require.False(t, many.(kernels.ManyMultiplier).MultipliesMany())
	require.ErrorIs(t, launch(many, 70, 90), kernels.ErrClosed)
}

func TestProductsOfSeveralVectorsInHostMemoryCheckTheirArguments(t *testing.T) {
	d, s := open(t, cpu.Config{Threads: 2})
	defer d.Close()
	a := unevenCSR(rand.New(rand.NewSource(1)), 90, 70)
	pack := func(part, parts int, form kernels.Form) kernels.Packed {
		split := splitOf(t, a, parts)
		require.Equal(t, part > 0, split[part].StartFlag)
		p := mustPack(t, d, packing(a, split[part], form, false))
		t.Cleanup(func() { require.NoError(t, p.Free()) })
		return p
	}
	type product = kernels.HostProduct[float64]
	launch := func(change func(op *product)) error {
		op := &product{A: pack(0, 1, "slices"), Alpha: 1, X: make([]float64, 2*70), Y: make([]float64, 2*90), Cols: 2, StrideX: 2, StrideY: 2}
		change(op)
		return s.Launch(op)
	}
	require.NoError(t, launch(func(*product) {}))
	for name, change := range map[string]func(op *product){
		"x":               func(op *product) { op.X = op.X[1:] },
		"y":               func(op *product) { op.Y = op.Y[1:] },
		"stride of x":     func(op *product) { op.StrideX = 1 },
		"stride of y":     func(op *product) { op.StrideY = 1 },
		"scatters":        func(op *product) { op.Minor = true },
		"begins in a row": func(op *product) { op.A = pack(1, 2, "slices") },
	} {
		require.ErrorContains(t, launch(change), "2 vectors of", name)
	}
	require.ErrorIs(t, launch(func(op *product) { op.A = pack(0, 1, "ellr") }), kernels.ErrNotSupported)
}
