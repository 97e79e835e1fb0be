package sparse

import "math"

// Value is the type of a matrix entry and of the elements of the vectors that a matrix is
// multiplied with.
type Value interface{ float32 | float64 }

// MaxDim is the largest number of rows or columns of a matrix, whose indices are 32 bits
// wide.
const MaxDim = math.MaxInt32

// Format names a layout of the entries of a matrix.
type Format string

// The formats of this package.
const (
	FormatCSR Format = "csr"
	FormatCSC Format = "csc"
	FormatCOO Format = "coo"
)

// Field names the kind of the values in a file.
type Field string

// The fields that readers accept.
const (
	Real    Field = "real"
	Integer Field = "integer"
	Pattern Field = "pattern" // positions only; every value is 1
)

// Symmetry states whether a file stores a whole matrix or only one triangle of it.
type Symmetry string

// The symmetries that readers accept. Matrices in memory are always general: readers
// expand the other two.
const (
	General       Symmetry = "general"
	Symmetric     Symmetry = "symmetric"
	SkewSymmetric Symmetry = "skew-symmetric" // a[j][i] = -a[i][j]
)

// Source describes what a file held before its entries were expanded and sorted.
type Source struct {
	Field    Field
	Symmetry Symmetry
	Stored   int64 // number of entries in the file, before duplicates are added and symmetry is expanded
	// Note states, as text for the user, how the matrix differs from the content of the
	// file, for example that values were rounded. It is empty if there is no difference.
	Note string
}

// Matrix is *CSR, *CSC, *COO, or a type that embeds one of them, such as *matio.Matrix.
type Matrix[V Value] interface {
	Dims() (rows, cols int)
	NNZ() int64
	Format() Format
	// Validate checks every length, pointer and index. If it returns nil, no kernel can
	// read outside the arrays.
	Validate() error
	// plain returns the CSR, CSC or COO that the matrix is or embeds.
	plain() Matrix[V]
}

var (
	_ Matrix[float64] = (*CSR[float64])(nil)
	_ Matrix[float64] = (*CSC[float64])(nil)
	_ Matrix[float64] = (*COO[float64])(nil)
)
