package msrep

import (
	"context"
	"time"

	"github.com/msrep-go/msrep/kernels"
)

// began is a moment to count from: the clock that only counts is read in half of the time.
var began = time.Now()

// direct reports whether a product is one call of one device, which reads x and
// writes y where they are.
func (p *Plan[V]) direct() bool {
	return len(p.shares) == 1 && p.shares[0].inPlace != nil && p.shares[0].packed != nil &&
		p.opt.Variant.Strategy == Optimized && len(p.nodes) == 0
}

// multiplyDirect is multiply where direct holds: without what other products need, which takes
// as long as 2000 entries.
func (p *Plan[V]) multiplyDirect(ctx context.Context, op Transpose, alpha V, x []V, beta V, y []V) (t Timing, err error) {
	s := p.shares[0]
	begin := time.Since(began)
	s.host = kernels.HostProduct[V]{A: s.packed, Alpha: alpha, Beta: beta, X: x, Y: y, Minor: !p.lay.byMajor(op), Alone: p.callers.alone(begin)}
	err = s.stream.Launch(&s.host)
	s.host = kernels.HostProduct[V]{} // the vectors belong to the caller
	if err != nil {
		return t, p.fail(ctx, err)
	}
	took := time.Since(began) - begin
	return Timing{Kernel: took, Total: took, Devices: []time.Duration{took}}, nil
}

// multiplyManyDirect is gatherMany where direct holds, for blocks by row.
func (p *Plan[V]) multiplyManyDirect(alpha V, x MultiVector[V], beta V, y MultiVector[V]) (took time.Duration, err error) {
	s := p.shares[0]
	begin := time.Since(began)
	s.host = kernels.HostProduct[V]{A: s.packed, Alpha: alpha, Beta: beta, X: x.between(0, p.lay.minors), Y: y.between(0, s.part.OwnEnd),
		Cols: x.Count, StrideX: x.Stride, StrideY: y.Stride}
	err = s.stream.Launch(&s.host)
	s.host = kernels.HostProduct[V]{}
	return time.Since(began) - begin, err
}
