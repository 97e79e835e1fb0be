package form

import "github.com/msrep-go/msrep/sparse"

// Copy is the same rows in memory of their own, from r.Mem.
func Copy[V sparse.Value](r Rows[V]) (Rows[V], error) {
	out := r
	var err error
	if out.Ptr, err = Make[int64](r.Mem, int64(len(r.Ptr))); err != nil {
		return out, err
	}
	if out.Idx, err = Make[int32](r.Mem, int64(len(r.Idx))); err != nil {
		return out, err
	}
	if out.Val, err = Make[V](r.Mem, int64(len(r.Val))); err != nil {
		return out, err
	}
	copy(out.Ptr, r.Ptr)
	copy(out.Idx, r.Idx)
	copy(out.Val, r.Val)
	return out, nil
}
