package cluster

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/spgemm"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// gathered returns a matrix over n ranks as one matrix.
func gathered[V sparse.Value](t require.TestingT, n int, f func(sys *System) (*Matrix[V], error)) *sparse.CSR[V] {
	var got *sparse.CSR[V]
	each(t, n, func(sys *System) error {
		m, err := f(sys)
		if err != nil {
			return err
		}
		require.Equal(t, m.RowCut[m.rank+1]-m.RowCut[m.rank], m.Part.Rows)
		whole, err := m.whole(sys.Comm())
		if err == nil && whole.NNZ() != m.NNZ {
			err = errors.New("another number of entries")
		}
		if sys.Comm().Rank() == 0 {
			got = whole
		}
		return err
	})
	return got
}

// requireEqualBits compares shapes, structure and the bits of values.
func requireEqualBits(t require.TestingT, want, got *sparse.CSR[float64]) {
	require.Equal(t, []int{want.Rows, want.Cols}, []int{got.Rows, got.Cols})
	require.Equal(t, want.RowPtr, got.RowPtr)
	require.Equal(t, len(want.ColIdx), len(got.ColIdx))
	for k := range want.ColIdx {
		require.Equal(t, want.ColIdx[k], got.ColIdx[k])
		require.Equal(t, math.Float64bits(want.Val[k]), math.Float64bits(got.Val[k]))
	}
}

func TestProductsOfMatricesHaveTheBitsOfOneProcess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := randomMatrix[float64](t), randomMatrix[float64](t)
		b = &sparse.CSR[float64]{Rows: a.Cols, Cols: b.Cols, RowPtr: resized(b.RowPtr, a.Cols+1), ColIdx: b.ColIdx, Val: b.Val}
		b.ColIdx, b.Val = b.ColIdx[:b.RowPtr[b.Rows]], b.Val[:b.RowPtr[b.Rows]]
		n := rapid.IntRange(1, 4).Draw(t, "ranks")
		want, err := spgemm.Multiply(a, b, nil)
		require.NoError(t, err)
		requireEqualBits(t, want, gathered(t, n, func(sys *System) (*Matrix[float64], error) {
			left, err := Slice(sys.Comm(), a, 1)
			require.NoError(t, err)
			right, err := Slice(sys.Comm(), b, 1)
			require.NoError(t, err)
			return Multiply(sys, left, right)
		}))
	})
}

// resized returns ptr with n elements: the first ones, or its last one repeated.
func resized(ptr []int64, n int) []int64 {
	out := append([]int64(nil), ptr[:min(n, len(ptr))]...)
	for len(out) < n {
		out = append(out, out[len(out)-1])
	}
	return out
}

func TestGalerkinProductsHaveTheBitsOfOneProcess(t *testing.T) {
	a, _, err := gen.Generate("stencil:dims=2,n=20")
	require.NoError(t, err)
	p := &sparse.CSR[float64]{Rows: 400, Cols: 50, RowPtr: []int64{0}}
	for i := range 400 {
		for k := range i % 4 {
			p.ColIdx, p.Val = append(p.ColIdx, int32((i/8+17*k)%50)), append(p.Val, float64(i%13)/7)
		}
		p.RowPtr = append(p.RowPtr, int64(len(p.Val)))
	}
	want, err := spgemm.Triple(spgemm.Transpose(p, nil), a, p, nil)
	require.NoError(t, err)
	for _, n := range []int{1, 2, 3, 7} {
		requireEqualBits(t, want, gathered(t, n, func(sys *System) (*Matrix[float64], error) {
			m, err := Slice(sys.Comm(), a, 1)
			require.NoError(t, err)
			q := &Matrix[float64]{Rows: p.Rows, Cols: p.Cols, NNZ: p.NNZ(), RowCut: m.RowCut, ColCut: columnCuts(m.RowCut, p.Rows, p.Cols), Part: window(p, m.First(), m.First()+m.Part.Rows), rank: m.rank}
			r, err := q.Transpose(sys.Comm())
			require.NoError(t, err)
			return triple(sys, r, m, q)
		}))
	}
}

func TestSumsOfMatricesAreThoseOfOneProcess(t *testing.T) {
	a, _, err := gen.Generate("stencil:dims=2,n=20")
	require.NoError(t, err)
	b, _, err := gen.Generate("banded:n=400,band=3")
	require.NoError(t, err)
	want, err := sparse.Add(2, a, -0.5, b)
	require.NoError(t, err)
	for _, n := range []int{1, 2, 3} {
		requireEqualBits(t, want, gathered(t, n, func(sys *System) (*Matrix[float64], error) {
			left, err := Slice(sys.Comm(), a, 20)
			require.NoError(t, err)
			right := &Matrix[float64]{Rows: b.Rows, Cols: b.Cols, NNZ: b.NNZ(), RowCut: left.RowCut, ColCut: left.ColCut, Part: window(b, left.First(), left.First()+left.Part.Rows), rank: left.rank}
			return Add(sys, 2, left, -0.5, right)
		}))
	}
}

func TestAllRanksGetTheErrorOfAProduct(t *testing.T) {
	a, _, err := gen.Generate("stencil:dims=2,n=5")
	require.NoError(t, err)
	wide := &sparse.CSR[float64]{Rows: 24, Cols: 25, RowPtr: make([]int64, 25)}
	for name, f := range map[string]func(sys *System, m *Matrix[float64]) error{
		"shapes": func(sys *System, m *Matrix[float64]) error {
			b, err := Slice(sys.Comm(), wide, 1)
			require.NoError(t, err)
			_, err = Multiply(sys, m, b)
			return err
		},
		"sums": func(sys *System, m *Matrix[float64]) error {
			b, err := Slice(sys.Comm(), wide, 1)
			require.NoError(t, err)
			_, err = Add(sys, 1, m, 1, b)
			return err
		},
		"no matrix on one rank": func(sys *System, m *Matrix[float64]) error {
			if m.rank == 1 {
				m = nil
			}
			_, err := Multiply(sys, m, m)
			return err
		},
		"a column that is out of range on one rank": func(sys *System, m *Matrix[float64]) error {
			if m.rank == 2 {
				m.Part.ColIdx[0] = 25
			}
			_, err := Multiply(sys, m, m)
			return err
		},
		"a matrix of another number of ranks": func(sys *System, m *Matrix[float64]) error {
			b, err := Slice(Local(1)[0], a, 1)
			require.NoError(t, err)
			_, err = Multiply(sys, m, b)
			return err
		},
	} {
		for r, err := range Run(3, func(c Comm) error {
			return withSystem(c, func(sys *System) error {
				m, err := Slice(c, a, 1)
				require.NoError(t, err)
				return f(sys, m)
			})
		}) {
			require.True(t, sparse.IsInput(err), "%s, rank %d: %v", name, r, err)
			require.True(t, Agreed(err), "%s, rank %d: %v", name, r, err)
		}
	}
}
