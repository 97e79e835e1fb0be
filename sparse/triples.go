package sparse

import (
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/saturate"
)

// FromTriples assembles a rows x cols matrix from the triples (rowIdx[k], colIdx[k],
// val[k]) in any order. It sorts the columns within each row and adds triples of the same
// position in the order of the input. Indices are 0-based. A sum of zero is an entry too,
// so triples with the same positions and other values give the same RowPtr and ColIdx: in
// a time loop, msrep.Plan.UpdateValues takes the Val of the next step. NewPattern sorts the
// positions of such triples only once.
//
// FromTriples checks and copies the arrays. It does not change them. Wrong arrays, and a
// matrix that does not fit into memory, give a *InputError. Assemble takes less memory:
// it overwrites triples that the caller has checked and no longer needs.
func FromTriples[V Value](rows, cols int, rowIdx, colIdx []int32, val []V) (*CSR[V], error) {
	if _, err := NewCOO(rows, cols, rowIdx, colIdx, val); err != nil {
		return nil, err
	}
	each := 12 + 2*mem.Size[V]() // indices: 8 bytes in the copy, 4 in the result; values: one in each
	need := saturate.Add(saturate.Mul(8, int64(rows)), saturate.Mul(each, int64(len(val))))
	if have, ok := mem.Fits(need); !ok {
		return nil, Inputf("matrix", "%d triples in %d rows: to assemble them takes %d bytes of memory, %d are available", len(val), rows, need, have)
	}
	copied := Triples[V]{Row: slices.Clone(rowIdx), Col: slices.Clone(colIdx), Val: slices.Clone(val)}
	return Assemble(rows, cols, General, []Triples[V]{copied}), nil
}
