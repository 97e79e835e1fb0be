package mtx

import (
	"fmt"
	"io"
	"strconv"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/internal/number"
	"github.com/msrep-go/msrep/internal/source"
	"github.com/msrep-go/msrep/sparse"
)

// Write writes m as a coordinate file, with the shortest decimals that read back as the
// same float64.
//
// Field and symmetry are those of src if m still has them: pattern if every value is 1,
// integer if every value is an integer of 64 bits, symmetric or skew-symmetric if the
// triangles mirror each other bit by bit and every row is sorted without duplicates.
// Otherwise they are real and general. Of a symmetric matrix, Write writes the lower
// triangle. Errors are those of m.Validate and of w.
func Write(w io.Writer, m *sparse.CSR[float64], src sparse.Source) error {
	if err := given.Check("writer", w); err != nil {
		return err
	}
	if err := m.Validate(); err != nil {
		return err
	}
	field, symmetry, entries := source.Field(m.Val, src.Field), sparse.General, m.NNZ()
	if lower, ok := source.Mirrored(m, src.Symmetry); ok {
		symmetry, entries = src.Symmetry, lower
		if field == sparse.Pattern && symmetry == sparse.SkewSymmetric {
			field = sparse.Integer // only for a matrix without entries
		}
	}
	_, err := fmt.Fprintf(w, "%s matrix coordinate %s %s\n%d %d %d\n", banner, field, symmetry, m.Rows, m.Cols, entries)
	if err != nil {
		return err
	}
	return lines.WriteEntries(w, m, func(buf []byte, i, j int, v float64) []byte {
		if symmetry != sparse.General && j > i {
			return buf
		}
		buf = strconv.AppendInt(buf, int64(i)+1, 10)
		buf = append(buf, ' ')
		buf = strconv.AppendInt(buf, int64(j)+1, 10)
		switch field {
		case sparse.Real:
			buf = append(buf, ' ')
			buf = number.Append(buf, v, 'g', -1)
		case sparse.Integer:
			buf = append(buf, ' ')
			buf = strconv.AppendInt(buf, int64(v), 10)
		}
		return append(buf, '\n')
	})
}
