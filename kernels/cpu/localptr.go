package cpu

import (
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
)

func localPtr(d *Device, op *kernels.LocalPtr) (err error) {
	if err := op.Check(); err != nil {
		return err
	}
	v := newViews(d)
	defer v.close(&err)
	src, dst := view(v, "src", op.Src, op.Src.Len), view(v, "dst", op.Dst, op.Dst.Len)
	if v.err != nil {
		return v.err
	}
	const grain = 1 << 13
	n := int64(len(dst))
	t := int(max(min(int64(d.info.Threads), n/grain), 1))
	return d.pool.run(t, func(i int) {
		lo, hi := par.Cut(n, t, i), par.Cut(n, t, i+1)
		to := dst[lo:hi]
		for j, k := range src[lo:hi] {
			to[j] = min(max(k, op.Start), op.End) - op.Start
		}
	})
}
