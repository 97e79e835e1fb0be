package form

import (
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// longRow is a row that was divided into chunks, each of which counts as a row.
type longRow struct {
	first  int // number of the first chunk, where chunks count as rows
	chunks int
}

// chunked divides each row of more than kernels.FixedChunk entries into chunks, which count as
// rows, and returns these rows in their order. It returns r if sums have no fixed shape or if no
// row has more than one chunk.
func (r Rows[V]) chunked() (Rows[V], []longRow) {
	if !r.Fixed || r.longest() <= kernels.FixedChunk {
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

// longest returns the number of entries of the longest row.
func (r Rows[V]) longest() int64 { return longest(r.Ptr) }

func longest(ptr []int64) (most int64) {
	for i, end := range ptr[1:] {
		most = max(most, end-ptr[i])
	}
	return most
}

// noChunks fails if a row has more than one chunk. It is for forms that compute y directly and have
// no room for the sums of chunks.
func (r Rows[V]) noChunks() error {
	if n := r.longest(); r.Fixed && n > kernels.FixedChunk {
		return sparse.Inputf("matrix", "a row has %d entries: with sums of a fixed shape this form takes at most %d", n, kernels.FixedChunk)
	}
	return nil
}

// stripes has the partial sums over the chunks of a long row.
type stripes[V sparse.Value] [kernels.FixedStripes]V

// add adds the sums of successive chunks; first is the number of the first one.
func (s *stripes[V]) add(first int, chunks []V) {
	for i, c := range chunks {
		s[(first+i)%len(s)] += c
	}
}

// sum returns the sum of the row and overwrites the stripes.
func (s *stripes[V]) sum() V {
	for d := len(s) / 2; d > 0; d /= 2 {
		for g := range d {
			s[g] += s[g+d]
		}
	}
	return s[0]
}

// results computes y from the sums of the rows, in their order. It joins the sums of the chunks of
// long rows.
type results[V sparse.Value] struct {
	level  simd.Level
	stream bool // write y past the caches if beta is 0
	long   []longRow

	// The current product:
	alpha, beta V
	y           []V // elements that are not stored yet
	next        int // the next row, where chunks count as rows
	at          int // index of the current or next long row
	stripes     stripes[V]
}

// begin starts a product.
func (w *results[V]) begin(alpha, beta V, y []V) {
	w.alpha, w.beta, w.y, w.next, w.at, w.stripes = alpha, beta, y, 0, 0, stripes[V]{}
}

// put takes the sums of the next rows.
func (w *results[V]) put(sums []V) {
	for len(sums) > 0 {
		n := len(sums)
		if w.at < len(w.long) {
			l := w.long[w.at]
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

// direct reports whether elements of y may be stored in any order, without put: beta is 0, y is not
// written past the caches, and no long rows follow.
func (w *results[V]) direct() bool { return w.beta == 0 && !w.stream && w.at == len(w.long) }

// putFrom is put(row) for row[i] = sums[at[i]]. row is scratch.
func (w *results[V]) putFrom(at []uint16, sums, row []V) {
	if n := len(at); w.at == len(w.long) {
		simd.StorePermutedRows(w.level, w.alpha, w.beta, at, sums, w.y[:n], w.stream)
		w.y = w.y[n:] // next is not needed any more
		return
	}
	simd.Permute(w.level, at, sums, row)
	w.put(row[:len(at)])
}

// chunks takes the sums of the next chunks of the long row l.
func (w *results[V]) chunks(l longRow, sums []V) {
	w.stripes.add(w.next-l.first, sums)
	w.next += len(sums)
	if w.next == l.first+l.chunks {
		w.store([]V{w.stripes.sum()})
		w.stripes = stripes[V]{}
		w.at++
	}
}

// store stores the next elements of y.
func (w *results[V]) store(sums []V) {
	simd.StoreRows(w.level, w.alpha, w.beta, sums, w.y[:len(sums)], w.stream)
	w.y = w.y[len(sums):]
}
