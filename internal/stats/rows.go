package stats

import (
	"math"
	"math/big"
	"math/bits"
	"sync"

	"github.com/msrep-go/msrep/internal/par"
)

// warpRows is the number of rows of a warp, one per thread.
const warpRows = 32

// rowScan is the result of one pass over the row pointers.
type rowScan struct {
	hist     *histogram // row lengths
	rows     int64
	nnz      int64
	sumSqHi  uint64 // sum of the squared lengths, 128 bits
	sumSqLo  uint64
	warpIter int64 // Equation (1) for the rows in the order of the matrix
}

func scanRows(rowPtr []int64) *rowScan {
	rows := int64(len(rowPtr) - 1)
	total := &rowScan{hist: newHistogram(), rows: rows, nnz: rowPtr[rows]}
	var mu sync.Mutex
	par.Range(warps(rows), 1<<15/warpRows, func(lo, hi int64) {
		part := &rowScan{hist: newHistogram()}
		for w := lo; w < hi; w++ {
			part.addWarp(rowPtr[w*warpRows : min(w*warpRows+warpRows, rows)+1])
		}
		mu.Lock()
		defer mu.Unlock()
		total.merge(part)
	})
	return total
}

// addWarp adds the rows between the pointers of one warp.
func (s *rowScan) addWarp(ptr []int64) {
	var longest int64
	for i, end := range ptr[1:] {
		n := end - ptr[i]
		longest = max(longest, n)
		s.hist.add(n, 1)
		hi, lo := bits.Mul64(uint64(n), uint64(n))
		s.addSquares(hi, lo)
	}
	s.warpIter += longest
}

func (s *rowScan) addSquares(hi, lo uint64) {
	var carry uint64
	s.sumSqLo, carry = bits.Add64(s.sumSqLo, lo, 0)
	s.sumSqHi += hi + carry
}

func (s *rowScan) merge(o *rowScan) {
	s.hist.merge(o.hist)
	s.addSquares(o.sumSqHi, o.sumSqLo)
	s.warpIter += o.warpIter
}

// lengths returns the minimum, the maximum, the mean S/n and the population standard
// deviation sqrt(n Q - S^2)/n, where S and Q are the sums of the lengths and of their
// squares. The term under the root is exact.
func (s *rowScan) lengths() RowLengths {
	if s.rows == 0 {
		return RowLengths{}
	}
	values := s.hist.values()
	q := new(big.Int).SetUint64(s.sumSqHi)
	q.Lsh(q, 64).Or(q, new(big.Int).SetUint64(s.sumSqLo))
	q.Mul(q, big.NewInt(s.rows))
	sum := big.NewInt(s.nnz)
	q.Sub(q, sum.Mul(sum, sum))
	n := float64(s.rows)
	root, _ := new(big.Float).SetInt(q).Float64() // below 2^191: no overflow
	return RowLengths{
		Min:    values[0],
		Max:    values[len(values)-1],
		Mean:   float64(s.nnz) / n,
		StdDev: math.Sqrt(root) / n,
	}
}

// sortedWarpIterations returns Equation (1) for the rows sorted by descending length: the
// first row of each warp is its longest.
func (s *rowScan) sortedWarpIterations() int64 {
	var iterations, row int64 // row: the number of rows longer than k
	values := s.hist.values()
	for i := len(values) - 1; i >= 0; i-- {
		k := values[i]
		end := row + s.hist.count(k)
		iterations += k * (warps(end) - warps(row)) // warps that start in rows [row, end)
		row = end
	}
	return iterations
}

// warps returns the number of warps of rows rows, ceil(rows/32).
func warps(rows int64) int64 {
	w := rows / warpRows
	if rows%warpRows != 0 {
		w++
	}
	return w
}
