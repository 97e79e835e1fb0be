package msrep

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// productCases are factors of sparse products.
func productCases(t *testing.T) map[string][2]*sparse.CSR[float64] {
	make := func(spec string) *sparse.CSR[float64] {
		m, _, err := gen.Generate(spec)
		require.NoError(t, err)
		return m
	}
	row := &sparse.CSR[float64]{Rows: 1, Cols: 3, RowPtr: []int64{0, 4}, ColIdx: []int32{2, 0, 2, 1}, Val: []float64{1, -2, 3, math.Inf(1)}}
	column := &sparse.CSR[float64]{Rows: 3, Cols: 1, RowPtr: []int64{0, 1, 3, 3}, ColIdx: []int32{0, 0, 0}, Val: []float64{5, 6, math.NaN()}}
	power := make("powerlaw:rows=120,cols=100,nnz=900")
	return map[string][2]*sparse.CSR[float64]{
		"a stencil":         {make("stencil:n=12,points=5"), make("stencil:n=12,points=5")},
		"uneven rows":       {power, sparse.ToCSC[float64](power).Transpose()},
		"a row by a column": {row, column},
		"a column by a row": {column, row},
		"no rows":           {{Rows: 0, Cols: 3, RowPtr: []int64{0}}, column},
		"no inner":          {{Rows: 2, Cols: 0, RowPtr: []int64{0, 0, 0}}, {Rows: 0, Cols: 2, RowPtr: []int64{0}}},
		"no columns":        {row, {Rows: 3, Cols: 0, RowPtr: []int64{0, 0, 0, 0}}},
	}
}

// plainMatrixProduct returns A B by its definition, in the order that SpGEMM documents.
func plainMatrixProduct(a, b *sparse.CSR[float64]) *sparse.CSR[float64] {
	c := &sparse.CSR[float64]{Rows: a.Rows, Cols: b.Cols, RowPtr: []int64{0}}
	for i := range a.Rows {
		sums := map[int32]float64{}
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			for l := b.RowPtr[a.ColIdx[k]]; l < b.RowPtr[a.ColIdx[k]+1]; l++ {
				p := float64(a.Val[k] * b.Val[l])
				if s, ok := sums[b.ColIdx[l]]; ok {
					p += s
				}
				sums[b.ColIdx[l]] = p
			}
		}
		first := len(c.ColIdx)
		for col := range sums {
			c.ColIdx = append(c.ColIdx, col)
		}
		slices.Sort(c.ColIdx[first:])
		for _, col := range c.ColIdx[first:] {
			c.Val = append(c.Val, sums[col])
		}
		c.RowPtr = append(c.RowPtr, int64(len(c.Val)))
	}
	return c
}

func requireMatrix(t *testing.T, want, got *sparse.CSR[float64]) {
	t.Helper()
	require.NoError(t, got.Validate())
	require.Equal(t, [2]int{want.Rows, want.Cols}, [2]int{got.Rows, got.Cols})
	require.True(t, slices.Equal(want.RowPtr, got.RowPtr))
	require.True(t, slices.Equal(want.ColIdx, got.ColIdx))
	for k, w := range want.Val {
		if math.Float64bits(w) != math.Float64bits(got.Val[k]) && !math.IsNaN(w+got.Val[k]-got.Val[k]) {
			require.Failf(t, "values", "entry %d: want %v, got %v", k, w, got.Val[k])
		}
		require.Equal(t, math.IsNaN(w), math.IsNaN(got.Val[k]), "entry %d", k)
	}
}

func TestMatrixProductsOnAllDevicesHaveTheSameBits(t *testing.T) {
	for _, devices := range []string{"cpu:1", "cpu:3", "sim:1", "sim:3"} {
		sys, err := Open(Config{Devices: devices, Threads: 4})
		require.NoError(t, err)
		for name, m := range productCases(t) {
			t.Run(devices+" "+name, func(t *testing.T) {
				a, b := m[0], m[1]
				formats := []sparse.Matrix[float64]{a, sparse.ToCSC[float64](a), sparse.ToCOO[float64](a)}
				if strings.HasPrefix(devices, "sim") { // slow
					formats = formats[:1]
				}
				for _, as := range formats {
					p, err := NewMatrixProduct(t.Context(), sys, as, sparse.Matrix[float64](b))
					require.NoError(t, err)
					want := plainMatrixProduct(a, b)
					requireMatrix(t, want, p.Result())
					valB := slices.Clone(b.Val)
					for k := range valB {
						valB[k] = float64(k) - 3.5
					}
					other := *b
					other.Val = valB
					require.NoError(t, p.UpdateValues(t.Context(), nil, valB))
					requireMatrix(t, plainMatrixProduct(a, &other), p.Result())
					valA := make([]float64, a.NNZ()) // in the order of the format of as
					require.NoError(t, p.UpdateValues(t.Context(), valA, b.Val))
					zero := *a
					zero.Val = valA
					requireMatrix(t, plainMatrixProduct(&zero, b), p.Result())
					require.NoError(t, p.Close())
				}
			})
		}
		require.NoError(t, sys.Close())
	}
}

func TestUpdatesOfAMatrixProductTakeValuesInTheOrderOfTheMatrix(t *testing.T) {
	sys := openCPUs(t)
	a := productCases(t)["uneven rows"][0]
	as := sparse.ToCSC[float64](a)
	at := as.Transpose()
	p, err := NewMatrixProduct(t.Context(), sys, sparse.Matrix[float64](as), sparse.Matrix[float64](at))
	require.NoError(t, err)
	val := slices.Clone(as.Val)
	for k := range val {
		val[k] += float64(k)
	}
	other := *as
	other.Val = val
	require.NoError(t, p.UpdateValues(t.Context(), val, val))
	requireMatrix(t, plainMatrixProduct(sparse.ToCSR[float64](&other), other.Transpose()), p.Result())
}

func openCPUs(t *testing.T) *System {
	sys, err := Open(Config{Devices: "cpu:2", Threads: 2})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sys.Close()) })
	return sys
}

func TestWrongArgumentsOfMatrixProductsAreRefused(t *testing.T) {
	sys := openCPUs(t)
	ctx := t.Context()
	a := &sparse.CSR[float64]{Rows: 2, Cols: 3, RowPtr: []int64{0, 1, 1}, ColIdx: []int32{0}, Val: []float64{1}}
	b := &sparse.CSR[float64]{Rows: 3, Cols: 2, RowPtr: []int64{0, 1, 1, 1}, ColIdx: []int32{0}, Val: []float64{1}}
	bad := &sparse.CSR[float64]{Rows: 2, Cols: 3, RowPtr: []int64{0, 1, 1}, ColIdx: []int32{3}, Val: []float64{1}}
	var none *sparse.CSR[float64]
	for want, f := range map[string]func() error{
		"B: 2 rows; A has 3 columns, so their product needs 3": func() error {
			_, err := SpGEMM[float64](ctx, a, a)
			return err
		},
		"A: is nil": func() error {
			_, err := SpGEMM[float64](ctx, none, b)
			return err
		},
		"B: is nil": func() error {
			_, err := SpGEMM[float64](ctx, a, nil)
			return err
		},
		"A: matrix: ": func() error {
			_, err := SpGEMM[float64](ctx, bad, b)
			return err
		},
		"system: is nil": func() error {
			_, err := NewMatrixProduct[float64](ctx, nil, a, b)
			return err
		},
		"ctx: is nil": func() error {
			var missing context.Context
			_, err := NewMatrixProduct[float64](missing, sys, a, b)
			return err
		},
		"b: 0 values: the matrix has 1 entries": func() error {
			p, err := NewMatrixProduct[float64](ctx, sys, a, b)
			require.NoError(t, err)
			return p.UpdateValues(ctx, nil, []float64{})
		},
	} {
		err := f()
		require.ErrorContains(t, err, want)
		require.True(t, sparse.IsInput(err), "%v", err)
	}
	var p *MatrixProduct[float64]
	require.Error(t, p.UpdateValues(ctx, nil, nil))
	require.NoError(t, p.Close())
}

func TestMatrixProductsEndWithTheirContextAndSystem(t *testing.T) {
	sys := openCPUs(t)
	a := productCases(t)["a stencil"][0]
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := NewMatrixProduct[float64](ended, sys, a, a)
	require.ErrorIs(t, err, context.Canceled)
	p, err := NewMatrixProduct[float64](t.Context(), sys, a, a)
	require.NoError(t, err)
	require.ErrorIs(t, p.UpdateValues(ended, a.Val, nil), context.Canceled)
	require.NoError(t, p.UpdateValues(t.Context(), a.Val, a.Val))
	require.NoError(t, sys.Close())
	require.ErrorIs(t, p.UpdateValues(t.Context(), a.Val, a.Val), ErrClosed)
	requireMatrix(t, plainMatrixProduct(a, a), p.Result())
	_, err = NewMatrixProduct[float64](t.Context(), sys, a, a)
	require.ErrorIs(t, err, ErrClosed)
}

func TestMatrixProductsMayBeUsedByManyGoroutines(t *testing.T) {
	sys := openCPUs(t)
	a := productCases(t)["a stencil"][0]
	p, err := NewMatrixProduct[float64](t.Context(), sys, a, a)
	require.NoError(t, err)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if err := p.UpdateValues(t.Context(), a.Val, nil); err != nil {
				t.Error(err)
			}
			c, err := SpGEMM[float64](t.Context(), a, a)
			if err != nil || c.NNZ() != p.Result().NNZ() {
				t.Errorf("%v, %d entries", err, c.NNZ())
			}
			_ = p.Info()
		})
	}
	wait.Wait()
}

func TestAMatrixProductBeyondMemoryIsRefused(t *testing.T) {
	sys := openCPUs(t)
	a, _, err := gen.Generate("powerlaw:rows=20000,nnz=400000")
	require.NoError(t, err)
	before := mem.Mapped()
	end := sync.OnceFunc(mem.SetAvailable(6 << 20))
	defer end()
	_, err = NewMatrixProduct[float64](t.Context(), sys, a, a)
	require.True(t, sparse.IsInput(err), "%v", err)
	require.Equal(t, before, mem.Mapped())
}

func ExampleSpGEMM() {
	a, err := sparse.NewCSR(2, 2, []int64{0, 1, 3}, []int32{1, 0, 1}, []float64{2, 3, 4})
	if err != nil {
		panic(err)
	}
	c, err := SpGEMM[float64](context.Background(), a, a)
	if err != nil {
		panic(err)
	}
	fmt.Println(c.RowPtr, c.ColIdx, c.Val)
	// Output: [0 2 4] [0 1 0 1] [6 8 12 22]
}
