package snap

import (
	"fmt"
	"io"
	"strconv"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/internal/number"
	"github.com/msrep-go/msrep/sparse"
)

// Write writes the entries of m as edges, row after row, after one comment line with the
// order of m and the number of edges. m must be square.
//
// Edges have no weights if src.Field is pattern and every value is 1. Otherwise weights are
// the shortest decimals that read back as the same float64. Write writes both triangles of
// a symmetric matrix. An edge list cannot hold empty rows and columns at the end of m: the
// matrix that is read back ends with the largest id. Errors are those of m.Validate and of
// w; a matrix that is not square or has no entries gives an *sparse.InputError.
func Write(w io.Writer, m *sparse.CSR[float64], src sparse.Source) error {
	if err := given.Check("writer", w); err != nil {
		return err
	}
	if err := m.Validate(); err != nil {
		return err
	}
	if m.Rows != m.Cols {
		return sparse.Inputf("matrix", "%d rows and %d columns: an edge list holds square matrices only", m.Rows, m.Cols)
	}
	if m.NNZ() == 0 {
		return sparse.Inputf("matrix", "no entries: an edge list has at least one edge")
	}
	weighted := src.Field != sparse.Pattern
	for k := 0; k < len(m.Val) && !weighted; k++ {
		weighted = m.Val[k] != 1
	}
	if _, err := fmt.Fprintf(w, "# Nodes: %d Edges: %d\n", m.Rows, m.NNZ()); err != nil {
		return err
	}
	return lines.WriteEntries(w, m, func(buf []byte, i, j int, v float64) []byte {
		buf = strconv.AppendInt(buf, int64(i), 10)
		buf = append(buf, '\t')
		buf = strconv.AppendInt(buf, int64(j), 10)
		if weighted {
			buf = append(buf, '\t')
			buf = number.Append(buf, v, 'g', -1)
		}
		return append(buf, '\n')
	})
}
