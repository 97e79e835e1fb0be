package blocks

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// addBlocks adds a column of 8 blocks, one per lane, of lanes lanes, to the sums of its rows:
//
//	sums[r*lanes+i] += val[r*lanes+i]*x[idx[i]],  i < 8, r < height
func addBlocks[V sparse.Value](val []V, idx *[form.Unrolled]int32, lanes, height int, x, sums []V) {
	x0, x1, x2, x3 := x[idx[0]], x[idx[1]], x[idx[2]], x[idx[3]]
	x4, x5, x6, x7 := x[idx[4]], x[idx[5]], x[idx[6]], x[idx[7]]
	for k := 0; height > 0; height-- {
		v, s := (*[form.Unrolled]V)(val[k:]), (*[form.Unrolled]V)(sums[k:])
		s[0] += v[0] * x0
		s[1] += v[1] * x1
		s[2] += v[2] * x2
		s[3] += v[3] * x3
		s[4] += v[4] * x4
		s[5] += v[5] * x5
		s[6] += v[6] * x6
		s[7] += v[7] * x7
		k += lanes
	}
}
