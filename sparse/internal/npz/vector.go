package npz

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/sparse"
)

// Magic is the start of an .npy file.
const Magic = "\x93NUMPY"

// ReadVector reads an .npy file of float64, float32, integers or bool, as numpy.save writes it: of one dimension, or of
// one column or one row. Its order, C or Fortran, makes no difference then. Integers above 2^53 are rounded.
//
// Invalid content gives a *sparse.InputError with the name; src.Field is Real or Integer.
func ReadVector(ctx context.Context, r io.Reader, name string) (x []float64, src sparse.Source, err error) {
	if err := given.Input(ctx, r); err != nil {
		return nil, src, err
	}
	a := &array{file: name, r: io.NopCloser(r)}
	if a.header, err = readHeader(r); err != nil {
		return nil, src, a.fail(err)
	}
	switch k := a.dtype.kind; {
	case k == 'S' || k == 'U':
		return nil, src, a.failf("holds text (%s): a vector must be numbers", a.dtype.name)
	case len(a.shape) != 1 && (len(a.shape) != 2 || a.shape[0] != 1 && a.shape[1] != 1):
		return nil, src, a.failf("has the shape %v: a vector has one dimension, or one column or one row", a.shape)
	case a.items() > sparse.MaxDim:
		return nil, src, a.failf("has %d elements: at most %d are supported", a.items(), sparse.MaxDim)
	}
	if x, err = a.values(ctx); err != nil {
		return nil, src, err
	}
	src = sparse.Source{Field: a.dtype.field(), Symmetry: sparse.General, Stored: int64(len(x))}
	if a.dtype.integer() && a.dtype.size == 8 {
		for _, v := range x {
			if math.Abs(v) > 1<<53 {
				src.Note = "integers above 2^53 were rounded to float64"
				break
			}
		}
	}
	return x, src, nil
}

// WriteVector writes v as numpy.save writes an array of float64 of one dimension. Errors are those of w.
func WriteVector(w io.Writer, v []float64) error {
	if err := given.Check("writer", w); err != nil {
		return err
	}
	return writeArray(w, "<f8", fmt.Sprintf("(%d,)", len(v)), int64(len(v)), func(b []byte, k int64) []byte {
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v[k]))
	})
}
