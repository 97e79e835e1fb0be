package eigen

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// symmetryRounding is the relative difference of a_ij and a_ji up to which a matrix is symmetric: files with decimal
// numbers may round the two differently.
const symmetryRounding = 1e-12

// checkSymmetric checks that a matrix with sorted rows and without duplicates is square and symmetric. Entries that are 0
// need no other entry.
func checkSymmetric(a *sparse.CSR[float64]) error {
	if a.Rows != a.Cols {
		return sparse.Inputf("matrix", "%d x %d: a matrix with eigenvalues is square; see singular values", a.Rows, a.Cols)
	}
	if a.Rows == 0 || exactlySymmetric(a, rand.Uint64()) {
		return nil
	}
	errs := make([]error, piecesOf(a))
	eachPiece(a, len(errs), func(i, lo, hi int) { errs[i] = checkRows(a, lo, hi) })
	return cmp.Or(errs...)
}

// piecesOf returns in how many pieces the rows are checked at the same time.
func piecesOf(a *sparse.CSR[float64]) int { return par.Workers(int64(len(a.Val)), 1<<15) }

// eachPiece cuts the rows into pieces with about as many entries each, and calls f for each at the same time.
func eachPiece(a *sparse.CSR[float64], pieces int, f func(i, lo, hi int)) {
	cut := func(i int) int {
		if i == pieces {
			return a.Rows
		}
		return sort.Search(a.Rows, func(r int) bool { return a.RowPtr[r] >= par.Cut(int64(len(a.Val)), pieces, i) })
	}
	par.Do(pieces, func(i int) { f(i, cut(i), cut(i+1)) })
}

// exactlySymmetric reports whether all elements a_ij and a_ji have the same bits, from reading the entries once, in their order.
// For random vectors r and s of integers, and a hash h of elements with h(0) = 0, it computes, modulo 2^64,
//
//	r'h(A)s - s'h(A)r = sum of (h(a_ij) - h(a_ji)) * r_i * s_j
//
// which is 0 for a symmetric matrix. For another one it is 0 with a probability of about 2^-58, over all seeds.
func exactlySymmetric(a *sparse.CSR[float64], seed uint64) bool {
	type pair struct{ r, s uint64 }
	vectors := make([]pair, a.Rows)
	for i := range vectors {
		seed += 0x9e3779b97f4a7c15 // splitmix64
		z := (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		vectors[i].r = z ^ z>>31
		hi, lo := bits.Mul64(z, 0xd6e8feb86659fd93)
		vectors[i].s = hi ^ lo
	}
	factor := vectors[0].r | 1
	var sum atomic.Uint64
	eachPiece(a, piecesOf(a), func(_, lo, hi int) {
		all := uint64(0)
		for i := lo; i < hi; i++ {
			var r, s uint64 // of row i of h(A)
			val := a.Val[a.RowPtr[i]:a.RowPtr[i+1]]
			for k, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]][:len(val)] {
				hi, lo := bits.Mul64(math.Float64bits(val[k]), factor)
				h, v := hi^lo, &vectors[j]
				r += h * v.r
				s += h * v.s
			}
			all += vectors[i].r*s - vectors[i].s*r
		}
		sum.Add(all)
	})
	return sum.Load() == 0
}

// checkRows checks that the entries right of the diagonal in columns lo to hi-1, and those left of it in rows lo to hi-1, are
// symmetric.
func checkRows(a *sparse.CSR[float64], lo, hi int) error {
	next := make([]int64, hi) // first entry of the row, right of the diagonal and in column lo or later, that no row below has met
	for i := range next {
		next[i] = a.RowPtr[i]
		if first := a.RowPtr[i+1]; i < lo && first > next[i] {
			at, _ := slices.BinarySearch(a.ColIdx[next[i]:first], int32(lo))
			next[i] += int64(at)
		}
	}
	differ := func(i, j int, v, w float64) error {
		return sparse.Inputf("matrix", "it is not symmetric: the entry in row %d, column %d is %g, and in row %d, column %d it is %g", i, j, v, j, i, w)
	}
	// entryAt skips the entries of row j in columns before i, which must be 0, and returns the one in column i.
	entryAt := func(j, i int) (float64, error) {
		for ; next[j] < a.RowPtr[j+1]; next[j]++ {
			col, v := int(a.ColIdx[next[j]]), a.Val[next[j]]
			switch {
			case col == i:
				next[j]++
				return v, nil
			case col > i:
				return 0, nil
			case col > j && col >= lo && v != 0:
				return 0, differ(j, col, v, 0)
			}
		}
		return 0, nil
	}
	for i := lo; i < hi; i++ {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1] && int(a.ColIdx[k]) < i; k++ {
			j, v := int(a.ColIdx[k]), a.Val[k]
			if e := next[j]; e < a.RowPtr[j+1] && int(a.ColIdx[e]) == i && a.Val[e] == v {
				next[j]++
				continue
			}
			w, err := entryAt(j, i)
			if err == nil && math.Abs(v-w) > symmetryRounding*max(math.Abs(v), math.Abs(w)) {
				err = differ(i, j, v, w)
			}
			if err != nil {
				return err
			}
		}
	}
	for j := range hi {
		if _, err := entryAt(j, hi); err != nil {
			return err
		}
	}
	return nil
}
