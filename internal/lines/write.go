package lines

import (
	"io"
	"runtime"
	"sort"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// piece is the number of items that are formatted at a time.
const piece = 1 << 14

// Write writes the text of n items to w in order. format appends the text of items [lo,
// hi) to buf; several goroutines call it.
func Write(w io.Writer, n int64, format func(buf []byte, lo, hi int64) []byte) error {
	bufs := make([][]byte, runtime.GOMAXPROCS(0))
	for lo := int64(0); lo < n; {
		pieces := int(min((n-lo+piece-1)/piece, int64(len(bufs))))
		par.Do(pieces, func(i int) {
			from := lo + int64(i)*piece
			bufs[i] = format(bufs[i][:0], from, min(from+piece, n))
		})
		for _, b := range bufs[:pieces] {
			if _, err := w.Write(b); err != nil {
				return err
			}
		}
		lo += int64(pieces) * piece
	}
	return nil
}

// WriteEntries writes the text of the entries of m to w, row after row. entry appends the
// text of one entry to buf; several goroutines call it.
func WriteEntries(w io.Writer, m *sparse.CSR[float64], entry func(buf []byte, i, j int, v float64) []byte) error {
	return Write(w, m.NNZ(), func(buf []byte, lo, hi int64) []byte {
		// The row of entry lo is the first one that ends after it.
		i := sort.Search(m.Rows, func(i int) bool { return m.RowPtr[i+1] > lo })
		for k := lo; k < hi; k++ {
			for m.RowPtr[i+1] <= k {
				i++
			}
			buf = entry(buf, i, int(m.ColIdx[k]), m.Val[k])
		}
		return buf
	})
}
