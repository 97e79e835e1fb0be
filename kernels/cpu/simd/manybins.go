package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

const (
	// binNear is how many entries before its turn the kernels ask for a row of x and one of
	// sums.
	binNear = 16
	// binEntries is how many values that are not stored as they are are brought to full length
	// at a time, and binRound in how many steps of the kernels.
	binEntries, binRound = 1 << 10, 8
)

// BinAhead is what calls that follow will read, which is brought to the cache meanwhile.
type BinAhead[V sparse.Value] struct {
	// Rows of X that these places number, whole lines of BinLine, those of the next calls.
	Rows []uint16
	X    MultiVector[V]
	// Columns from place Entries by columns on, and values from Values by rows on, those of calls
	// after these.
	Entries, Values int
}

// BinColumns is the elements of a row of sums for so many columns: half a cache line or a whole
// one. There may be more columns than that.
func BinColumns[V sparse.Value](cols int) int {
	size := int(unsafe.Sizeof(*new(V)))
	if cols*size <= registerBytes(AVX2) {
		return registerBytes(AVX2) / size
	}
	return registerBytes(AVX512) / size
}

// AddMany multiplies n entries of a run, from place k by columns and place on by rows, by x.Cols
// vectors, at most those of BinColumns:
//
//	sums[Rows[place+i]][j] += value(place+i) * x[Columns[k+i]][j],  i < n
//
// The rows of sums are BinColumns apart; what is in them beyond x.Cols is spoiled. Rows and columns
// must be in sums and x; they are not checked.
func (b *Bins[V]) AddMany(l Level, k, place, n int, x MultiVector[V], sums []V, ahead BinAhead[V], e *Expansion[V]) {
	columns, rows, asks := b.Columns[k:], b.Rows[place:], len(ahead.Rows)/binRound
	more := min(binNear, len(columns)-n, len(rows)-n)
	for n > 0 || asks > 0 {
		now, asked := n, asks
		if b.Values.Storage != Full && now > binEntries {
			now = binEntries
			asked = min(asks, now/binRound)
		}
		val := e.full(Generic, &b.Values, place, now, 0)
		if l == Generic {
			width := BinColumns[V](x.Cols)
			for i, v := range val {
				sum := sums[int(rows[i])*width:]
				for j, xj := range x.Val[int(columns[i])*x.Stride:][:x.Cols] {
					sum[j] += v * xj
				}
			}
		} else {
			addBinMany(l, now, min(binNear, more+n-now), asked, columns, rows, val, x, sums, ahead, b.Columns[ahead.Entries:], b.Values.from(ahead.Values), b.Values.columnBytes()*binRound)
		}
		place, n, asks = place+now, n-now, asks-asked
		columns, rows, ahead.Rows = columns[now:], rows[now:], ahead.Rows[asked*binRound:]
	}
}

// manyBinTable is kernels for sums of one register of AVX2, of two, and of one of AVX-512.
type manyBinTable[V sparse.Value] [3]func(n, more, asks int, from, to *uint16, val, x *V, ldx int, sums *V, last int, later *uint16, laterX *V, soonFrom *uint16, soonVal *byte, step int)

// addBinMany is AddMany for n entries with these values. Rows of ahead.X for asks rounds are
// asked for, and meanwhile what lies at soonFrom, and at soonVal, where a round has step bytes.
func addBinMany[V sparse.Value](l Level, n, more, asks int, from, to []uint16, val []V, x MultiVector[V], sums []V, ahead BinAhead[V], soonFrom []uint16, soonVal *byte, step int) {
	lanes := registerBytes(AVX2) / int(unsafe.Sizeof(*new(V)))
	kernel, last := 0, (x.Cols-1)%lanes+1 // of the last register
	switch {
	case BinColumns[V](x.Cols) == lanes:
	case l < AVX512:
		kernel = 1
	default:
		kernel, last = 2, x.Cols
	}
	of[*manyBinTable[V]](manyBinTables)[kernel](n, more, asks, unsafe.SliceData(from), unsafe.SliceData(to), unsafe.SliceData(val), unsafe.SliceData(x.Val), x.rowBytes(),
		unsafe.SliceData(sums), last, unsafe.SliceData(ahead.Rows), unsafe.SliceData(ahead.X.Val), unsafe.SliceData(soonFrom), soonVal, step)
}
