package cpu

import (
	"sort"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
)

// cooPtr runs kernels.COOPtr. Each worker finds where its first major begins and then goes through its entries.
func cooPtr(d *Device, op *kernels.COOPtr) (err error) {
	if err := op.Check(); err != nil {
		return err
	}
	v := newViews(d)
	defer v.close(&err)
	major, ptr := view(v, "major", op.Major, op.Major.Len), view(v, "ptr", op.Ptr, op.Ptr.Len)
	if v.err != nil {
		return v.err
	}
	const grain = 1 << 13
	n := int64(len(ptr))
	t := int(max(min(int64(d.info.Threads), n/grain), 1))
	return d.pool.run(t, func(i int) {
		lo, hi := par.Cut(n, t, i), par.Cut(n, t, i+1)
		k := sort.Search(len(major), func(k int) bool { return int64(major[k]) >= op.First+lo })
		for j := lo; j < hi; j++ {
			for k < len(major) && int64(major[k]) < op.First+j {
				k++
			}
			ptr[j] = int64(k)
		}
	})
}
