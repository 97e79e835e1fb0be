package sparse

import "math"

// Value is the type of a matrix entry and of the vectors it is multiplied with.
type Value interface{ float32 | float64 }

// MaxDim is the largest number of rows or columns that a 32-bit index array
// addresses.
const MaxDim = math.MaxInt32

// Format names how the entries of a matrix are laid out.
type Format string

// The formats of this package.
const (
	FormatCSR Format = "csr"
	FormatCSC Format = "csc"
	FormatCOO Format = "coo"
)

// Field says what kind of values a file stored.
type Field string

// The fields that can be read.
const (
	Real    Field = "real"
	Integer Field = "integer"
	Pattern Field = "pattern" // positions only; every value is 1
)

// Symmetry says which half of a matrix a file stored.
type Symmetry string

// The symmetries that can be read. Matrices in memory are always general:
// readers expand the other two.
const (
	General       Symmetry = "general"
	Symmetric     Symmetry = "symmetric"
	SkewSymmetric Symmetry = "skew-symmetric" // a[j][i] = -a[i][j]
)

// Source says what a file held before its entries were expanded and sorted.
type Source struct {
	Field    Field
	Symmetry Symmetry
	Stored   int64 // entries in the file, duplicates and one half of a symmetric matrix counted as they stand
	// Note says, in words for people, what of the file the matrix does not have as it stands there, such as
	// values that were rounded; it is empty where there is nothing to say.
	Note string
}

// Matrix is any of *CSR, *CSC and *COO, and what embeds one of them, as *matio.Matrix does.
type Matrix[V Value] interface {
	Dims() (rows, cols int)
	NNZ() int64
	Format() Format
	// Validate checks every length, pointer and index; nil means that no kernel
	// can leave the arrays.
	Validate() error
	// plain is the one of the three that it is or embeds.
	plain() Matrix[V]
}

var (
	_ Matrix[float64] = (*CSR[float64])(nil)
	_ Matrix[float64] = (*CSC[float64])(nil)
	_ Matrix[float64] = (*COO[float64])(nil)
)
