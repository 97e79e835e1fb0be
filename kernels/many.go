package kernels

import "github.com/msrep-go/msrep/sparse"

// MultiVector is a dense matrix in the memory of one device, row by row: element (i, j)
// is element i*Stride+j of Val. Cols is 1 or more, Stride at least Cols. What lies
// between two rows is not touched.
type MultiVector[V sparse.Value] struct {
	Val          Array[V] // (rows-1)*Stride+Cols, or more
	Cols, Stride int
}

// MajorProductMany is Gather for several vectors at once, the columns of X and Y:
//
//	Y[r][j] = alpha * sum over the entries k of major r of val[k]*X[idx[k]][j] + beta*Y[r][j]
//
// X has one row per minor, Y one per owned major, both with the same number of
// columns. Carry has one element per column. The entries are read once for all
// columns, which is why it takes less than as many products.
type MajorProductMany[V sparse.Value] struct {
	A           Compressed[V]
	Alpha, Beta V
	X, Y        MultiVector[V]
	Carry       Array[V]
}

// Name names the operation.
func (*MajorProductMany[V]) Name() string { return "major-product-many" }

// ManyMultiplier is a Packed part that may run MajorProductManyPacked.
type ManyMultiplier interface {
	Packed
	// MultipliesMany reports whether it does: not every form does.
	MultipliesMany() bool
	// Workers is how many threads of the host multiply.
	Workers() int
}

// MajorProductManyPacked is MajorProductMany for a packed part: the same formula, the same
// blocks.
type MajorProductManyPacked[V sparse.Value] struct {
	A           Packed
	Alpha, Beta V
	X, Y        MultiVector[V]
	Carry       Array[V]
}

// Name names the operation.
func (*MajorProductManyPacked[V]) Name() string { return "major-product-many-packed" }

// MinorProductMany is Scatter for several vectors at once, the columns of X and Y:
//
//	Y = beta*Y, then Y[idx[k]][j] += alpha*val[k]*X[r][j] for every entry k of each major r
//
// X has one row per covered major. Y has one per minor and ends with its last one. A
// device that lacks memory for it says so (ErrOutOfMemory) before it writes to Y.
type MinorProductMany[V sparse.Value] struct {
	A           Compressed[V]
	Alpha, Beta V
	X, Y        MultiVector[V]
}

// Name names the operation.
func (*MinorProductMany[V]) Name() string { return "minor-product-many" }
