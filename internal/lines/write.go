package lines

import (
	"io"
	"runtime"

	"github.com/msrep-go/msrep/internal/par"
)

// piece is how many items are formatted at a time.
const piece = 1 << 14

// Write writes the text of n items to w. format appends the text of items
// [lo, hi) to buf; it is called on several goroutines, and what it gives is
// written in the order of the items.
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
