package form

import (
	"cmp"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// Copy copies rows to memory from r.Mem.
func Copy[V sparse.Value](r Rows[V]) (Rows[V], error) {
	out := r
	err := cmp.Or(
		Alloc(r.Mem, &out.Ptr, int64(len(r.Ptr))),
		Alloc(r.Mem, &out.Idx, int64(len(r.Idx))),
		Alloc(r.Mem, &out.Val, int64(len(r.Val))),
	)
	copy(out.Ptr, r.Ptr)
	copy(out.Idx, r.Idx)
	copy(out.Val, r.Val)
	return out, err
}

// CopyBytes returns the memory of a copy of r.
func CopyBytes[V sparse.Value](r *Rows[V]) int64 {
	return 8*int64(len(r.Ptr)) + 4*int64(len(r.Idx)) + mem.Size[V]()*int64(len(r.Val))
}
