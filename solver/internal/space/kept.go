package space

import "github.com/msrep-go/msrep/internal/mem"

// kept is memory for vectors outside the Go heap, which is kept for some seconds for the next run. Vectors of a run fill the heap
// of a small program, so that its collector would run, on the CPUs of the workers; and new pages take as long as some operations.
type kept struct {
	region  *mem.Region
	room    []float64 // not yet taken
	touched int64     // bytes of region that have pages
}

var spareVectors mem.Spare

// mostKept is the largest number of bytes that Reserve provides. Larger vectors get new pages, on the node of the worker that
// writes them first.
const mostKept = 16 << 20

// Reserve provides memory for count vectors with this number of elements, until Free. Where it does nothing, or they are more, they
// are in the Go heap.
func (k *kept) Reserve(count, length int) {
	elements := int64(count) * (int64(length) + pageElems) // with the elements before each that move its begin
	bytes := elements * mem.Size[float64]()
	if k.region != nil || bytes < mem.MinMapped || bytes > mostKept {
		return
	}
	if k.region, k.touched = spareVectors.Take(bytes, bytes); k.region == nil {
		var err error
		if k.region, err = mem.Reserve(bytes); err != nil {
			k.region = nil
			return
		}
	}
	all := k.region.Bytes()
	if k.touched < bytes {
		mem.Populate(all[k.touched/alignment*alignment : bytes])
		k.touched = bytes
	}
	k.room, _ = mem.Slice[float64](all, elements)
}

// alignment is a multiple of the size of a page.
const alignment = 1 << 16

// take returns n zeros.
func (k *kept) take(n int) []float64 {
	if n > len(k.room) {
		return mem.Make[float64](n)
	}
	v := k.room[:n:n]
	k.room = k.room[n:]
	clear(v)
	return v
}

// free keeps the memory for the next run. Its vectors must not be used afterwards.
func (k *kept) free() error {
	r := k.region
	if r == nil {
		return nil
	}
	touched := k.touched
	*k = kept{}
	return spareVectors.Keep(r, touched)
}
