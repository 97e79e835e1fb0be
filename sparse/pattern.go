package sparse

import (
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/saturate"
)

// TriplePattern assembles matrices from triples that have the same positions and other values, as the steps of a time loop
// have. It sorts the positions once. NewPattern makes it; several goroutines may use it at the same time.
type TriplePattern[V Value] struct {
	rows, cols int
	rowPtr     []int64
	colIdx     []int32
	order      []uint32 // triples in the order of the entries that they belong to
	// Entry e is the sum of the triples order[starts[e]:starts[e+1]]. Without duplicates starts is nil, and entry e is
	// triple order[e].
	starts []uint32
}

// maxTriples is the largest number of triples of a TriplePattern.
const maxTriples int64 = math.MaxUint32

// fillGrain is the least number of entries that a goroutine fills.
const fillGrain = 1 << 14

// NewPattern returns a TriplePattern for triples at the positions (rowIdx[k], colIdx[k]) of a rows x cols matrix, in any
// order. It copies the arrays. Indices are 0-based.
//
// Wrong arrays, and a pattern that does not fit into memory, give a *InputError.
func NewPattern[V Value](rows, cols int, rowIdx, colIdx []int32) (*TriplePattern[V], error) {
	if len(rowIdx) != len(colIdx) {
		return nil, Inputf("matrix", "%d row indices and %d column indices: these must be equal", len(rowIdx), len(colIdx))
	}
	if int64(len(rowIdx)) > maxTriples {
		return nil, Inputf("matrix", "%d triples: a pattern may have at most %d", len(rowIdx), maxTriples)
	}
	const each = 2*(4+8) + 8 + 2*4 // a copy and the result with numbers of triples, copies of indices, order and starts
	need := saturate.Add(saturate.Mul(8, int64(max(rows, 0))), saturate.Mul(each, int64(len(rowIdx))))
	if have, ok := mem.Fits(need); !ok {
		return nil, Inputf("matrix", "%d triples in %d rows: to sort them takes %d bytes of memory, %d are available", len(rowIdx), rows, need, have)
	}
	number := make([]float64, len(rowIdx)) // of each triple, exact below 2^53
	for k := range number {
		number[k] = float64(k)
	}
	if _, err := NewCOO(rows, cols, rowIdx, colIdx, number); err != nil {
		return nil, err
	}
	m, duplicates := arrange(rows, cols, General, []Triples[float64]{{Row: slices.Clone(rowIdx), Col: slices.Clone(colIdx), Val: number}})
	p := &TriplePattern[V]{rows: rows, cols: cols, rowPtr: m.RowPtr, colIdx: m.ColIdx, order: make([]uint32, len(m.Val))}
	par.Range(int64(len(m.Val)), fillGrain, func(lo, hi int64) {
		for e := lo; e < hi; e++ {
			p.order[e] = uint32(m.Val[e])
		}
	})
	if duplicates {
		p.join()
	}
	return p, nil
}

// join makes one entry of equal columns of a row, in place, and sets starts.
func (p *TriplePattern[V]) join() {
	to, k := 0, int64(0)
	for i := range p.rows {
		last := int32(-1)
		for end := p.rowPtr[i+1]; k < end; k++ {
			if j := p.colIdx[k]; j != last {
				last, p.colIdx[to] = j, j
				p.starts = append(p.starts, uint32(k))
				to++
			}
		}
		p.rowPtr[i+1] = int64(to)
	}
	p.starts = append(p.starts, uint32(k))
	p.colIdx = slices.Clip(slices.Clone(p.colIdx[:to]))
}

// Matrix returns a matrix with the entries of the pattern and values 0. All matrices of a pattern share RowPtr and
// ColIdx, which must not be changed; each has a Val of its own.
func (p *TriplePattern[V]) Matrix() *CSR[V] {
	if p == nil || p.rowPtr == nil {
		return &CSR[V]{RowPtr: []int64{0}}
	}
	return &CSR[V]{Rows: p.rows, Cols: p.cols, RowPtr: p.rowPtr, ColIdx: p.colIdx, Val: make([]V, len(p.colIdx))}
}

// Fill computes the values of the entries from the values of the triples and stores them in out, the Val of a matrix of
// the pattern. It adds triples of the same position in the order of the input, and gives the bits of FromTriples. In a
// time loop, msrep.Plan.UpdateValues takes out.
//
// Arrays of the wrong length, or that overlap, give a *InputError.
func (p *TriplePattern[V]) Fill(val, out []V) error {
	switch {
	case p == nil || p.rowPtr == nil:
		return Inputf("pattern", "was not made by NewPattern")
	case len(val) != len(p.order):
		return Inputf("val", "has %d elements for the %d triples of the pattern", len(val), len(p.order))
	case len(out) != len(p.colIdx):
		return Inputf("out", "has %d elements for the %d entries of the pattern", len(out), len(p.colIdx))
	case mem.Overlap(val, out):
		return Inputf("out", "overlaps val")
	}
	par.Range(int64(len(out)), fillGrain, func(lo, hi int64) {
		if p.starts == nil {
			order := p.order[lo:hi]
			for e, k := range order {
				out[lo+int64(e)] = val[k]
			}
			return
		}
		for e := lo; e < hi; e++ {
			order := p.order[p.starts[e]:p.starts[e+1]]
			sum := val[order[0]]
			for _, k := range order[1:] {
				sum += val[k]
			}
			out[e] = sum
		}
	})
	return nil
}
