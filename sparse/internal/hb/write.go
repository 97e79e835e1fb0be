package hb

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/number"
	"github.com/msrep-go/msrep/internal/source"
	"github.com/msrep-go/msrep/sparse"
)

// Write writes m in Rutherford-Boeing format. Read returns the same bits again: values
// have as few digits as that allows, at most 17.
//
// src describes the content of the file: a pattern if src.Field is Pattern, integers if it
// is Integer, one triangle if src.Symmetry is not General. If the values do not fit the
// field, Write writes real values; if m does not have the symmetry, it writes all entries.
// It adds entries of m with the same position, because the format has no duplicates.
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
	c, symmetry := sparse.ToCSC[float64](m), sparse.General
	if _, ok := source.Mirrored(m, src.Symmetry); ok {
		symmetry = src.Symmetry
		keepLower(c)
	}
	out := writer{w: bufio.NewWriterSize(w, 1<<16)}
	out.matrix(c, source.Field(c.Val, src.Field), symmetry)
	if out.err == nil {
		out.err = out.w.Flush()
	}
	return out.err
}

// canonical returns m with sorted rows and without duplicates.
func canonical(m *sparse.CSR[float64]) *sparse.CSR[float64] {
	if source.Rising(m.RowPtr, m.ColIdx) {
		return m
	}
	chunks := []sparse.Triples[float64]{{Row: sparse.ToCOO[float64](m).RowIdx, Col: slices.Clone(m.ColIdx), Val: slices.Clone(m.Val)}}
	return sparse.Assemble(m.Rows, m.Cols, sparse.General, chunks)
}

// keepLower removes the entries above the diagonal.
func keepLower(c *sparse.CSC[float64]) {
	n := int64(0)
	for j := range c.Cols {
		lo, hi := c.ColPtr[j], c.ColPtr[j+1]
		c.ColPtr[j] = n
		for k := lo; k < hi; k++ {
			if int(c.RowIdx[k]) >= j {
				c.RowIdx[n], c.Val[n] = c.RowIdx[k], c.Val[k]
				n++
			}
		}
	}
	c.ColPtr[c.Cols] = n
	c.RowIdx, c.Val = c.RowIdx[:n], c.Val[:n]
}

// writer keeps the first error of w.
type writer struct {
	w   *bufio.Writer
	err error
}

// lineWidth is the largest line width that old Fortran programs accept.
const lineWidth = 80

func (o *writer) matrix(c *sparse.CSC[float64], field sparse.Field, s sparse.Symmetry) {
	nnz := c.NNZ()
	pointers := intColumns(nnz + 1)
	indices := intColumns(int64(c.Rows))
	letter, values := typeOf(field, s, c.Rows == c.Cols), numberColumns{}
	switch field {
	case sparse.Real:
		values = realColumns(c.Val)
	case sparse.Integer:
		values = wholeColumns(c.Val)
	}
	lines := [3]int64{pointers.lines(int64(len(c.ColPtr))), indices.lines(nnz), values.lines(nnz)}
	o.printf("%-72s%-8s\n", "Sparse matrix", "msrep")
	o.printf("%14d%14d%14d%14d\n", lines[0]+lines[1]+lines[2], lines[0], lines[1], lines[2])
	o.printf("%-14s%14d%14d%14d%14d\n", letter, c.Rows, c.Cols, nnz, 0)
	o.printf("%-16s%-16s%-20s\n", pointers.format, indices.format, values.format)
	o.numbers(len(c.ColPtr), pointers, func(b []byte, k int) []byte { return strconv.AppendInt(b, c.ColPtr[k]+1, 10) })
	o.numbers(len(c.RowIdx), indices, func(b []byte, k int) []byte { return strconv.AppendInt(b, int64(c.RowIdx[k])+1, 10) })
	switch field {
	case sparse.Real:
		o.numbers(len(c.Val), values, func(b []byte, k int) []byte {
			return number.Append(b, c.Val[k], 'E', values.decimals)
		})
	case sparse.Integer:
		o.numbers(len(c.Val), values, func(b []byte, k int) []byte {
			return strconv.AppendInt(b, int64(c.Val[k]), 10)
		})
	}
}

func (o *writer) printf(format string, args ...any) {
	if o.err == nil {
		_, o.err = fmt.Fprintf(o.w, format, args...)
	}
}

// numbers writes n right-aligned numbers.
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

// typeOf returns the three letters of the type.
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
