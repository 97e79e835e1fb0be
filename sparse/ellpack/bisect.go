package ellpack

import "github.com/msrep-go/msrep/sparse"

// Bisected is BiELL or BiJAD. The rows of a warp of H rows, longest first, are divided
// into log2(H)+1 groups. Group 0 holds all H rows up to the length of row H/2. Group g
// holds the entries of the first H/2^g rows from there up to the length of row H/2^(g+1),
// and 2^g threads share a row. The last group holds the rest of the first row.
//
// Group g of warp w has the slots Start[groups*w+g] ... Start[groups*w+g+1]-1, H per
// step. In each step, thread t has an entry of row t mod H/2^g of the group. The entries
// of a row go to its threads in rotation.
type Bisected[V sparse.Value] struct {
	Shape  Shape
	Groups int     // groups per warp
	Start  []int64 // Groups*warps+1
	Perm   []int32 // position i holds row Perm[i]
	Idx    []int32
	Val    []V
}

// group returns the range of entries [from, to) that group g of a warp takes from each of
// its rows, and the number of steps for them.
func (l *Lengths) group(perm []int32, warp int64, g int) (from, to, steps int64) {
	h := int64(l.opt.Height)
	first := warp * h
	if g > 0 {
		from = l.at(perm, first+h>>g)
	}
	to = l.at(perm, first+h>>(g+1))
	return from, to, ceil(to-from, 1<<g)
}

// NewBisected builds FormatBiELL or FormatBiJAD, with the errors of NewELL.
func NewBisected[V sparse.Value](f sparse.Format, r Rows[V], o Options) (*Bisected[V], error) {
	b, err := newBuilder(&r, f, o)
	if err != nil {
		return nil, err
	}
	e := &Bisected[V]{Shape: b.shape, Groups: b.opt.groups()}
	if e.Start, err = allocate[int64](b.opt, int64(e.Groups)*b.len.warps()+1); err != nil {
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
	e.Perm, err = allocCopy(b, b.perm)
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
		k := from + t/(h>>g) // thread number t/(h>>g) of its row
		for p := t; p < steps*h; p, k = p+h, k+1<<g {
			if k < stop {
				col[p], v[p] = idx[k], val[k]
			} else {
				col[p] = empty
			}
		}
	}
}
