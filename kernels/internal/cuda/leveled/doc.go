// Package leveled prepares a triangular matrix for the kernels of
// kernels/internal/cuda/triangular.cu.
//
// The level of a row is one more than the largest level of the rows that it depends on,
// and 0 for a row that depends on none. New puts the rows in the order of their levels
// and numbers them by their places in this order. Rows of one level, which do not depend
// on each other, thus lie side by side, in as many warps as a GPU has.
//
// A row of more than twice MostEntries entries is cut. Each piece becomes a row of its
// own, without an element of b and x:
//
//	x[piece] = -(sum over the entries k of the piece of val[k]*x[idx[k]])
//
// and the rest of the row gets the entry -1 in column `piece`. So no warp adds a long row
// alone.
package leveled
