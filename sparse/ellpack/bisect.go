package ellpack

import "github.com/msrep-go/msrep/sparse"

// Bisected is BiELL or BiJAD. The rows of a warp of H, longest first, are cut into
// log2(H)+1 groups: group 0 holds all H rows up to the length of row H/2; group g
// the first H/2^g rows, from there up to the length of row H/2^(g+1), each shared by
// 2^g threads; the last group what is left of the first row.
//
// Group g of warp w has the places Start[groups*w+g] ... Start[groups*w+g+1]-1, H a
// step. In a step, thread t has an entry of row t mod H/2^g of the group; the threads
// of a row take its entries in turn.
type Bisected[V sparse.Value] struct {
	Shape  Shape
	Groups int     // of a warp
	Start  []int64 // Groups*warps+1
	Perm   []int32 // place i holds row Perm[i]
	Idx    []int32
	Val    []V
}

// group is the entries [from, to) that the rows of group g of a warp have there, and
// the steps they take.
func (l *Lengths) group(perm []int32, warp int64, g int) (from, to, steps int64) {
	h := int64(l.opt.Height)
	first := warp * h
	if g > 0 {
		from = l.at(perm, first+h>>g)
	}
	to = l.at(perm, first+h>>(g+1))
	return from, to, ceil(to-from, 1<<g)
}

// NewBisected builds FormatBiELL or FormatBiJAD. Errors are those of NewELL.
func NewBisected[V sparse.Value](f sparse.Format, r Rows[V], o Options) (*Bisected[V], error) {
	b, err := begin(&r, f, o)
	if err != nil {
		return nil, err
	}
	e := &Bisected[V]{Shape: b.shape, Groups: b.opt.groups()}
	if e.Start, err = take[int64](b.opt, int64(e.Groups)*b.len.warps()+1); err != nil {
		return nil, err
	}
	at := int64(0)
	for w := range b.len.warps() {
		for g := range e.Groups {
			e.Start[w*int64(e.Groups)+int64(g)] = at
			_, _, steps := b.len.group(b.perm, w, g)
			at += steps * int64(b.opt.Height)
		}
	}
	e.Start[len(e.Start)-1] = at
	if e.Idx, e.Val, err = b.entries(at); err != nil {
		return nil, err
	}
	b.eachWarp(func(lo, hi int64) {
		for w := lo; w < hi; w++ {
			for g := range e.Groups {
				b.bisected(e, w, g)
			}
		}
	})
	e.Perm, err = keep(b, b.perm)
	return e, err
}

// bisected fills group g of a warp.
func (b *builder[V]) bisected(e *Bisected[V], w int64, g int) {
	h := int64(b.opt.Height)
	from, to, steps := b.len.group(b.perm, w, g)
	at := e.Start[w*int64(e.Groups)+int64(g)]
	col, v := e.Idx[at:at+steps*h], e.Val[at:at+steps*h]
	for t := range h {
		idx, val := b.row(w*h + t&(h>>g-1))
		stop := min(to, int64(len(idx)))
		k := from + t/(h>>g) // the threads of a row take turns
		for p := t; p < steps*h; p, k = p+h, k+1<<g {
			if k < stop {
				col[p], v[p] = idx[k], val[k]
			} else {
				col[p] = empty
			}
		}
	}
}
