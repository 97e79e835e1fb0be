package msrep

import (
	"errors"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// turnedBlocks is room for blocks by row that stand for blocks by column in products:
// kept from product to product, since new memory would cost more than turning does.
// The zero value is empty.
type turnedBlocks[V sparse.Value] struct{ x, y *mem.Region }

// block is a block of count vectors of n elements in *r. What is in it is left from
// before.
func (*turnedBlocks[V]) block(r **mem.Region, n, count int) (Block[V], error) {
	elements := int64(n) * int64(count)
	bytes := elements * mem.Size[V]()
	if regionBytes(*r) < bytes {
		larger, err := mem.New(bytes)
		if err != nil {
			return Block[V]{}, err
		}
		old := *r
		*r = larger
		if err := freeRegion(old); err != nil {
			return Block[V]{}, err
		}
	}
	if bytes == 0 {
		return ByRow[V](nil, count), nil
	}
	val, _ := mem.Slice[V]((*r).Bytes(), elements)
	return ByRow(val, count), nil
}

// fits reports whether there is memory for blocks of so many elements for x and y.
func (t *turnedBlocks[V]) fits(x, y int64) bool {
	lacks := max(0, x*mem.Size[V]()-regionBytes(t.x)) + max(0, y*mem.Size[V]()-regionBytes(t.y))
	_, ok := mem.Fits(2 * lacks)
	return ok
}

func (t *turnedBlocks[V]) bytes() int64 { return regionBytes(t.x) + regionBytes(t.y) }

func (t *turnedBlocks[V]) free() error { return errors.Join(freeRegion(t.x), freeRegion(t.y)) }

func regionBytes(r *mem.Region) int64 {
	if r == nil {
		return 0
	}
	return int64(len(r.Bytes()))
}

func freeRegion(r *mem.Region) error {
	if r == nil {
		return nil
	}
	return r.Free()
}

// turnedRows is how many rows of a block are worth a goroutine, and turnedAtOnce how
// many vectors are turned together: each is a stream of its own that is read or
// written.
const (
	turnedRows   = 1 << 12
	turnedAtOnce = 8
)

// turn copies b, by column, of vectors of n elements, to a block by row without gaps;
// or with back, from there to b.
func (b Block[V]) turn(rows Block[V], n int, back bool) {
	par.Range(int64(n), turnedRows, func(from, to int64) {
		lo, hi := int(from), int(to)
		if lo == hi {
			return
		}
		j := 0
		for ; j+turnedAtOnce <= b.Count; j += turnedAtOnce {
			var col [turnedAtOnce][]V
			for c := range col {
				col[c] = b.Val[(j+c)*b.Stride:][lo:hi]
			}
			if back {
				turnBack(&col, rows.Val[lo*rows.Stride+j:], rows.Stride)
			} else {
				turnInto(&col, rows.Val[lo*rows.Stride+j:], rows.Stride)
			}
		}
		for ; j < b.Count; j++ {
			col := b.Val[j*b.Stride:][lo:hi]
			for i := range col {
				if at := &rows.Val[(lo+i)*rows.Stride+j]; back {
					col[i] = *at
				} else {
					*at = col[i]
				}
			}
		}
	})
}

// turnInto writes vectors side by side, to the beginning of rows.
func turnInto[V sparse.Value](col *[turnedAtOnce][]V, rows []V, stride int) {
	c0, n := col[0], len(col[0])
	c1, c2, c3, c4, c5, c6, c7 := col[1][:n], col[2][:n], col[3][:n], col[4][:n], col[5][:n], col[6][:n], col[7][:n]
	for i := range c0 {
		r := (*[turnedAtOnce]V)(rows[i*stride:])
		r[0], r[1], r[2], r[3] = c0[i], c1[i], c2[i], c3[i]
		r[4], r[5], r[6], r[7] = c4[i], c5[i], c6[i], c7[i]
	}
}

// turnBack is the inverse of turnInto.
func turnBack[V sparse.Value](col *[turnedAtOnce][]V, rows []V, stride int) {
	c0, n := col[0], len(col[0])
	c1, c2, c3, c4, c5, c6, c7 := col[1][:n], col[2][:n], col[3][:n], col[4][:n], col[5][:n], col[6][:n], col[7][:n]
	for i := range c0 {
		r := (*[turnedAtOnce]V)(rows[i*stride:])
		c0[i], c1[i], c2[i], c3[i] = r[0], r[1], r[2], r[3]
		c4[i], c5[i], c6[i], c7[i] = r[4], r[5], r[6], r[7]
	}
}
