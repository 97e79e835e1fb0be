package blocks

import "github.com/msrep-go/msrep/sparse"

// blockArgs are the arguments of the kernels of MultiplyBlocks:
//
//	for s := range n {
//		for every block of every lane in the mask: acc[i*lanes+lane] += val[j][i][lane] * x[idx[lane]+j]
//		sums[s*height*lanes:] = acc
//	}
type blockArgs[V sparse.Value] struct {
	n              int // slices
	widths         *uint32
	masks          *uint16
	val            *byte
	idx            *int32
	columns        int // of a block
	x, table, sums *V
	height         int // rows of a block
	bytes          int // of one column of the blocks of all lanes
	ahead          int // 0: values are not prefetched
}

// transposedBlockArgs are the arguments of the kernels of AddBlocksTransposed with after = 1:
//
//	for every block of every lane of n slices:
//		y[idx[lane]+j-first] += val[j][i][lane] * factors[i*lanes+lane]
type transposedBlockArgs[V sparse.Value] struct {
	n                 int // slices
	widths            *uint32
	masks             *uint16
	val               *byte
	idx               *int32
	height            int // rows of a block
	table, factors, y *V
	first             int // column of y[0]
	sums              *V  // scratch: a register for each column of a block
	end               int // elements of sums
}

// manyBlockArgs are the arguments of the kernels of MultiplyBlocksMany, which multiply the lanes first, first+1, ... of n
// slices, manyBlocksTogether of them, by one register of columns. widths, masks and columns are those of manyBlocks.
type manyBlockArgs[V sparse.Value] struct {
	n             int
	widths        *uint32
	masks         *uint16
	first         int
	val           *V     // from lane first on
	idx           *int32 // from lane first on
	columns       int    // of a block
	x             *V
	ldx           int // bytes from one row of x to the next
	y             *V
	ldy           int     // bytes
	order         *uint16 // from lane first on
	rows          int     // length of order from there on
	alpha, beta   V
	last          int  // columns of y
	reads, stream bool // y is read; y is written past the caches
	next          uintptr
	step          int // bytes prefetched from next on for each column of a block, to the second-level cache
}
