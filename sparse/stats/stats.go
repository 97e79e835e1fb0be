package stats

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// Stats describes the structure of a matrix.
type Stats struct {
	Rows int   `json:"rows"`
	Cols int   `json:"cols"`
	NNZ  int64 `json:"nnz"` // stored entries

	Row       RowLengths `json:"row"`
	EmptyRows int64      `json:"empty_rows"`
	EmptyCols int64      `json:"empty_cols"`

	// PowerLawR is the exponent R of P(k) ~ k^-R, where P(k) is the fraction of
	// columns with k entries, k >= 1: the negated slope of the least-squares
	// line through the points (ln k, ln P(k)) of the histogram, every k that
	// occurs weighing the same. It is nil (null in JSON) where fewer than two
	// different k occur. The paper takes values from 1 to 4 for a strong power
	// law; it does not state its estimator, so values may differ from its
	// Table 2.
	PowerLawR *float64 `json:"power_law_R"`

	// Bandwidth is the largest |i-j| over all entries (i, j), Lower the largest
	// i-j and Upper the largest j-i; each 0 where there is no such entry.
	Bandwidth int64 `json:"bandwidth"`
	Lower     int64 `json:"lower_bandwidth"`
	Upper     int64 `json:"upper_bandwidth"`

	// Formats says what the matrix would cost as csr, csc, coo and in the formats of
	// sparse/ellpack; of those only ell, ellr and pellr for a matrix of more than
	// 2^31-1 rows, or entries in a row.
	Formats map[string]Cost `json:"formats"`
}

// RowLengths is the distribution of the number of entries of a row. All are 0
// for a matrix without rows.
type RowLengths struct {
	Min    int64   `json:"min"`
	Max    int64   `json:"max"`
	Mean   float64 `json:"mean"`
	StdDev float64 `json:"stddev"` // of the population: divided by the number of rows
}

// Of describes m, which must be valid (see sparse.CSR.Validate). Columns need
// not be sorted.
//
// Beside the matrix it needs 4 bytes for each column (8 from 2^32 entries on) and 12
// for each row.
func Of[V sparse.Value](m *sparse.CSR[V]) Stats {
	rows := scanRows(m.RowPtr)
	cols := countColumns(m.Cols, m.ColIdx)
	s := Stats{
		Rows: m.Rows, Cols: m.Cols, NNZ: m.NNZ(),
		Row:       rows.lengths(),
		EmptyRows: rows.hist.count(0),
		EmptyCols: cols.count(0),
		PowerLawR: exponent(cols),
	}
	s.Lower, s.Upper = bandwidths(m.RowPtr, m.ColIdx)
	s.Bandwidth = max(s.Lower, s.Upper)
	var v V
	s.Formats = costs(&s, rows, int64(unsafe.Sizeof(v)))
	addShapes(s.Formats, m.RowPtr, int64(unsafe.Sizeof(v)))
	return s
}
