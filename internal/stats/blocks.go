package stats

import (
	"slices"
	"sync"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// Blocks says how well a matrix is covered by square blocks of one size whose corners are at multiples of it.
type Blocks struct {
	Size    int
	Entries int64 // that were looked at
	Blocks  int64 // with at least one of these entries
}

// Fill returns the share of the positions of the blocks that are entries, 0 without blocks.
func (b Blocks) Fill() float64 {
	if b.Blocks == 0 {
		return 0
	}
	return float64(b.Entries) / (float64(b.Blocks) * float64(b.Size*b.Size))
}

// blockSizes are the sizes that BlocksOf tries; blockRows is a multiple of all of them.
var blockSizes = []int{2, 3, 4, 5, 6, 8}

const blockRows = 120

// blockSample is about the largest number of entries that BlocksOf looks at.
const blockSample = 2 << 20

// BlocksOf counts the blocks of several sizes, in ascending order. In a large matrix it looks at a sample of groups
// of rows, spread evenly.
func BlocksOf[V sparse.Value](m *sparse.CSR[V]) []Blocks {
	out := make([]Blocks, len(blockSizes))
	for s, size := range blockSizes {
		out[s].Size = size
	}
	groups := (int64(m.Rows) + blockRows - 1) / blockRows
	every := max(1, m.NNZ()/blockSample)
	var mu sync.Mutex
	par.Range((groups+every-1)/every, 64, func(lo, hi int64) {
		counted := make([]Blocks, len(blockSizes))
		var columns []int32
		for g := lo; g < hi; g++ {
			first := int(g * every * blockRows)
			end := min(first+blockRows, m.Rows)
			for s, size := range blockSizes {
				for i := first; i < end; i += size {
					columns = columns[:0]
					for _, j := range m.ColIdx[m.RowPtr[i]:m.RowPtr[min(i+size, end)]] {
						columns = append(columns, j/int32(size))
					}
					counted[s].Entries += int64(len(columns))
					slices.Sort(columns)
					counted[s].Blocks += int64(len(slices.Compact(columns)))
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for s := range out {
			out[s].Entries += counted[s].Entries
			out[s].Blocks += counted[s].Blocks
		}
	})
	return out
}
