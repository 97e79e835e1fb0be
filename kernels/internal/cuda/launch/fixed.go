package launch

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// majorProductFixed plans kernels.MajorProductFixed. The caller must ensure that the last row ends
// in the part, because the pointers are on the device.
func majorProductFixed[V sparse.Value](b *builder, op *kernels.MajorProductFixed[V]) {
	if op.A.Part.StartFlag {
		b.err = fmt.Errorf("%w: part %+v does not hold whole rows", kernels.ErrArgument, op.A.Part)
		return
	}
	a := openCompressed(b, op.A)
	x := array(b, "x", op.X, op.X.Len)
	y := array(b, "y", op.Y, a.rows)
	if a.rows > 0 {
		b.call("msrep_major_fixed"+suffix[V](), a.rows, a.ptr, a.idx, a.val, x, y, a.rows, a.first, op.Alpha, op.Beta)
	}
}
