package forms_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/tiles"
	"github.com/msrep-go/msrep/sparse"
)

func TestEveryFormMultipliesAsTheReference(t *testing.T) {
	formtest.EachLevel(t, checkEvery[float64], checkEvery[float32])
}

func TestEveryFormMultipliesAsTheReferencePastTheCaches(t *testing.T) {
	formtest.WithStreams(func() { formtest.EachLevel(t, checkEvery[float64], checkEvery[float32]) })
}

func checkEvery[V sparse.Value](t *testing.T, l simd.Level) {
	for _, name := range formtest.Names(formtest.Chosen) {
		t.Run(name, func(t *testing.T) { formtest.CheckForm[V](t, name, l) })
	}
}

func TestFormsHaveTheSameBitsHoweverValuesAreStored(t *testing.T) {
	formtest.EachLevel(t, checkStored[float64], checkStored[float32])
}

// checkStored compares products with values stored as Full and in fewer bytes.
func checkStored[V sparse.Value](t *testing.T, l simd.Level) {
	kinds := []string{"float32", "few", "one"}
	for _, name := range formtest.Names(formtest.Chosen) {
		build := formtest.Small[V](name, l).Build
		rapid.Check(t, func(t *rapid.T) {
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
			p := formtest.Patterns[rapid.SampledFrom(formtest.SortedKeys(formtest.Patterns)).Draw(t, "pattern")](r)
			values := formtest.ValueKinds[rapid.SampledFrom(kinds).Draw(t, "values")]
			a := sparse.Convert[V](p.CSR(func() float64 { return values(r) }))
			rows := formtest.RowsOf(a)
			full, err := build(rows, form.ValueSet[V]{})
			if sparse.IsInput(err) {
				return
			}
			require.NoError(t, err, name)
			less, err := build(rows, form.FindValues(a.Val))
			require.NoError(t, err, name)
			x := make([]V, a.Cols)
			for i := range x {
				x[i] = V(r.NormFloat64())
			}
			y, z := make([]V, a.Rows), make([]V, a.Rows)
			full.Multiply(1.5, 0, x, y)
			less.Multiply(1.5, 0, x, z)
			require.Equal(t, y, z, "%s", less.Name())
		})
	}
}

func TestFormsRefuseColumnsOutsideX(t *testing.T) {
	for _, name := range formtest.Names(func(k form.Kind[float64]) bool { return k.Suit != nil }) {
		for _, c := range []int32{-1, 3, math.MaxInt32} {
			r := form.Rows[float64]{Ptr: []int64{0, 2}, Idx: []int32{0, c}, Val: []float64{1, 1}, Cols: 3}
			_, err := formtest.Small[float64](name, simd.Generic).Build(r, form.ValueSet[float64]{})
			require.True(t, sparse.IsInput(err), "%s, %d: %v", name, c, err)
		}
	}
}

func TestFormsReportTooLittleMemory(t *testing.T) {
	p := formtest.Pattern{Cols: 100}
	for range 100 {
		p.Rows = append(p.Rows, make([]int32, 50))
	}
	a := p.CSR(func() float64 { return 1 })
	for _, name := range formtest.Names(func(k form.Kind[float64]) bool { return k.Suit != nil && k.Test.Patterns == nil }) {
		for limit := int64(1); limit < 40_000; limit *= 2 {
			r := form.Rows[float64]{Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Cols: a.Cols, Mem: &form.Memory{
				Alloc: func(n int64) ([]byte, error) { return make([]byte, n), nil }, Limit: limit,
			}}
			_, err := formtest.Small[float64](name, simd.Generic).Build(r, form.ValueSet[float64]{})
			require.ErrorIs(t, err, kernels.ErrOutOfMemory, "%s: %d", name, limit)
		}
	}
}

func TestTilesRefuseSizesThatTheyCannotAddress(t *testing.T) {
	r := form.Rows[float64]{Ptr: []int64{0, 1}, Idx: []int32{0}, Val: []float64{1}, Cols: 1}
	for _, o := range []tiles.TileOptions[float64]{{Rows: -1}, {Rows: 65537}, {Cols: -2}, {Cols: 24}, {Cols: 1 << 17}} {
		_, err := tiles.NewTiles(r, o)
		require.True(t, sparse.IsInput(err), "%+v: %v", o, err)
		require.ErrorContains(t, err, "power of two")
	}
}
