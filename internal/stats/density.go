package stats

import (
	"sort"
	"sync"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// Density counts the entries of a matrix in a grid of bins of nearly equal size.
type Density struct {
	Rows, Cols       int     // bins: at most as many as rows and columns of the matrix
	Count            []int64 // entries of each bin, row by row
	rowBins, colBins bins
}

// DensityOf counts the entries of m in at most most x most bins, in one pass over the column indices, which the
// goroutines divide. Each goroutine has a grid of its own.
func DensityOf[V sparse.Value](m *sparse.CSR[V], most int) *Density {
	d := &Density{rowBins: newBins(m.Rows, most), colBins: newBins(m.Cols, most)}
	d.Rows, d.Cols = int(d.rowBins.bins), int(d.colBins.bins)
	d.Count = make([]int64, d.Rows*d.Cols)
	var mu sync.Mutex
	par.Range(m.NNZ(), 1<<18, func(lo, hi int64) {
		if lo == hi {
			return
		}
		count := make([]int64, len(d.Count))
		i := sort.Search(m.Rows, func(i int) bool { return m.RowPtr[i+1] > lo }) // the row of entry lo
		for k := lo; k < hi; i++ {
			end := min(m.RowPtr[i+1], hi)
			row := count[int(d.rowBins.of(i))*d.Cols:][:d.Cols]
			for _, j := range m.ColIdx[k:end] {
				row[d.colBins.of(int(j))]++
			}
			k = end
		}
		mu.Lock()
		defer mu.Unlock()
		for k, n := range count {
			d.Count[k] += n
		}
	})
	return d
}

// Share returns, for each bin, the number of entries divided by the number of positions. It exceeds 1 only where
// entries have the same position.
func (d *Density) Share() []float64 {
	out := make([]float64, len(d.Count))
	for k, n := range d.Count {
		if n > 0 {
			out[k] = float64(n) / (float64(d.rowBins.size(k/d.Cols)) * float64(d.colBins.size(k%d.Cols)))
		}
	}
	return out
}

// bins divides [0, n) into bins. The bin of i is floor(i * step / 2^32), without a division.
type bins struct{ n, bins, step uint64 }

func newBins(n, most int) bins {
	b := bins{n: uint64(n), bins: uint64(min(n, most))}
	if n > 0 {
		b.step = b.bins << 32 / b.n
	}
	return b
}

func (b bins) of(i int) uint64 { return uint64(i) * b.step >> 32 }

// size returns the number of i in a bin.
func (b bins) size(bin int) uint64 { return b.start(uint64(bin)+1) - b.start(uint64(bin)) }

// start returns the first i of a bin, the smallest i with i * step >= bin * 2^32; n for the last bin's end.
func (b bins) start(bin uint64) uint64 {
	if bin >= b.bins {
		return b.n
	}
	return (bin<<32 + b.step - 1) / b.step
}
