package msrep

import (
	"errors"
	"slices"
	"sync"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// exchangeBuffers is what a device keeps for exchanges of one kind.
type exchangeBuffers[V sparse.Value] struct {
	lo, hi int              // the elements of x that the part needs
	first  int              // the element of x that x begins with
	n      int64            // elements of x that the kernel asks for
	x      kernels.Array[V] // nothing where the kernel reads the caller's vector
	y      kernels.Array[V] // the rows of the device, of products of host vectors

	// Of products that gather: who carries sums to rows of this device, to which, and
	// what.
	from []int
	row  kernels.Array[int32]
	val  kernels.Array[V]

	// Of products that scatter: the device's own sum, as long as y, and room for the
	// stretches of the others'.
	partial, received kernels.Array[V]
}

// exchangeBuffersFor makes the desk, once.
func (s *share[V]) exchangeBuffersFor(p *Plan[V], byMajor bool) (*exchangeBuffers[V], error) {
	if d := s.exchanges[byMajor]; d != nil {
		return d, nil
	}
	d := &exchangeBuffers[V]{}
	s.exchanges[byMajor] = d // so that close finds what was made of it; the plan is of no use when that fails
	l := p.lay
	switch {
	case byMajor:
		d.hi, d.n = l.minors, int64(l.minors)
		if l.minor != nil {
			d.lo, d.hi = span(l.minor[s.part.StartIdx : s.part.EndIdx+1])
		}
	default:
		d.lo, d.hi, d.n = s.part.First(), s.part.End(), int64(l.majors)
		if l.ptr != nil {
			d.first, d.n = d.lo, int64(d.hi-d.lo)
		}
	}
	if len(p.shares) == 1 {
		return d, nil
	}
	if byMajor {
		return d, d.findCarries(s, p)
	}
	var err error
	d.partial, err = kernels.NewArray[V](s.dev, int64(l.minors))
	return d, err
}

// findCarries finds the parts whose first rows the device owns.
func (d *exchangeBuffers[V]) findCarries(s *share[V], p *Plan[V]) (err error) {
	var row []int32
	for k, q := range p.parts {
		if q.StartFlag && q.StartMajor >= s.part.OwnFirst && q.StartMajor < s.part.OwnEnd {
			d.from, row = append(d.from, k), append(row, int32(q.StartMajor-s.part.OwnFirst))
		}
	}
	if len(row) == 0 {
		return nil
	}
	if d.row, err = kernels.NewArray[int32](s.dev, int64(len(row))); err != nil {
		return err
	}
	if d.val, err = kernels.NewArray[V](s.dev, int64(len(row))); err != nil {
		return err
	}
	return errors.Join(d.row.Write(s.stream, row), s.stream.Sync())
}

// atLeast makes an array of n elements or more, with any content.
func atLeast[V sparse.Value](dev kernels.Device, a *kernels.Array[V], n int64) (err error) {
	if a.Buf != nil && a.Len >= n {
		return nil
	}
	err = a.Free()
	*a = kernels.Array[V]{}
	if err == nil {
		*a, err = kernels.NewArray[V](dev, n)
	}
	return err
}

// buffers is the memory that it holds.
func (d *exchangeBuffers[V]) buffers() []kernels.Buffer {
	return []kernels.Buffer{d.x.Buf, d.y.Buf, d.row.Buf, d.val.Buf, d.partial.Buf, d.received.Buf}
}

func (d *exchangeBuffers[V]) close() error {
	return errors.Join(d.x.Free(), d.y.Free(), d.row.Free(), d.val.Free(), d.partial.Free(), d.received.Free())
}

// span is the least range that holds all indices.
func span(idx []int32) (lo, hi int) {
	var mu sync.Mutex
	first := true
	par.Range(int64(len(idx)), 1<<16, func(a, b int64) {
		if a == b {
			return
		}
		least, most := slices.Min(idx[a:b]), slices.Max(idx[a:b])
		mu.Lock()
		defer mu.Unlock()
		if first {
			lo, hi, first = int(least), int(most)+1, false
		}
		lo, hi = min(lo, int(least)), max(hi, int(most)+1)
	})
	return lo, hi
}
