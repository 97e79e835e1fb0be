package hb

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/sparse"
)

// Write writes m in Rutherford-Boeing format. Reading it again gives the same
// bits; values are written with as few digits as that allows, 17 at most.
//
// src says what the file should hold: a pattern if src.Field is Pattern, integers
// if it is Integer, one triangle if src.Symmetry says so. Where m does not have
// that property the file holds all entries, or real values. Entries of m with the
// same position are added up, since the format has none.
//
// Errors are those of m.Validate and of w.
func Write(w io.Writer, m *sparse.CSR[float64], src sparse.Source) error {
	if err := given.Check("writer", w); err != nil {
		return err
	}
	if err := m.Validate(); err != nil {
		return err
	}
	m = canonical(m)
	c := columnsOf(m)
	symmetry := sparse.General
	if c.has(src.Symmetry, m) {
		symmetry = src.Symmetry
		c.keepLower()
	}
	out := writer{w: bufio.NewWriterSize(w, 1<<16)}
	out.matrix(m, c, c.field(src.Field), symmetry)
	if out.err == nil {
		out.err = out.w.Flush()
	}
	return out.err
}

// canonical is m with sorted rows and without duplicates.
func canonical(m *sparse.CSR[float64]) *sparse.CSR[float64] {
	rising := true
	for i := range m.Rows {
		for k := m.RowPtr[i] + 1; k < m.RowPtr[i+1]; k++ {
			rising = rising && m.ColIdx[k-1] < m.ColIdx[k]
		}
	}
	if rising {
		return m
	}
	blocks := []sparse.Triples[float64]{{Row: sparse.ToCOO[float64](m).RowIdx, Col: slices.Clone(m.ColIdx), Val: slices.Clone(m.Val)}}
	return sparse.Assemble(m.Rows, m.Cols, sparse.General, blocks)
}

// columns is a matrix as the file will have it.
type columns struct {
	ptr []int64 // 1-based
	row []int32 // 0-based
	val []float64
}

// columnsOf compresses the columns of m.
func columnsOf(m *sparse.CSR[float64]) *columns {
	c := &columns{ptr: make([]int64, m.Cols+1), row: make([]int32, m.NNZ()), val: make([]float64, m.NNZ())}
	next := make([]int64, m.Cols) // where the next entry of each column goes
	for _, j := range m.ColIdx {
		next[j]++
	}
	c.ptr[0] = 1
	for j, n := range next {
		c.ptr[j+1] = c.ptr[j] + n
		next[j] = c.ptr[j] - 1
	}
	for i := range m.Rows {
		for k := m.RowPtr[i]; k < m.RowPtr[i+1]; k++ {
			j := m.ColIdx[k]
			c.row[next[j]], c.val[next[j]] = int32(i), m.Val[k]
			next[j]++
		}
	}
	return c
}

// has reports whether m, whose columns are c, is symmetric or skew-symmetric to
// the bit.
func (c *columns) has(s sparse.Symmetry, m *sparse.CSR[float64]) bool {
	if s != sparse.Symmetric && s != sparse.SkewSymmetric || m.Rows != m.Cols {
		return false
	}
	for i := range m.Rows {
		if m.RowPtr[i] != c.ptr[i]-1 {
			return false
		}
	}
	for i := range m.Rows {
		for k := m.RowPtr[i]; k < m.RowPtr[i+1]; k++ {
			want := m.Val[k]
			if s == sparse.SkewSymmetric {
				if int(m.ColIdx[k]) != i {
					want = -want
				} else if want != 0 {
					return false
				}
			}
			if c.row[k] != m.ColIdx[k] || math.Float64bits(c.val[k]) != math.Float64bits(want) {
				return false
			}
		}
	}
	return true
}

// keepLower drops the entries above the diagonal.
func (c *columns) keepLower() {
	n := int64(0)
	for j := range len(c.ptr) - 1 {
		lo, hi := c.ptr[j]-1, c.ptr[j+1]-1
		c.ptr[j] = n + 1
		for k := lo; k < hi; k++ {
			if int(c.row[k]) >= j {
				c.row[n], c.val[n] = c.row[k], c.val[k]
				n++
			}
		}
	}
	c.ptr[len(c.ptr)-1] = n + 1
	c.row, c.val = c.row[:n], c.val[:n]
}

// field is want if the values allow it, Real otherwise.
func (c *columns) field(want sparse.Field) sparse.Field {
	var fits func(v float64) bool
	switch want {
	case sparse.Pattern:
		fits = func(v float64) bool { return v == 1 }
	case sparse.Integer: // what a 64-bit integer holds
		fits = func(v float64) bool { return v == math.Trunc(v) && math.Abs(v) <= 1<<62 }
	default:
		return sparse.Real
	}
	for _, v := range c.val {
		if !fits(v) {
			return sparse.Real
		}
	}
	return want
}

// writer keeps the first error of w.
type writer struct {
	w   *bufio.Writer
	err error
}

// lineWidth is the width that Fortran programs of old expect at most.
const lineWidth = 80

func (o *writer) matrix(m *sparse.CSR[float64], c *columns, field sparse.Field, s sparse.Symmetry) {
	nnz := int64(len(c.row))
	pointers := intColumns(nnz + 1)
	indices := intColumns(int64(m.Rows))
	letter, values := typeOf(field, s, m.Rows == m.Cols), numberColumns{}
	switch field {
	case sparse.Real:
		values = realColumns(c.val)
	case sparse.Integer:
		values = wholeColumns(c.val)
	}
	lines := [3]int64{pointers.lines(int64(len(c.ptr))), indices.lines(nnz), values.lines(nnz)}
	o.printf("%-72s%-8s\n", "Sparse matrix", "msrep")
	o.printf("%14d%14d%14d%14d\n", lines[0]+lines[1]+lines[2], lines[0], lines[1], lines[2])
	o.printf("%-14s%14d%14d%14d%14d\n", letter, m.Rows, m.Cols, nnz, 0)
	o.printf("%-16s%-16s%-20s\n", pointers.format, indices.format, values.format)
	o.numbers(len(c.ptr), pointers, func(b []byte, k int) []byte { return strconv.AppendInt(b, c.ptr[k], 10) })
	o.numbers(len(c.row), indices, func(b []byte, k int) []byte { return strconv.AppendInt(b, int64(c.row[k])+1, 10) })
	switch field {
	case sparse.Real:
		o.numbers(len(c.val), values, func(b []byte, k int) []byte {
			return strconv.AppendFloat(b, c.val[k], 'E', values.decimals, 64)
		})
	case sparse.Integer:
		o.numbers(len(c.val), values, func(b []byte, k int) []byte {
			return strconv.AppendFloat(b, c.val[k], 'f', -1, 64)
		})
	}
}

func (o *writer) printf(format string, args ...any) {
	if o.err == nil {
		_, o.err = fmt.Fprintf(o.w, format, args...)
	}
}

// numbers writes n numbers right-aligned in their columns.
func (o *writer) numbers(n int, c numberColumns, text func(b []byte, k int) []byte) {
	var number, line []byte
	for k := 0; k < n && o.err == nil; {
		line = line[:0]
		for i := 0; i < c.perLine && k < n; i++ {
			number = text(number[:0], k)
			for range c.width - len(number) {
				line = append(line, ' ')
			}
			line = append(line, number...)
			k++
		}
		_, o.err = o.w.Write(append(line, '\n'))
	}
}

// typeOf is the three letters of the type.
func typeOf(f sparse.Field, s sparse.Symmetry, square bool) string {
	field := map[sparse.Field]string{sparse.Real: "r", sparse.Integer: "i", sparse.Pattern: "p"}[f]
	switch {
	case s == sparse.Symmetric:
		return field + "sa"
	case s == sparse.SkewSymmetric:
		return field + "za"
	case square:
		return field + "ua"
	}
	return field + "ra"
}
