package ellpack

import (
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// ErrMemory reports that a format is within the allowed size but does not fit into the
// machine's available memory.
var ErrMemory = errors.New("out of memory")

// empty is the column index of a slot without an entry.
const empty = -1

// builder holds the rows and the results of a conversion to a format.
type builder[V sparse.Value] struct {
	rows  *Rows[V]
	opt   *Options
	len   *Lengths
	shape Shape
	perm  []int32 // on the Go heap; nil keeps the order of the matrix
}

// newBuilder measures rows for a format and checks that the format fits into memory.
func newBuilder[V sparse.Value](r *Rows[V], f sparse.Format, o Options) (*builder[V], error) {
	l, err := Measure(r.Ptr, r.First, r.End, o)
	if err != nil {
		return nil, err
	}
	if n := r.End - r.First; int64(len(r.Idx)) != n || int64(len(r.Val)) != n {
		return nil, sparse.Inputf("matrix", "%d columns and %d values: there are %d entries", len(r.Idx), len(r.Val), n)
	}
	b := &builder[V]{rows: r, opt: &l.opt, len: l}
	b.shape, b.perm, _ = l.shape(f, mem.Size[V]())
	if err := l.check(b.shape, mem.Size[V]()); err != nil {
		return nil, err
	}
	if need := b.shape.Bytes(mem.Size[V]()); o.Alloc == nil {
		if have, ok := mem.Fits(need); !ok {
			return nil, fmt.Errorf("%w: %s takes %d bytes, %d are available", ErrMemory, f, need, have)
		}
	}
	return b, nil
}

// entries allocates the arrays for all slots of the format.
func (b *builder[V]) entries(slots int64) (idx []int32, val []V, err error) {
	if idx, err = allocate[int32](b.opt, slots); err != nil {
		return nil, nil, err
	}
	val, err = allocate[V](b.opt, slots)
	return idx, val, err
}

// allocCopy copies an array into memory from Options.Alloc, if that is set.
func allocCopy[T mem.Elem, V sparse.Value](b *builder[V], from []T) ([]T, error) {
	if from == nil || b.opt.Alloc == nil {
		return from, nil
	}
	s, err := allocate[T](b.opt, int64(len(from)))
	copy(s, from)
	return s, err
}

// eachWarp calls f for ranges of warps [lo, hi).
func (b *builder[V]) eachWarp(f func(lo, hi int64)) {
	each(b.len.warps(), 1<<12/int64(b.opt.Height), b.opt.Serial, f)
}

// row returns the entries of the row at position i, or none beyond the last row.
func (b *builder[V]) row(i int64) (idx []int32, val []V) {
	if i >= b.len.rows() {
		return nil, nil
	}
	if b.perm != nil {
		i = int64(b.perm[i])
	}
	lo, hi := b.rows.start(i), b.rows.start(i+1)
	return b.rows.Idx[lo:hi], b.rows.Val[lo:hi]
}

// warp writes the entries of a warp's rows to steps columns of Height slots each. The
// first column begins at slot at, the next stride slots later. Entries of a row beyond
// steps are left out. warp writes row by row, because the slots of one warp stay in the
// cache.
func (b *builder[V]) warp(w int64, idx []int32, val []V, at, stride, steps int64) {
	h := int64(b.opt.Height)
	for l := range h {
		from, value := b.row(w*h + l)
		from = from[:min(int64(len(from)), steps)]
		p := at + l
		for k, c := range from {
			idx[p], val[p] = c, value[k]
			p += stride
		}
		for range steps - int64(len(from)) {
			idx[p] = empty
			p += stride
		}
	}
}

// starts returns the first slot of each warp, if warp w has steps(w) steps.
func (b *builder[V]) starts(steps func(w int64) int64) []int64 {
	start := make([]int64, b.len.warps()+1)
	b.eachWarp(func(lo, hi int64) {
		for w := lo; w < hi; w++ {
			start[w+1] = steps(w) * int64(b.opt.Height)
		}
	})
	for w := range start[1:] {
		start[w+1] += start[w]
	}
	return start
}
