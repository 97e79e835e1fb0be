package hb

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
)

func written(t require.TestingT, m *sparse.CSR[float64], src sparse.Source) string {
	var b bytes.Buffer
	require.NoError(t, Write(&b, m, src))
	return b.String()
}

func TestAWrittenFileKeepsToTheColumnsOfTheFormat(t *testing.T) {
	m, src, err := read(small().String())
	require.NoError(t, err)
	want := []string{
		fmt.Sprintf("%-72s%-8s", "Sparse matrix", "msrep"),
		"             3             1             1             1",
		"rua                        3             3             5             0",
		"(40I2)          (40I2)          (8E10.1)            ",
		" 1 3 4 6",
		" 1 3 2 1 3",
		"   1.0E+00   2.0E+00   3.0E+00   4.0E+00   5.0E+00",
		"",
	}
	require.Equal(t, want, strings.Split(written(t, m, src), "\n"))
}

func TestWritingAndReadingGivesTheSameBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		symmetry := rapid.SampledFrom([]sparse.Symmetry{sparse.General, sparse.Symmetric, sparse.SkewSymmetric}).Draw(t, "symmetry")
		field := rapid.SampledFrom([]sparse.Field{sparse.Real, sparse.Integer, sparse.Pattern}).Draw(t, "field")
		rows := rapid.IntRange(0, 40).Draw(t, "rows")
		cols := rows
		if symmetry == sparse.General {
			cols = rapid.IntRange(0, 40).Draw(t, "cols")
		}
		value := rapid.Float64()
		switch field {
		case sparse.Integer:
			value = rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.Int64Range(-1<<60, 1<<60).Draw(t, "i")) })
		case sparse.Pattern:
			value = rapid.Just(1.0)
		}
		var b sparse.Triples[float64]
		seen := map[[2]int]bool{}
		if rows > 0 && cols > 0 {
			for range rapid.IntRange(0, 120).Draw(t, "entries") {
				i, j := rapid.IntRange(0, rows-1).Draw(t, "i"), rapid.IntRange(0, cols-1).Draw(t, "j")
				if symmetry != sparse.General && i < j {
					i, j = j, i
				}
				if seen[[2]int{i, j}] || symmetry == sparse.SkewSymmetric && i == j {
					continue
				}
				seen[[2]int{i, j}] = true
				b.Row, b.Col, b.Val = append(b.Row, int32(i)), append(b.Col, int32(j)), append(b.Val, value.Draw(t, "v"))
			}
		}
		stored := int64(len(b.Row))
		m := sparse.Assemble(rows, cols, symmetry, []sparse.Triples[float64]{b})
		src := sparse.Source{Field: field, Symmetry: symmetry, Stored: stored}
		got, gotSrc, err := read(written(t, m, src))
		require.NoError(t, err)
		matrixtest.SameText(t, m, got)
		require.Equal(t, src, gotSrc)
	})
}

func TestExtremeValuesSurvive(t *testing.T) {
	val := []float64{0, math.Copysign(0, -1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64,
		2.2250738585072014e-308, math.Inf(1), math.Inf(-1), math.NaN(), 0.1, 1.0 / 3, -1e-300, 1 << 53}
	idx := make([]int32, len(val))
	for k := range idx {
		idx[k] = int32(k)
	}
	m, err := sparse.NewCSR(1, len(val), []int64{0, int64(len(val))}, idx, val)
	require.NoError(t, err)
	got, src, err := read(written(t, m, sparse.Source{Field: sparse.Integer}))
	require.NoError(t, err)
	matrixtest.SameText(t, m, got)
	require.Equal(t, sparse.Real, src.Field)
}

// The nearest decimal of as many digits as the shortest has may be nearer to a neighbour.
func TestEveryPowerOfTwoSurvives(t *testing.T) {
	for e := -1074; e <= 1023; e++ {
		v := math.Ldexp(1, e)
		for _, other := range []float64{v, 1234567890.12345, 12345678901.23456} { // 15 and 16 digits
			m := &sparse.CSR[float64]{Rows: 1, Cols: 2, RowPtr: []int64{0, 2}, ColIdx: []int32{0, 1}, Val: []float64{v, other}}
			got, _, err := read(written(t, m, sparse.Source{}))
			require.NoError(t, err)
			matrixtest.SameText(t, m, got)
		}
	}
}

func TestPropertiesThatAMatrixDoesNotHaveAreNotWritten(t *testing.T) {
	csr := func(rows, cols int, ptr []int64, idx []int32, val []float64) *sparse.CSR[float64] {
		m, err := sparse.NewCSR(rows, cols, ptr, idx, val)
		require.NoError(t, err)
		return m
	}
	square := func(diagonal, upper, lower float64) *sparse.CSR[float64] {
		return csr(2, 2, []int64{0, 2, 3}, []int32{0, 1, 0}, []float64{diagonal, upper, lower})
	}
	for _, c := range []struct {
		m    *sparse.CSR[float64]
		src  sparse.Source
		want string
	}{
		{square(1, 2, 2), sparse.Source{Field: sparse.Real, Symmetry: sparse.Symmetric}, "rsa"},
		{square(1, 2, 2), sparse.Source{Field: sparse.Integer, Symmetry: sparse.Symmetric}, "isa"},
		{square(1, 2, 2), sparse.Source{Field: sparse.Pattern, Symmetry: sparse.Symmetric}, "rsa"},
		{square(1, 1, 1), sparse.Source{Field: sparse.Pattern, Symmetry: sparse.Symmetric}, "psa"},
		{square(1.5, 2, 2), sparse.Source{Field: sparse.Integer, Symmetry: sparse.Symmetric}, "rsa"},
		{square(1, 2, 3), sparse.Source{Field: sparse.Real, Symmetry: sparse.Symmetric}, "rua"},
		{square(0, 2, -2), sparse.Source{Field: sparse.Real, Symmetry: sparse.SkewSymmetric}, "rza"},
		{square(0, 2, 2), sparse.Source{Field: sparse.Real, Symmetry: sparse.SkewSymmetric}, "rua"},
		{square(1, 2, -2), sparse.Source{Field: sparse.Real, Symmetry: sparse.SkewSymmetric}, "rua"},
		{square(1e19, 2, 2), sparse.Source{Field: sparse.Integer}, "rua"},
		{square(1<<62, 2, math.Copysign(0, -1)), sparse.Source{Field: sparse.Integer}, "rua"}, // an integer zero has no sign
		{csr(2, 2, []int64{0, 2, 2}, []int32{0, 1}, []float64{1, 2}), sparse.Source{Symmetry: sparse.Symmetric}, "rua"},
		{csr(1, 2, []int64{0, 1}, []int32{0}, []float64{1}), sparse.Source{Symmetry: sparse.Symmetric}, "rra"},
		// Unsorted and doubled entries are put in order first.
		{csr(2, 2, []int64{0, 3, 4}, []int32{1, 0, 1, 0}, []float64{1, 5, 1, 2}), sparse.Source{Symmetry: sparse.Symmetric}, "rsa"},
		{csr(2, 2, []int64{0, 3, 4}, []int32{0, 1, 1, 0}, []float64{5, 1, 1, 2}), sparse.Source{Symmetry: sparse.Symmetric}, "rsa"},
	} {
		text := written(t, c.m, c.src)
		require.Equal(t, c.want, strings.Split(text, "\n")[2][:3])
		got, _, err := read(text)
		require.NoError(t, err)
		require.Equal(t, matrixtest.Dense(c.m), matrixtest.Dense(got))
	}
}

func TestWriteRefusesAnInvalidMatrix(t *testing.T) {
	require.True(t, sparse.IsInput(Write(&bytes.Buffer{}, nil, sparse.Source{})))
	bad := &sparse.CSR[float64]{Rows: 1, Cols: 1, RowPtr: []int64{0, 1}, ColIdx: []int32{7}, Val: []float64{1}}
	require.True(t, sparse.IsInput(Write(&bytes.Buffer{}, bad, sparse.Source{})))
}

func TestWritePassesOnTheErrorOfItsWriter(t *testing.T) {
	m, src, err := read(bigFile(20000))
	require.NoError(t, err)
	require.ErrorIs(t, Write(full{}, m, src), errFull)
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
