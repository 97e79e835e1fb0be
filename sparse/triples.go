package sparse

import (
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/saturate"
)

// FromTriples assembles a rows x cols matrix of the triples (rowIdx[k], colIdx[k], val[k]),
// in any order: columns are sorted within each row, and triples of the same position add up
// in the order in which they stand. Indices are 0-based. Sums of zero are entries too: the same
// positions with other values give the same structure, and the Val that msrep.Plan.UpdateValues
// takes in the next step of a time loop.
//
// The arrays are checked, copied and left alone. What is wrong with them, and a matrix for
// which memory lacks, is a *InputError. Assemble does with less memory, for triples that
// were checked and are not wanted any more.
func FromTriples[V Value](rows, cols int, rowIdx, colIdx []int32, val []V) (*CSR[V], error) {
	if _, err := NewCOO(rows, cols, rowIdx, colIdx, val); err != nil {
		return nil, err
	}
	each := 12 + 2*mem.Size[V]() // of the copy, 8 of indices, and of the result, 4
	need := saturate.Add(saturate.Mul(8, int64(rows)), saturate.Mul(each, int64(len(val))))
	if have, ok := mem.Fits(need); !ok {
		return nil, Inputf("matrix", "%d triples in %d rows: to assemble them takes %d bytes of memory, %d are available", len(val), rows, need, have)
	}
	copied := Triples[V]{Row: slices.Clone(rowIdx), Col: slices.Clone(colIdx), Val: slices.Clone(val)}
	return Assemble(rows, cols, General, []Triples[V]{copied}), nil
}
