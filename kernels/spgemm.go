package kernels

import (
	"fmt"

	"github.com/msrep-go/msrep/sparse"
)

// Structure is the structure of consecutive rows of a CSR matrix, in the memory of one device: row r has the columns
// Idx[k-First] for Ptr[r] <= k < Ptr[r+1].
type Structure struct {
	Ptr   Array[int64] // one element more than there are rows
	Idx   Array[int32]
	First int64 // the number of the first entry in Idx: Ptr[0]
}

// SpGEMMFactors are the structures of the factors of C = A B. A has consecutive rows of the left factor. B has consecutive
// rows of the right factor, with all rows that the columns of A name: row c of the right factor is row c-RowB of B.
type SpGEMMFactors struct {
	A, B Structure
	RowB int64
	Cols int64 // of B, and of C
}

// SpGEMMRows lists rows of A by their accumulator. SpGEMMCountRows and SpGEMMFillRows make these lists.
type SpGEMMRows struct {
	Warp, Block Array[int32] // a hash table in shared memory, for a warp or for a block of threads
	// Dense rows have arrays of all columns, in global memory: a bit for each column of C in Bits, and a sum for each in
	// SpGEMMFill.Sums. Each block needs (Cols+31)/32 words of Bits (SpGEMMWords); as many blocks run as there is memory for.
	Dense Array[int32]
	Bits  Array[int32] // zero before and after; empty if Dense is
}

// SpGEMMCount counts the entries of the listed rows of C = A B:
//
//	Count[r] = number of distinct columns in the rows idx[k] of B, over the entries k of row r of A
//
// Entries whose value is 0 count. Count has an element for each row of A; the operation writes those of listed rows only.
type SpGEMMCount struct {
	Of    SpGEMMFactors
	Rows  SpGEMMRows
	Count Array[int32]
}

// SpGEMMFill computes the columns and values of the listed rows of C = A B:
//
//	C[r][j] = sum over the entries k of row r of A of ValA[k]*B[idx[k]][j]
//
// Row r of C is Idx[k], Val[k] for Ptr[r] <= k < Ptr[r+1]; Ptr[r+1]-Ptr[r] must be the Count[r] of SpGEMMCount. The columns
// of a row ascend. The products of an element are added in the order of A's row, then of B's row, and each product and each
// sum is rounded. So the bits do not depend on the device.
type SpGEMMFill[V sparse.Value] struct {
	Of         SpGEMMFactors
	ValA, ValB Array[V] // as Of.A.Idx and Of.B.Idx
	Rows       SpGEMMRows
	Sums       Array[V] // Cols elements for each block; empty if Rows.Dense is
	Ptr        Array[int64]
	Idx        Array[int32]
	Val        Array[V]
}

// Name returns the name of the operation.
func (*SpGEMMCount) Name() string { return "spgemm-count" }

// Name returns the name of the operation.
func (*SpGEMMFill[V]) Name() string { return "spgemm-fill" }

// The numbers of entries of the largest rows that hash tables hold: three quarters of a table.
const (
	spgemmCountWarp  = 1024 * 3 / 4
	spgemmCountBlock = 8192 * 3 / 4
	spgemmFillWarp   = 512 * 3 / 4
	spgemmFillBlock  = 2048 * 3 / 4
)

// SpGEMMLists holds rows for SpGEMMRows, in host memory.
type SpGEMMLists struct{ Warp, Block, Dense []int32 }

// SpGEMMCountRows lists the rows that SpGEMMCount must count. products[r] is the number of multiplications of row r: the
// number of entries of row idx[k] of B, summed over the entries k of row r of A. Rows without any are in no list.
func SpGEMMCountRows(products []int64, cols int64) (lists SpGEMMLists) {
	for r, n := range products {
		lists.add(int32(r), min(n, cols), n, spgemmCountWarp, spgemmCountBlock)
	}
	return lists
}

// SpGEMMFillRows lists the rows that SpGEMMFill must compute. Row r of C has count[r] entries. products is as for
// SpGEMMCountRows.
func SpGEMMFillRows(products []int64, count []int32) (lists SpGEMMLists) {
	for r, n := range products {
		lists.add(int32(r), int64(count[r]), n, spgemmFillWarp, spgemmFillBlock)
	}
	return lists
}

// add lists row r, which has at most the given number of entries. The kernels with hash tables number products with 32 bits.
func (l *SpGEMMLists) add(r int32, entries, products, warp, block int64) {
	switch {
	case entries == 0:
	case entries > block || products >= 1<<31:
		l.Dense = append(l.Dense, r)
	case entries > warp:
		l.Block = append(l.Block, r)
	default:
		l.Warp = append(l.Warp, r)
	}
}

// SpGEMMWords returns the words of SpGEMMRows.Bits for each block.
func SpGEMMWords(cols int64) int64 { return (cols + 31) / 32 }

// Check returns an error that wraps ErrArgument if the sizes contradict each other.
func (f *SpGEMMFactors) Check() error {
	switch {
	case f.A.Ptr.Len < 1 || f.B.Ptr.Len < 1:
		return fmt.Errorf("%w: pointers without elements; they need one more than there are rows", ErrArgument)
	case f.RowB < 0 || f.Cols < 0 || f.Cols > sparse.MaxDim:
		return fmt.Errorf("%w: row %d of B first, %d columns", ErrArgument, f.RowB, f.Cols)
	}
	return nil
}

// DenseBlocks returns the number of blocks for which Bits and an array of sums elements have room; sums is -1 for an
// operation without sums. An error wraps ErrArgument.
func (r *SpGEMMRows) DenseBlocks(cols, sums int64) (int64, error) {
	if r.Dense.Len == 0 {
		return 0, nil
	}
	if cols < 1 {
		return 0, fmt.Errorf("%w: dense rows of %d columns", ErrArgument, cols)
	}
	words := SpGEMMWords(cols)
	n := r.Bits.Len / words
	if sums >= 0 {
		n = min(n, sums/cols)
	}
	if n < 1 {
		return 0, fmt.Errorf("%w: %d words of bits and %d sums; a block needs %d and %d", ErrArgument, r.Bits.Len, sums, words, cols)
	}
	return n, nil
}
