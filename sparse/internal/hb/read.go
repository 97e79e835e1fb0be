package hb

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/number"
	"github.com/msrep-go/msrep/internal/source"
	"github.com/msrep-go/msrep/sparse"
)

// Read reads a matrix in Harwell-Boeing or Rutherford-Boeing format. It sorts rows, expands
// the stored triangle of a symmetric matrix, and adds entries that are stored twice. It
// keeps entries whose value is zero and skips right-hand sides. Values beyond the range of
// float64 become infinite. Integers that float64 cannot hold become the nearest float64,
// and the field real. Source.Note reports both.
//
// name stands for the file in errors. Invalid input gives an *sparse.InputError. If ctx
// is cancelled, Read returns its error.
func Read(ctx context.Context, r io.Reader, name string, lim sparse.Limits) (*sparse.CSR[float64], sparse.Source, error) {
	if err := given.Input(ctx, r); err != nil {
		return nil, sparse.Source{}, err
	}
	t := newText(ctx, r, name)
	h, err := readHeader(t, lim)
	if err != nil {
		return nil, sparse.Source{}, err
	}
	c, err := readStored(t, h, lim)
	if err != nil {
		return nil, sparse.Source{}, err
	}
	if err := drain(t, h.rightSides); err != nil {
		return nil, sparse.Source{}, err
	}
	chunks, err := c.triples(h, name)
	if err != nil {
		return nil, sparse.Source{}, err
	}
	src := sparse.Source{Field: h.field, Symmetry: h.symmetry, Stored: h.nnz}
	c.inexact.Apply(&src)
	return sparse.Assemble(int(h.rows), int(h.cols), h.symmetry, chunks), src, nil
}

// readStored reads the three sections of numbers.
func readStored(t *text, h *header, lim sparse.Limits) (*stored, error) {
	c := &stored{}
	line := t.line
	pointers := section[int64]{t, "column pointer", h.cols + 1, h.pointers, func(b []byte, _ *field, _ int64) (int64, error) {
		return number.Int(b)
	}}
	if err := pointers.read(c.placePointers(h.cols + 1)); err != nil {
		return nil, err
	}
	if err := checkPointers(c.ptr, h, t.name, line); err != nil {
		return nil, err
	}
	if err := lim.CheckMemory(t.name, line, h.rows, h.nnz, sparse.TripleBytes); err != nil {
		return nil, err
	}
	c.rowLine = t.line
	rows := h.rows
	indices := section[int32]{t, "row index", h.nnz, h.indices, func(b []byte, _ *field, _ int64) (int32, error) {
		i, err := number.Int(b)
		if err == nil && (i < 1 || i > rows) {
			err = fmt.Errorf("row index %d is outside 1 to %d", i, rows)
		}
		return int32(i - 1), err
	}}
	if err := indices.read(c.row.place); err != nil {
		return nil, err
	}
	if h.values == nil {
		return c, nil
	}
	whole := h.field == sparse.Integer
	values := section[float64]{t, "value", h.nnz, h.values, func(b []byte, f *field, line int64) (float64, error) {
		v, rounded, err := parseValue(b, f)
		switch {
		case err != nil:
		case whole && v != math.Trunc(v):
			err = fmt.Errorf("%q is not an integer, as the type of the matrix wants", clip(string(b)))
		case math.IsInf(v, 0) && hasDigit(b):
			c.note(source.Inexact{Infinite: line})
		case whole && rounded:
			c.note(source.Inexact{Rounded: line})
		}
		return v, err
	}}
	return c, values.read(c.val.place)
}

// checkPointers checks that pointers ascend from 1 to nnz+1. line is the line before the
// first pointer.
func checkPointers(ptr []int64, h *header, name string, line int64) error {
	at := func(k int64) int64 { return line + h.pointers.lines(k+1) }
	if ptr[0] != 1 {
		return sparse.InputLinef(name, at(0), "the first column pointer is %d: it must be 1", ptr[0])
	}
	for k := int64(1); k < int64(len(ptr)); k++ {
		if ptr[k] < ptr[k-1] {
			return sparse.InputLinef(name, at(k), "column pointer %d falls from %d to %d: they must never fall", k+1, ptr[k-1], ptr[k])
		}
	}
	if last := int64(len(ptr)) - 1; ptr[last] != h.nnz+1 {
		return sparse.InputLinef(name, at(last), "the last column pointer is %d: it must be %d, one more than the number of entries", ptr[last], h.nnz+1)
	}
	return nil
}

// drain reads to the end of the file, to detect damage in a compressed file. Text after
// the matrix is an error unless it is right-hand sides.
func drain(t *text, rightSides bool) error {
	for {
		line, err := t.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if !rightSides && !isBlank(line) {
			return sparse.InputLinef(t.name, t.line, "%q follows the last number of the matrix: the file holds more than its header says", clip(string(line)))
		}
	}
}
