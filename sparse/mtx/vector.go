package mtx

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/number"
	"github.com/msrep-go/msrep/sparse"
)

// ReadVector reads a vector: a file with the object vector, or a real or integer matrix
// of one column or one row, array or coordinate. Its length is the larger dimension. In a
// coordinate file, missing entries are 0, and entries with the same position are added.
//
// Invalid content gives an *sparse.InputError with name and line. The length that a
// coordinate file declares is limited by the number of its entries, as in sparse.Limits.
func ReadVector(ctx context.Context, r io.Reader, name string) ([]float64, error) {
	x, _, err := ReadVectorSource(ctx, r, name)
	return x, err
}

// ReadVectorSource is ReadVector and also returns a description of the content of the
// file; for src.Note see Read.
func ReadVectorSource(ctx context.Context, r io.Reader, name string) (x []float64, src sparse.Source, err error) {
	if err := given.Input(ctx, r); err != nil {
		return nil, src, err
	}
	in := lines.NewReader(r, name)
	lim := sparse.Limits{}
	h, err := readHeader(in, name, lim)
	if err != nil {
		return nil, src, err
	}
	x, err = h.readVector(ctx, in, lim)
	return x, h.source(h.entries), err
}

// readVector reads the part of the file after the header.
func (h *header) readVector(ctx context.Context, in *lines.Reader, lim sparse.Limits) ([]float64, error) {
	name := h.name
	switch {
	case h.rows != 1 && h.cols != 1:
		return nil, h.errorf(h.line, "%d rows and %d columns: a vector has one column or one row", h.rows, h.cols)
	case h.field == sparse.Pattern:
		return nil, h.errorf(h.first, "a pattern is not a vector: its values are needed")
	}
	if h.array {
		var x []float64
		check := func() error { return lim.CheckMemory(name, h.line, h.entries, 0, 0) }
		fits := once(check)
		err := h.eachValues(ctx, in, func(val []float64) (err error) {
			have := int64(len(x))
			if x, err = mem.Grow(x, have+int64(len(val)), h.entries); err != nil {
				return cmp.Or(check(), h.errorf(h.line, "%v", err))
			}
			copy(x[have:], val)
			return fits()
		})
		if err != nil {
			return nil, err
		}
		if h.symmetry == sparse.SkewSymmetric { // 1 x 1 without a value
			x = []float64{0}
		}
		return x, nil
	}
	var chunks []sparse.Triples[float64]
	fits := once(func() error { return lim.CheckMemory(name, h.line, h.rows*h.cols, h.entries, 16) })
	err := h.eachTriples(ctx, in, func(t sparse.Triples[float64]) error {
		chunks = append(chunks, t)
		return fits()
	})
	if err == nil {
		err = lim.CheckMemory(name, h.line, h.rows*h.cols, 0, 0)
	}
	if err != nil {
		return nil, err
	}
	x := make([]float64, h.rows*h.cols)
	for _, t := range chunks {
		for k, v := range t.Val {
			x[t.Row[k]+t.Col[k]] += v // one of the two is 0
		}
	}
	return x, nil
}

// WriteVector writes v as an array of one column, with 17 significant digits. Errors are
// those of w.
func WriteVector(w io.Writer, v []float64) error { return WriteVectors(w, [][]float64{v}) }

// WriteVectors writes vectors of the same length as the columns of an array, with 17
// significant digits. Vectors of other lengths are a *sparse.InputError; other errors are
// those of w.
func WriteVectors(w io.Writer, v [][]float64) error {
	if err := given.Check("writer", w); err != nil {
		return err
	}
	n := 0
	for j, x := range v {
		if j == 0 {
			n = len(x)
		}
		if len(x) != n {
			return sparse.Inputf("vectors", "vector %d has %d elements, vector 0 has %d", j, len(x), n)
		}
	}
	if _, err := fmt.Fprintf(w, "%s matrix array real general\n%d %d\n", banner, n, len(v)); err != nil {
		return err
	}
	for _, x := range v {
		err := lines.Write(w, int64(n), func(buf []byte, lo, hi int64) []byte {
			for _, e := range x[lo:hi] {
				buf = number.Append(buf, e, 'g', 17)
				buf = append(buf, '\n')
			}
			return buf
		})
		if err != nil {
			return err
		}
	}
	return nil
}
