package tiles

import (
	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// TileRereadRatio returns the bytes of x that tiles read (x once per block of rows), divided by the
// bytes that bins move in addition (one write and one read per entry). It returns 0 if x is near
// enough to the second-level cache to be read fast.
func TileRereadRatio[V sparse.Value](r form.Rows[V]) float64 {
	second := 2 * form.HalfCache[V](cpuid.CPU.Cache.L2, form.SecondCache) // elements that fill the second-level cache
	if r.Cols <= form.NearSecond*second || len(r.Idx) == 0 {
		return 0
	}
	blocks := float64(len(r.Ptr)-1) / float64(min(second/2, form.TileRows))
	return blocks * float64(r.Cols) / (2 * float64(len(r.Idx)))
}
