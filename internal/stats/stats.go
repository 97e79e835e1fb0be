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

	// PowerLawR is the exponent R of P(k) ~ k^-R, where P(k) is the fraction of columns
	// with k entries, k >= 1. It is the negated slope of the least-squares line through
	// the points (ln k, ln P(k)) of the histogram, with equal weights for all k that
	// occur. It is nil (null in JSON) if fewer than two different k occur. The MSREP
	// paper takes values from 1 to 4 for a strong power law. It does not state its
	// estimator, so values may differ from its Table 2.
	PowerLawR *float64 `json:"power_law_R"`

	// Bandwidth is the largest |i-j| over all entries (i, j), Lower the largest i-j and
	// Upper the largest j-i, or 0 if there is no such entry.
	Bandwidth int64 `json:"bandwidth"`
	Lower     int64 `json:"lower_bandwidth"`
	Upper     int64 `json:"upper_bandwidth"`

	// RowCounts and ColCounts say how many rows and columns have each length, in ascending order of the length.
	RowCounts []LengthCount `json:"-"`
	ColCounts []LengthCount `json:"-"`

	// Formats maps csr, csc, coo and the formats of sparse/ellpack to the cost of the
	// matrix. For a matrix with more than 2^31-1 entries in a row, it holds only csr, csc,
	// coo, ell, ellr and pellr.
	Formats map[string]Cost `json:"formats"`
}

// RowLengths summarises the numbers of entries of the rows. All fields are 0 for a matrix
// without rows.
type RowLengths struct {
	Min    int64   `json:"min"`
	Max    int64   `json:"max"`
	Mean   float64 `json:"mean"`
	StdDev float64 `json:"stddev"` // population standard deviation
}

// LengthCount is the number of rows, or columns, with Length entries.
type LengthCount struct{ Length, Count int64 }

// Of computes the statistics of m, which must be valid (see sparse.CSR.Validate). The
// columns of a row need not be sorted.
//
// Of allocates 4 bytes per column (8 if m has 2^32 entries or more) and 12 bytes per row.
func Of[V sparse.Value](m *sparse.CSR[V]) Stats {
	rows := scanRows(m.RowPtr)
	cols := countColumns(m.Cols, m.ColIdx)
	s := Stats{
		Rows: m.Rows, Cols: m.Cols, NNZ: m.NNZ(),
		Row:       rows.lengths(),
		EmptyRows: rows.hist.count(0),
		EmptyCols: cols.count(0),
		PowerLawR: exponent(cols),
		RowCounts: rows.hist.counts(),
		ColCounts: cols.counts(),
	}
	s.Lower, s.Upper = bandwidths(m.RowPtr, m.ColIdx)
	s.Bandwidth = max(s.Lower, s.Upper)
	var v V
	s.Formats = costs(&s, rows, int64(unsafe.Sizeof(v)))
	addShapes(s.Formats, m.RowPtr, int64(unsafe.Sizeof(v)))
	return s
}
