package rows

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/partition"
)

// alignedRows is the number of rows at whose multiples the pieces of a packed part begin where possible: the results
// of a piece then begin at a multiple of 64 bytes if y does.
const alignedRows = 16

// Align moves the borders between the pieces of a part to the nearest row whose number, counted from the first row
// that the part owns, is a multiple of alignedRows. A border stays where moving it would shift more than 1/64 of a
// piece's entries, as it would within long rows.
func Align(parts []partition.Part, p partition.Part, ptr []int64) {
	limit := p.NNZ() / int64(64*len(parts))
	for i := 1; i < len(parts); i++ {
		before, q := &parts[i-1], &parts[i]
		own := p.OwnFirst + (q.OwnFirst-p.OwnFirst+alignedRows/2)/alignedRows*alignedRows
		if own < before.OwnFirst || own > q.OwnEnd {
			continue
		}
		idx := min(max(ptr[own], p.StartIdx), p.EndIdx+1)
		if d := idx - q.StartIdx; d > limit || -d > limit || idx < before.StartIdx || idx > q.EndIdx+1 {
			continue
		}
		before.EndIdx, before.OwnEnd = idx-1, own
		q.StartIdx, q.OwnFirst, q.StartFlag = idx, own, false
	}
	for i := range parts {
		locate(&parts[i], ptr)
	}
}

// locate sets the rows that hold the first and the last entry of q.
func locate(q *partition.Part, ptr []int64) {
	if q.Empty() {
		q.StartMajor, q.EndMajor, q.StartFlag = q.OwnFirst, q.OwnFirst-1, false
		return
	}
	if !q.StartFlag {
		q.StartMajor = form.RowOf(ptr, q.StartIdx)
	}
	q.EndMajor = form.RowOf(ptr, q.EndIdx)
}
