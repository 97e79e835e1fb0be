package leftlooking

import (
	"math"
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// entries is the pattern of P A Q. The diagonal blocks and the entries above them are
// apart: column k has in its block the rows row[ptr[k]:ptr[k+1]], numbered from the first
// of the block, and above it the rows offRow[offPtr[k]:offPtr[k+1]].
type entries struct {
	ptr, offPtr []int
	row, offRow []int32
	// Entry p of the matrix is element to[p] of row if to[p] >= 0, or else element ^to[p] of
	// offRow.
	to []int
}

// permute sets the pattern of P A Q.
func (s *Symbolic) permute(a *sparse.CSR[float64]) {
	type place struct{ position, first int32 } // of a column, and the first of its block
	places := make([]place, s.n)
	for k, j := range s.cols {
		places[j] = place{int32(k), s.first[k]}
	}
	e := &s.entries
	e.ptr, e.offPtr = make([]int, s.n+2), make([]int, s.n+2)
	for k, i := range s.rows {
		for _, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
			if c := places[j]; int(c.first) > k {
				e.offPtr[c.position+2]++
			} else {
				e.ptr[c.position+2]++
			}
		}
	}
	for k := range s.n {
		e.ptr[k+2] += e.ptr[k+1]
		e.offPtr[k+2] += e.offPtr[k+1]
	}
	ptr, offPtr := e.ptr[1:], e.offPtr[1:] // the next element of each column
	row, offRow := make([]int32, e.ptr[s.n+1]), make([]int32, e.offPtr[s.n+1])
	e.to = make([]int, len(a.ColIdx))
	for k, i := range s.rows {
		lo, hi := a.RowPtr[i], a.RowPtr[i+1]
		to := e.to[lo:hi]
		for p, j := range a.ColIdx[lo:hi] {
			c := places[j]
			if int(c.first) > k {
				q := offPtr[c.position]
				offPtr[c.position]++
				offRow[q], to[p] = int32(k), ^q
			} else {
				q := ptr[c.position]
				ptr[c.position]++
				row[q], to[p] = int32(k)-c.first, q
			}
		}
	}
	e.ptr, e.offPtr, e.row, e.offRow = e.ptr[:s.n+1], e.offPtr[:s.n+1], row, offRow
}

// values are those of P R A C Q, in the order of entries.
type values struct {
	val, offVal []float64
	scale       []float64 // R: a power of two for each row of the matrix
}

// gather scales and permutes the values of a. A value that is NaN or infinite, and another
// pattern than the one that was analysed, are a *sparse.InputError.
func (s *Symbolic) gather(a *sparse.CSR[float64]) (*values, error) {
	if a.Rows != s.n || a.Cols != s.n || !slices.Equal(a.RowPtr, s.rowPtr) || !slices.Equal(a.ColIdx, s.colIdx) {
		return nil, sparse.Inputf("matrix", "has another pattern than the matrix that was analysed")
	}
	v := &values{val: make([]float64, len(s.row)), offVal: make([]float64, len(s.offRow)), scale: make([]float64, s.n)}
	for i := range s.n {
		lo, hi := a.RowPtr[i], a.RowPtr[i+1]
		val, to := a.Val[lo:hi], s.to[lo:hi]
		r, err := rowScale(a, i)
		if err != nil {
			return nil, err
		}
		if s.rowScale != nil {
			r = s.rowScale[i]
		}
		v.scale[i] = r
		for p, x := range val {
			x *= r
			if s.colScale != nil {
				x = r * s.colScale[a.ColIdx[lo+int64(p)]] * val[p]
			}
			if q := to[p]; q >= 0 {
				v.val[q] = x
			} else {
				v.offVal[^q] = x
			}
		}
	}
	return v, nil
}

// rowScale returns the power of two that scales the largest entry of row i to [1, 2), or as
// near as a normal number does, and 1 for a row of zeros. A value that is NaN or infinite is a
// *sparse.InputError.
func rowScale(a *sparse.CSR[float64], i int) (float64, error) {
	most := 0.0
	for p := a.RowPtr[i]; p < a.RowPtr[i+1]; p++ {
		x := math.Abs(a.Val[p])
		if x > most {
			most = x
		}
		if !(x <= math.MaxFloat64) {
			return 0, sparse.Inputf("matrix", "row %d, column %d is %v: a factorisation needs finite values", i, a.ColIdx[p], a.Val[p])
		}
	}
	return reciprocalPower(most), nil
}

// reciprocalPower returns the power of two for which x times it is in [1, 2), or the nearest
// that is normal; 1 for x = 0.
func reciprocalPower(x float64) float64 {
	if x == 0 {
		return 1
	}
	const bias, mantissa = 1023, 52
	exponent := math.Float64bits(x) >> mantissa
	exponent = min(max(exponent, 1), 2*bias-1)
	return math.Float64frombits((2*bias - exponent) << mantissa)
}

// powersOfTwo returns the powers of two nearest below the scales, between 2^-511 and 2^511,
// so that products of two do not overflow.
func powersOfTwo(scales []float64) []float64 {
	out := make([]float64, len(scales))
	for i, v := range scales {
		out[i] = math.Ldexp(1, min(max(math.Ilogb(v), -511), 511))
	}
	return out
}
