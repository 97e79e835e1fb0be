package form

import (
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// longRow is a row that was cut into chunks, each of which counts as a row.
type longRow struct {
	first  int // the number of the first chunk, chunks counted as rows
	chunks int
}

// chunked is r with each chunk of a row of more than kernels.FixedChunk entries as a
// row of its own, and those rows in their order. It is r itself where sums have no
// fixed shape, and where no row is that long.
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

// longest is the number of entries of the longest row.
func (r Rows[V]) longest() int64 { return longest(r.Ptr) }

func longest(ptr []int64) (most int64) {
	for i, end := range ptr[1:] {
		most = max(most, end-ptr[i])
	}
	return most
}

// noChunks fails where a row has more than one chunk: forms that compute y at once
// have no place for their sums.
func (r Rows[V]) noChunks() error {
	if n := r.longest(); r.Fixed && n > kernels.FixedChunk {
		return sparse.Inputf("matrix", "a row has %d entries: with sums of a fixed shape this form takes at most %d", n, kernels.FixedChunk)
	}
	return nil
}

// stripes is the partial sums over the chunks of a long row.
type stripes[V sparse.Value] [kernels.FixedStripes]V

// add adds the sums of successive chunks, of which the first has a number.
func (s *stripes[V]) add(first int, chunks []V) {
	for i, c := range chunks {
		s[(first+i)%len(s)] += c
	}
}

// sum is the sum of the row. The stripes are then of no more use.
func (s *stripes[V]) sum() V {
	for d := len(s) / 2; d > 0; d /= 2 {
		for g := range d {
			s[g] += s[g+d]
		}
	}
	return s[0]
}

// results takes the sums of rows in their order and stores y. Chunks of long rows
// are joined before.
type results[V sparse.Value] struct {
	level  simd.Level
	stream bool // write y past the caches where beta is 0
	long   []longRow

	// Of the product under way:
	alpha, beta V
	y           []V // what is not yet stored
	next        int // the row whose sum comes next, chunks counted as rows
	at          int // the long row that comes next, or has begun
	stripes     stripes[V]
}

// begin starts a product.
func (w *results[V]) begin(alpha, beta V, y []V) {
	w.alpha, w.beta, w.y, w.next, w.at, w.stripes = alpha, beta, y, 0, 0, stripes[V]{}
}

// put takes the sums of the rows that come next.
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

// direct reports whether elements of y may be stored in any order, without put: beta is 0, nothing goes past the caches,
// and no chunks of long rows follow.
func (w *results[V]) direct() bool { return w.beta == 0 && !w.stream && w.at == len(w.long) }

// putFrom is put(row) where row[i] = sums[at[i]], for which it has room.
func (w *results[V]) putFrom(at []uint16, sums, row []V) {
	if n := len(at); w.at == len(w.long) {
		simd.StorePermutedRows(w.level, w.alpha, w.beta, at, sums, w.y[:n], w.stream)
		w.y = w.y[n:] // next is of no use any more
		return
	}
	simd.Permute(w.level, at, sums, row)
	w.put(row[:len(at)])
}

// chunks takes the sums of chunks of the long row that comes next.
func (w *results[V]) chunks(l longRow, sums []V) {
	w.stripes.add(w.next-l.first, sums)
	w.next += len(sums)
	if w.next == l.first+l.chunks {
		w.store([]V{w.stripes.sum()})
		w.stripes = stripes[V]{}
		w.at++
	}
}

// store stores the elements of y that come next.
func (w *results[V]) store(sums []V) {
	simd.StoreRows(w.level, w.alpha, w.beta, sums, w.y[:len(sums)], w.stream)
	w.y = w.y[len(sums):]
}
