package cpms

import (
	"encoding/binary"
	"math"
	"sort"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/sparse/cpms"
)

// Entries are entries of rows in CSR or of slices. The value of an entry is in Plain, or in the
// first Read segments of Segments, or it is 1 if both are nil. The column is in Idx; in slices, the
// column of entry k of slice s may be Start[s]+Near[k] instead, which reads 2 bytes. Columns are
// not checked; they must be less than the length of x.
type Entries struct {
	Idx      []int32
	Near     []uint16
	Start    []int32
	Plain    []float64
	Segments *cpms.Array
	Read     int
}

// JoinSegments reads values from their first k segments:
//
//	dst[i] = value first+i of a
func JoinSegments(l simd.Level, dst []float64, a *cpms.Array, first, k int) {
	for len(dst) > 0 {
		at, step, run := a.Run(first)
		run = min(run, len(dst))
		done := 0
		if l >= simd.AVX2 && run >= 8 {
			done = run &^ 7
			joinSegments(l, dst[:done], a, at, step, k)
		}
		if done < run {
			a.Read(dst[done:run], first+done, k)
		}
		dst, first = dst[run:], first+run
	}
}

// HeadRows sums rows of a CSR matrix:
//
//	y[r] = sum over k of val[k]*x[idx[k]],  ptr[r] <= k < ptr[r+1]
//
// ptr has len(y)+1 elements. scratch, of about a thousand elements, is for values in segments that
// no kernel reads directly: they are joined in it first.
func HeadRows(l simd.Level, y []float64, ptr []int64, e Entries, x *cpms.Heads, scratch []float64) {
	ptr = ptr[:len(y)+1]
	if e.Segments == nil {
		headRowsOf(l, y, ptr, e, x)
		return
	}
	for len(y) > 0 {
		part, end := e.from(l, ptr[0], x.Width(), scratch)
		n := sort.Search(len(y), func(r int) bool { return ptr[r+1] > end })
		if n > 0 {
			part.headRows(l, y[:n], ptr[:n+1], x, scratch)
		} else { // a row with more entries
			n, y[0] = 1, 0
			for lo := ptr[0]; lo < ptr[1]; {
				part, end = e.from(l, lo, x.Width(), scratch)
				end = min(end, ptr[1])
				before := y[0]
				part.headRows(l, y[:1], []int64{lo, end}, x, scratch)
				y[0], lo = y[0]+before, end
			}
		}
		y, ptr = y[n:], ptr[n:]
	}
}

// minRun is the least number of values that must be left in a bank for a kernel to read them
// directly: for fewer, a call takes more time than joining them.
const minRun = 256

// piece is successive entries. Their values are read directly, or joined in the scratch first.
type piece struct {
	Entries
	at, step int // of the first value in Segments; step is 0 if the values must be joined
}

// from returns the piece that begins with entry k, and its end. If few values are left in a large
// bank, they are joined together with a few of the next bank, so that rows in both banks are whole.
func (e Entries) from(l simd.Level, k int64, width int, scratch []float64) (piece, int64) {
	room := len(scratch)
	if l >= simd.AVX2 && readsSegments(e.Segments, e.Read, width) && k < int64(e.Segments.Len()) {
		at, step, run := e.Segments.Run(int(k))
		if run >= minRun {
			return piece{e, at, step}, k + int64(run)
		}
		if step >= 4*minRun {
			room = min(room, run+minRun/4)
		}
	}
	return piece{Entries: e}, k + int64(room)
}

// plain joins the values of the entries lo <= k < hi and returns these entries.
func (p piece) plain(l simd.Level, lo, hi int64, scratch []float64) Entries {
	val := scratch[:hi-lo]
	if hi > lo {
		JoinSegments(l, val, p.Segments, int(lo), p.Read)
	}
	e := p.cut(lo, hi)
	e.Plain, e.Segments = val, nil
	return e
}

// cut returns the entries lo <= k < hi of e, except for Segments.
func (e Entries) cut(lo, hi int64) Entries {
	if e.Near != nil {
		e.Near = e.Near[lo:hi]
	} else {
		e.Idx = e.Idx[lo:hi]
	}
	if e.Plain != nil {
		e.Plain = e.Plain[lo:hi]
	}
	return e
}

func (p piece) headRows(l simd.Level, y []float64, ptr []int64, x *cpms.Heads, scratch []float64) {
	lo, hi := ptr[0], ptr[len(y)]
	switch {
	case lo == hi:
		clear(y)
	case p.step > 0:
		headRowsSegments(y, ptr, p.Idx[lo:hi], p.Segments, p.at, p.step, p.Read, x)
	default:
		headRowsFrom(l, y, ptr, p.plain(l, lo, hi, scratch), x)
	}
}

// headRowsOf is HeadRows for plain values or none.
func headRowsOf(l simd.Level, y []float64, ptr []int64, e Entries, x *cpms.Heads) {
	headRowsFrom(l, y, ptr, e.cut(ptr[0], ptr[len(y)]), x)
}

// headRowsFrom is headRowsOf for entries that begin with ptr[0].
func headRowsFrom(l simd.Level, y []float64, ptr []int64, e Entries, x *cpms.Heads) {
	if l >= simd.AVX2 && len(e.Idx) > 0 {
		headRows(y, ptr, e, x)
		return
	}
	base := ptr[0]
	for r := range y {
		lo, hi := ptr[r]-base, ptr[r+1]-base
		if e.Plain == nil {
			y[r] = headSum(e.Idx[lo:hi], x)
		} else {
			y[r] = headDot(e.Idx[lo:hi], e.Plain[lo:hi], x)
		}
	}
}

// headDot returns the sum of val[k]*x[idx[k]].
func headDot(idx []int32, val []float64, x *cpms.Heads) (sum float64) {
	if f := x.Floats(); f != nil {
		return csr.Dot(idx, val, f)
	}
	val = val[:len(idx)]
	tails, width, mask := x.Tails(), x.Width(), cpms.HeadMask(x.Width())
	for k, j := range idx {
		sum += val[k] * head(tails, width, mask, int(j))
	}
	return sum
}

// headSum returns the sum of x[idx[k]].
func headSum(idx []int32, x *cpms.Heads) (sum float64) {
	if f := x.Floats(); f != nil {
		for _, j := range idx {
			sum += f[j]
		}
		return sum
	}
	tails, width, mask := x.Tails(), x.Width(), cpms.HeadMask(x.Width())
	for _, j := range idx {
		sum += head(tails, width, mask, int(j))
	}
	return sum
}

func head(tails []byte, width int, mask uint64, j int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(tails[width*j:]) & mask)
}

// Rank ends a step of PageRank for len(sum) nodes. sum[i] is the incoming rank of node first+i.
//
//	p = damping*sum[i] + add
//	next[first+i] = p / degree[i], truncated to the width of next
//	diff += |next[first+i] - cur[first+i]| * degree[i]
//
// degree is nil, which stands for ones, or has len(sum) elements.
func Rank(l simd.Level, sum []float64, cur, next *cpms.Heads, first int, degree []int32, damping, add float64) (diff float64) {
	if first < 0 || len(sum) > min(cur.Len(), next.Len())-first || (degree != nil && len(degree) != len(sum)) {
		panic("simd: nodes outside the vectors")
	}
	done := 0
	if l >= simd.AVX2 {
		done, diff = rank(sum, cur, next, first, degree, damping, add)
	}
	for i := done; i < len(sum); i++ {
		p, d := damping*sum[i]+add, 1.0
		if degree != nil {
			d = float64(degree[i])
			p /= d
		}
		next.Set(first+i, p)
		diff += math.Abs(next.At(first+i)-cur.At(first+i)) * d
	}
	return diff
}
