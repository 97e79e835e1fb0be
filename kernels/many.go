package kernels

import "github.com/msrep-go/msrep/sparse"

// MultiVector is several vectors of equal length in the memory of one device, stored row by row: element i
// of vector j is Val[i*Stride+j]. Cols, the number of vectors, is at least 1, and Stride is at least Cols.
// Operations neither read nor write the elements between two rows.
type MultiVector[V sparse.Value] struct {
	Val          Array[V] // (rows-1)*Stride+Cols, or more
	Cols, Stride int
}

// MajorProductMany is MajorProduct for several vectors at once, the columns of X and Y:
//
//	Y[r][j] = alpha * sum over the entries k of major r of val[k]*X[idx[k]][j] + beta*Y[r][j]
//
// X has one row per minor, Y one row per owned major, both with the same number of columns. Carry has one
// element per column. The entries are read once for all columns, so it takes less time than one product
// for each column.
type MajorProductMany[V sparse.Value] struct {
	A           Compressed[V]
	Alpha, Beta V
	X, Y        MultiVector[V]
	Carry       Array[V]
}

// Name returns the name of the operation.
func (*MajorProductMany[V]) Name() string { return "major-product-many" }

// ManyMultiplier is a Packed part that may support MajorProductManyPacked.
type ManyMultiplier interface {
	Packed
	// MultipliesMany reports whether the form of the part supports MajorProductManyPacked.
	MultipliesMany() bool
	// Workers returns the number of host threads that multiply.
	Workers() int
}

// MajorProductManyPacked is MajorProductMany for a packed part, with the same formula and shapes.
type MajorProductManyPacked[V sparse.Value] struct {
	A           Packed
	Alpha, Beta V
	X, Y        MultiVector[V]
	Carry       Array[V]
}

// Name returns the name of the operation.
func (*MajorProductManyPacked[V]) Name() string { return "major-product-many-packed" }

// MinorProductMany is MinorProduct for several vectors at once, the columns of X and Y:
//
//	Y = beta*Y, then Y[idx[k]][j] += alpha*val[k]*X[r][j] for every entry k of each major r
//
// X has one row per covered major. Y has one row per minor and no further rows. A device that does not have
// the memory it needs returns an error that wraps ErrOutOfMemory before it writes to Y.
type MinorProductMany[V sparse.Value] struct {
	A           Compressed[V]
	Alpha, Beta V
	X, Y        MultiVector[V]
}

// Name returns the name of the operation.
func (*MinorProductMany[V]) Name() string { return "minor-product-many" }
