package dense

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// A product goes through A in blocks that stay in the second-level cache while all columns of B pass. It reads A where it
// is: a copy in the order of the tiles was slower, except with AVX2 and a leading dimension that is a multiple of 4096
// bytes, which a caller can avoid.
const (
	blockBytes = 192 * 8 // of a column of a block: whole tiles at each level. A block fills less than half of 1 MiB
	blockDepth = 256     // columns of a block
	fewDepth   = 8       // columns of a block for few columns of B: it reads these columns from end to end
	callCols   = 512     // columns of B of a call, which takes less than 1 ms: the garbage collector cannot stop a kernel
)

// gemmAssembly is gemm with assembly, for m, n and k > 0.
func gemmAssembly[V sparse.Value](m, n, k int, a []V, lda int, b []V, bk, bj int, c []V, ldc int) {
	size := int(unsafe.Sizeof(a[0]))
	args := productArgs[V]{lda: lda * size, bk: bk * size, bj: bj * size, ldc: ldc * size}
	depth, rows := blockDepth, blockBytes/size
	if n <= fewColumns {
		depth, rows = fewDepth, m
	}
	for p := 0; p < k; p += depth {
		args.k = min(depth, k-p)
		for i := 0; i < m; i += rows {
			args.m, args.a = min(rows, m-i), &a[i+p*lda]
			for j := 0; j < n; j += callCols {
				args.n, args.b, args.c = min(callCols, n-j), &b[p*bk+j*bj], &c[i+j*ldc]
				subtract(level, &args)
			}
		}
	}
}

// syrkAssembly is Syrk with assembly, for 0 < n <= triangleSide and k > 0.
func syrkAssembly[V sparse.Value](n, k int, a []V, lda int, c []V, ldc int) {
	size := int(unsafe.Sizeof(a[0]))
	args := productArgs[V]{k: k, lda: lda * size, bk: lda * size, bj: size, ldc: ldc * size}
	cols := columns(level)
	for j := 0; j < n; j += cols {
		args.m, args.n = min(cols, n-j), min(cols, n-j)
		args.a, args.b, args.c = &a[j], &a[j], &c[j+j*ldc]
		triangle(level, &args)
		if next := j + cols; next < n {
			args.m, args.a, args.c = n-next, &a[next], &c[next+j*ldc]
			subtract(level, &args)
		}
	}
}

// columns returns the number of columns of the largest tile of C.
func columns(l simd.Level) int {
	if l == simd.AVX512 {
		return 8
	}
	return 4
}
