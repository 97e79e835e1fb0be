package cpu

import (
	"sort"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
)

// localPtr runs kernels.LocalPtr.
func localPtr(m *memory.Memory, op *kernels.LocalPtr) (err error) {
	if err := op.Check(); err != nil {
		return err
	}
	v := memory.NewViews(m)
	defer v.Close(&err)
	src, dst := memory.View(v, "src", op.Src, op.Src.Len), memory.View(v, "dst", op.Dst, op.Dst.Len)
	return eachPointer(v, dst, func(lo, hi int64) {
		to := dst[lo:hi]
		for j, k := range src[lo:hi] {
			to[j] = min(max(k, op.Start), op.End) - op.Start
		}
	})
}

// cooPtr runs kernels.COOPtr. Each worker finds where its first major begins and then goes through its entries.
func cooPtr(m *memory.Memory, op *kernels.COOPtr) (err error) {
	if err := op.Check(); err != nil {
		return err
	}
	v := memory.NewViews(m)
	defer v.Close(&err)
	major, ptr := memory.View(v, "major", op.Major, op.Major.Len), memory.View(v, "ptr", op.Ptr, op.Ptr.Len)
	return eachPointer(v, ptr, func(lo, hi int64) {
		k := sort.Search(len(major), func(k int) bool { return int64(major[k]) >= op.First+lo })
		for j := lo; j < hi; j++ {
			for k < len(major) && int64(major[k]) < op.First+j {
				k++
			}
			ptr[j] = int64(k)
		}
	})
}

// eachPointer calls f for ranges of ptr on the workers.
func eachPointer(v *memory.Views, ptr []int64, f func(lo, hi int64)) error {
	if v.Err != nil {
		return v.Err
	}
	const grain = 1 << 13
	n, pool := int64(len(ptr)), v.Mem.Pool
	t := int(max(min(int64(pool.Size), n/grain), 1))
	return pool.Run(t, func(i int) { f(par.Cut(n, t, i), par.Cut(n, t, i+1)) })
}
