// Package matrixtest compares matrices in tests of file formats, and reads expected ones.
package matrixtest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// Same requires that two matrices agree bit by bit.
func Same[V sparse.Value](t require.TestingT, want, got *sparse.CSR[V]) {
	samePlaces(t, want, got)
	require.True(t, bytes.Equal(mem.Bytes(want.Val), mem.Bytes(got.Val)), "values differ")
}

// SameText is Same except that any two NaNs are equal: text does not store the bits of a
// NaN.
func SameText(t require.TestingT, want, got *sparse.CSR[float64]) {
	samePlaces(t, want, got)
	for k, v := range want.Val {
		same := math.Float64bits(v) == math.Float64bits(got.Val[k]) || math.IsNaN(v) && math.IsNaN(got.Val[k])
		require.True(t, same, "value %d: %v became %v", k, v, got.Val[k])
	}
}

// samePlaces requires the same dimensions and the same positions of the entries.
func samePlaces[V sparse.Value](t require.TestingT, want, got *sparse.CSR[V]) {
	require.Equal(t, [2]int{want.Rows, want.Cols}, [2]int{got.Rows, got.Cols})
	require.True(t, slices.Equal(want.RowPtr, got.RowPtr), "row pointers differ")
	require.True(t, slices.Equal(want.ColIdx, got.ColIdx), "column indices differ")
	require.Len(t, got.Val, len(want.Val))
}

// Dense returns m as a dense matrix, one slice per row.
func Dense(m *sparse.CSR[float64]) [][]float64 {
	d := make([][]float64, m.Rows)
	for i := range d {
		d[i] = make([]float64, m.Cols)
		for k := m.RowPtr[i]; k < m.RowPtr[i+1]; k++ {
			d[i][m.ColIdx[k]] += m.Val[k]
		}
	}
	return d
}

// Entries lists the entries of a matrix as "row,column=value", with indices from 0.
func Entries(m *sparse.CSR[float64]) string {
	var s []string
	for i := range m.Rows {
		for k := m.RowPtr[i]; k < m.RowPtr[i+1]; k++ {
			s = append(s, fmt.Sprintf("%d,%d=%v", i, m.ColIdx[k], m.Val[k]))
		}
	}
	return strings.Join(s, " ")
}

// ReadMatrixMarket reads a well-formed gzipped coordinate file with simple code that is
// independent of package mtx.
func ReadMatrixMarket(t testing.TB, path string) *sparse.CSR[float64] {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	in := bufio.NewScanner(z)
	in.Scan()
	banner := strings.Fields(in.Text())
	for in.Scan() && strings.HasPrefix(in.Text(), "%") {
	}
	var rows, cols, n int
	_, err = fmt.Sscan(in.Text(), &rows, &cols, &n)
	require.NoError(t, err)
	var b sparse.Triples[float64]
	for range n {
		require.True(t, in.Scan())
		w := append(strings.Fields(in.Text()), "1")
		i, err1 := strconv.ParseInt(w[0], 10, 32)
		j, err2 := strconv.ParseInt(w[1], 10, 32)
		v, err3 := strconv.ParseFloat(w[2], 64)
		require.NoError(t, errors.Join(err1, err2, err3))
		b.Row, b.Col, b.Val = append(b.Row, int32(i-1)), append(b.Col, int32(j-1)), append(b.Val, v)
	}
	return sparse.Assemble(rows, cols, sparse.Symmetry(banner[4]), []sparse.Triples[float64]{b})
}
