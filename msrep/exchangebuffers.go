package msrep

import (
	"errors"
	"slices"
	"sync"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// exchangeBuffers holds the buffers of one device for exchanges of one kind, major or minor products.
type exchangeBuffers[V sparse.Value] struct {
	lo, hi int              // the part reads the elements [lo, hi) of x
	first  int              // index of the element of x that x[0] stands for
	n      int64            // number of elements of x that the kernel expects
	x      kernels.Array[V] // empty if the kernel reads the caller's vector
	y      kernels.Array[V] // the rows of the device, in products of host vectors

	// For major products: the devices that carry sums to rows of this device, the rows, and the sums.
	carriers []int
	carryRow kernels.Array[int32]
	carryVal kernels.Array[V]

	// For minor products: the partial vector of this device, as long as y, and space for the rows of this device from
	// the partial vectors of the others.
	partial, received kernels.Array[V]
}

// exchangeBuffersFor returns the exchange buffers of the device. The first call creates them.
func (s *share[V]) exchangeBuffersFor(p *Plan[V], byMajor bool) (*exchangeBuffers[V], error) {
	if d := s.exchanges[byMajor]; d != nil {
		return d, nil
	}
	d := &exchangeBuffers[V]{}
	s.exchanges[byMajor] = d // before it is complete, so that close frees its arrays after an error; the plan is then unusable
	l := p.lay
	switch {
	case byMajor:
		d.hi, d.n = l.minors, int64(l.minors)
		if l.minor != nil {
			d.lo, d.hi = indexRange(l.minor[s.part.StartIdx : s.part.EndIdx+1])
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

// findCarries finds the parts that begin within a row that the device owns.
func (d *exchangeBuffers[V]) findCarries(s *share[V], p *Plan[V]) (err error) {
	var row []int32
	for k, q := range p.parts {
		if q.StartFlag && q.StartMajor >= s.part.OwnFirst && q.StartMajor < s.part.OwnEnd {
			d.carriers, row = append(d.carriers, k), append(row, int32(q.StartMajor-s.part.OwnFirst))
		}
	}
	if len(row) == 0 {
		return nil
	}
	if d.carryRow, err = kernels.NewArray[int32](s.dev, int64(len(row))); err != nil {
		return err
	}
	if d.carryVal, err = kernels.NewArray[V](s.dev, int64(len(row))); err != nil {
		return err
	}
	return errors.Join(d.carryRow.Write(s.stream, row), s.stream.Sync())
}

// atLeast replaces *a by a larger array, with unspecified content, if it has fewer than n elements.
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

// buffers returns the device memory that d holds; elements may be nil.
func (d *exchangeBuffers[V]) buffers() []kernels.Buffer {
	return []kernels.Buffer{d.x.Buf, d.y.Buf, d.carryRow.Buf, d.carryVal.Buf, d.partial.Buf, d.received.Buf}
}

func (d *exchangeBuffers[V]) close() error {
	return errors.Join(d.x.Free(), d.y.Free(), d.carryRow.Free(), d.carryVal.Free(), d.partial.Free(), d.received.Free())
}

// indexRange returns the smallest range [lo, hi) that contains all indices.
func indexRange(idx []int32) (lo, hi int) {
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
