package msrep

import (
	"errors"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/merge"
	"github.com/msrep-go/msrep/sparse"
)

// staged is the route of the paper's strategies baseline and p. Each device gets a copy of the elements of x that its part
// needs and returns its result to a vector in host memory; the host merges these vectors. With baseline, one device works
// after the other.
type staged[V sparse.Value] struct {
	p            *Plan[V]
	major, minor []stage[V] // by device, for products of each kind
	times        []Timing
}

// stage is the vectors of a device.
type stage[V sparse.Value] struct {
	x, y kernels.Array[V]
	host []V // the copy of y in host memory
}

func (r *staged[V]) Multiply(q *product[V]) (Timing, error) {
	clear(r.times)
	stages := r.minor
	if q.byMajor {
		stages = r.major
	}
	begin := time.Now()
	if err := r.p.each(func(i int) error { return r.multiplyPart(q, &stages[i], i) }); err != nil {
		return Timing{}, err
	}
	multiplied := time.Now()
	hosts := make([][]V, len(r.p.shares))
	for i, s := range stages {
		hosts[i] = s.host
	}
	var err error
	if q.byMajor {
		err = merge.CopyRows(q.y, q.beta, r.p.parts, hosts)
	} else {
		err = r.p.addPartials(q, hosts)
	}
	t := r.p.combine(r.times)
	t.Merge += time.Since(multiplied)
	t.Total = time.Since(begin)
	return t, err
}

// multiplyPart computes the partial result of device i. If the part begins within a row, the first element of the result
// is the carry.
func (r *staged[V]) multiplyPart(q *product[V], v *stage[V], i int) error {
	s, t := r.p.shares[i], &r.times[i]
	begin := time.Now()
	if err := s.prepare(&r.p.lay, q.byMajor); err != nil {
		return err
	}
	x, rows := q.xFor(s), r.p.lay.Minors
	if q.byMajor {
		rows = s.part.Majors()
	}
	if err := v.open(s.dev, len(x), rows); err != nil {
		return err
	}
	if err := errors.Join(v.x.Write(s.stream, x), s.stream.Sync()); err != nil {
		return err
	}
	if err := q.ctx.Err(); err != nil {
		return err
	}
	t.Distribute = time.Since(begin)
	y, carry := v.y, s.carry
	if q.byMajor && s.part.StartFlag {
		y, carry = v.y.Sub(1, v.y.Len), v.y.Sub(0, 1)
	}
	var err error
	if t.Kernel, err = s.kernel(s.operation(q, v.x, y, 0, carry), 1); err != nil { // the host applies beta
		return err
	}
	begin = time.Now()
	err = errors.Join(v.y.Read(s.stream, v.host), s.stream.Sync())
	t.Merge = time.Since(begin)
	return err
}

// open allocates the vectors, with nx elements of x and ny of y, in the first product.
func (v *stage[V]) open(d kernels.Device, nx, ny int) (err error) {
	if err = atLeast(d, &v.x, int64(nx)); err != nil || v.host != nil {
		return err
	}
	if v.host, err = devvec.OnHost[V](ny); err != nil {
		return err
	}
	return atLeast(d, &v.y, int64(ny))
}

func (r *staged[V]) XPlacement(bool) XPlacement { return XReplicated }

func (r *staged[V]) Buffers(i int) []kernels.Buffer {
	return []kernels.Buffer{r.major[i].x.Buf, r.major[i].y.Buf, r.minor[i].x.Buf, r.minor[i].y.Buf}
}

func (r *staged[V]) Close() error {
	var errs []error
	for _, v := range slices.Concat(r.major, r.minor) {
		errs = append(errs, v.x.Free(), v.y.Free())
	}
	return errors.Join(errs...)
}
