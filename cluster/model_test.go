package cluster

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// requireModelled multiplies over n ranks and compares the messages with the model.
func requireModelled(t require.TestingT, a *sparse.CSR[float64], n int) {
	e, err := Model(a, n, 1, 8)
	require.NoError(t, err)
	for _, op := range []msrep.Transpose{msrep.NoTrans, msrep.Trans} {
		rows, cols := a.Rows, a.Cols
		if op == msrep.Trans {
			rows, cols = cols, rows
		}
		_, sent, counts := multiplied(t, n, a, msrep.PlanOptions{Expected: msrep.Expected{Products: 1}}, 1, op, 1, make([]float64, cols), 0, make([]float64, rows))
		var bytes, messages int64
		for r := range sent {
			bytes, messages = bytes+sent[r], messages+counts[r]
		}
		require.Equal(t, e.Bytes, bytes, "%d ranks", n)
		require.Equal(t, e.Messages, messages, "%d ranks", n)
		if op == msrep.NoTrans {
			require.Equal(t, e.MaxBytes, slices.Max(sent), "%d ranks", n)
			require.Equal(t, int64(e.MaxPeers), slices.Max(counts), "%d ranks", n)
		}
	}
}

func TestProductsSendTheModelledMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requireModelled(t, randomMatrix[float64](t), rapid.IntRange(1, 9).Draw(t, "ranks"))
	})
	for _, name := range []string{"memplus", "gre_343"} {
		m, err := matio.Read(ctx, corpus.Testdata(name+".mtx.gz"))
		require.NoError(t, err)
		for _, n := range []int{1, 2, 4, 16} {
			requireModelled(t, m.CSR, n)
		}
	}
}

func TestTheModelOfAGridIsItsBorders(t *testing.T) {
	m, err := matio.Read(ctx, "gen:stencil:dims=2,n=64")
	require.NoError(t, err)
	e, err := Model(m.CSR, 4, 64, 8) // four strips of 16 lines each
	require.NoError(t, err)
	require.Equal(t, int64(6*64*8), e.Bytes, "three borders, both ways, of 64 elements of 8 bytes")
	require.Equal(t, int64(6), e.Messages)
	require.Equal(t, int64(2*64), e.MaxHalo)
	require.Equal(t, 2, e.MaxPeers)
	require.InDelta(t, 1, e.Imbalance, 0.05)
	nnz := float64(5*64*64 - 4*64)
	require.Equal(t, (nnz-6*64)/nnz, e.Local)
}

func TestDiagonalBlocksAreThoseOfTheRanksRows(t *testing.T) {
	a, err := sparse.NewCSR(4, 4, []int64{0, 4, 8, 12, 16}, slices.Repeat([]int32{0, 1, 2, 3}, 4), slices.Repeat([]float64{1, 2, 3, 4}, 4))
	require.NoError(t, err)
	each(t, 2, func(sys *System) error {
		m, err := Slice(sys.Comm(), a, 2)
		if err != nil {
			return err
		}
		first := float64(m.First())
		blocks, single := m.diagonal(2), m.diagonal(1)
		require.Equal(t, []int32{0, 1, 0, 1}, blocks.ColIdx)
		require.Equal(t, []float64{first + 1, first + 2, first + 1, first + 2}, blocks.Val)
		require.Equal(t, []float64{first + 1, first + 2}, single.Val)
		return errors.Join(blocks.Validate(), single.Validate())
	})
}

func TestModelRefusesInvalidMatrices(t *testing.T) {
	for _, a := range []*sparse.CSR[float64]{
		{Rows: 1, Cols: 3, RowPtr: []int64{0, 2}, ColIdx: []int32{100, 2}, Val: []float64{1, 1}},
		{Rows: 1, Cols: math.MaxInt, RowPtr: []int64{0, 1}, ColIdx: []int32{0}, Val: []float64{1}},
		{Rows: 2, Cols: 2, RowPtr: []int64{0, 7}},
		nil,
	} {
		_, err := Model(a, 2, 1, 8)
		require.True(t, sparse.IsInput(err), "%v", err)
	}
}
