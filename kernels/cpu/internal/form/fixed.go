package form

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// longRow is a row that was divided into chunks, each of which counts as a row.
type longRow struct {
	first  int // number of the first chunk, where chunks count as rows
	chunks int
}

// Chunked divides each row of more than kernels.FixedChunk entries into chunks, which count as
// rows, and returns these rows in their order. It returns r if sums have no fixed shape or if no
// row has more than one chunk.
func (r Rows[V]) Chunked() (Rows[V], []longRow) {
	if !r.Fixed || r.Longest() <= kernels.FixedChunk {
		return r, nil
	}
	ptr := make([]int64, 1, len(r.Ptr))
	ptr[0] = r.Ptr[0]
	var long []longRow
	for _, end := range r.Ptr[1:] {
		first := len(ptr) - 1
		for end-ptr[len(ptr)-1] > kernels.FixedChunk {
			ptr = append(ptr, ptr[len(ptr)-1]+kernels.FixedChunk)
		}
		ptr = append(ptr, end)
		if n := len(ptr) - 1 - first; n > 1 {
			long = append(long, longRow{first, n})
		}
	}
	r.Ptr = ptr
	return r, long
}

// Longest returns the number of entries of the longest row.
func (r Rows[V]) Longest() int64 { return Longest(r.Ptr) }

// Longest returns the number of entries of the longest row.
func Longest(ptr []int64) (most int64) {
	for i, end := range ptr[1:] {
		most = max(most, end-ptr[i])
	}
	return most
}

// NoChunks fails if a row has more than one chunk. It is for forms that compute y directly and have
// no room for the sums of chunks.
func (r Rows[V]) NoChunks() error {
	if n := r.Longest(); r.Fixed && n > kernels.FixedChunk {
		return sparse.Inputf("matrix", "a row has %d entries: with sums of a fixed shape this form takes at most %d", n, kernels.FixedChunk)
	}
	return nil
}

// Stripes has the partial sums over the chunks of a long row.
type Stripes[V sparse.Value] [kernels.FixedStripes]V

// Add adds the sums of successive chunks; first is the number of the first one.
func (s *Stripes[V]) Add(first int, chunks []V) {
	for i, c := range chunks {
		s[(first+i)%len(s)] += c
	}
}

// Sum returns the sum of the row and overwrites the stripes.
func (s *Stripes[V]) Sum() V {
	for d := len(s) / 2; d > 0; d /= 2 {
		for g := range d {
			s[g] += s[g+d]
		}
	}
	return s[0]
}

// Results computes y from the sums of the rows, in their order. It joins the sums of the chunks of
// long rows.
type Results[V sparse.Value] struct {
	Level  simd.Level
	Stream bool // write y past the caches if beta is 0
	Long   []longRow

	// The current product:
	Alpha, beta V
	Y           []V // elements that are not stored yet
	next        int // the next row, where chunks count as rows
	at          int // index of the current or next long row
	stripes     Stripes[V]
}

// Begin starts a product.
func (w *Results[V]) Begin(alpha, beta V, y []V) {
	w.Alpha, w.beta, w.Y, w.next, w.at, w.stripes = alpha, beta, y, 0, 0, Stripes[V]{}
}

// Put takes the sums of the next rows.
func (w *Results[V]) Put(sums []V) {
	for len(sums) > 0 {
		n := len(sums)
		if w.at < len(w.Long) {
			l := w.Long[w.at]
			if w.next >= l.first {
				n = min(n, l.first+l.chunks-w.next)
				w.chunks(l, sums[:n])
				sums = sums[n:]
				continue
			}
			n = min(n, l.first-w.next)
		}
		w.store(sums[:n])
		w.next += n
		sums = sums[n:]
	}
}

// Direct reports whether elements of y may be stored in any order, without put: beta is 0, y is not
// written past the caches, and no long rows follow.
func (w *Results[V]) Direct() bool { return w.beta == 0 && !w.Stream && w.at == len(w.Long) }

// PutFrom is put(row) for row[i] = sums[at[i]]. row is scratch.
func (w *Results[V]) PutFrom(at []uint16, sums, row []V) {
	if n := len(at); w.at == len(w.Long) {
		StorePermutedRows(w.Level, w.Alpha, w.beta, at, sums, w.Y[:n], w.Stream)
		w.Y = w.Y[n:] // next is not needed any more
		return
	}
	Permute(w.Level, at, sums, row)
	w.Put(row[:len(at)])
}

// chunks takes the sums of the next chunks of the long row l.
func (w *Results[V]) chunks(l longRow, sums []V) {
	w.stripes.Add(w.next-l.first, sums)
	w.next += len(sums)
	if w.next == l.first+l.chunks {
		w.store([]V{w.stripes.Sum()})
		w.stripes = Stripes[V]{}
		w.at++
	}
}

// store stores the next elements of y.
func (w *Results[V]) store(sums []V) {
	StoreRows(w.Level, w.Alpha, w.beta, sums, w.Y[:len(sums)], w.Stream)
	w.Y = w.Y[len(sums):]
}

// CheckOrder fails if sums have a fixed shape and an entry of a row is in an earlier block of
// 2^shift columns than the entry before it. pieces names the pieces of the form in the error.
func (r Rows[V]) CheckOrder(shift uint8, pieces string) error {
	for i := 0; r.Fixed && i < len(r.Ptr)-1; i++ {
		last := int32(0)
		for _, c := range r.Columns(i) {
			if c>>shift < last {
				return sparse.Inputf("matrix", "the columns of a row do not ascend: with sums of a fixed shape, %s need sorted rows", pieces)
			}
			last = c >> shift
		}
	}
	return nil
}
