package msrep

import (
	"context"
	"time"

	"github.com/msrep-go/msrep/kernels"
)

// clockStart is the origin of times in this package. time.Since reads only the monotonic clock, in half the time of
// time.Now.
var clockStart = time.Now()

// direct reports whether a product is a single call of a single device that uses x and y in place.
func (p *Plan[V]) direct() bool {
	return len(p.shares) == 1 && p.shares[0].inPlace != nil && p.shares[0].packed != nil &&
		p.opt.Variant.Strategy == Optimized && len(p.nodes) == 0
}

// multiplyDirect is multiply if direct holds. It omits the steps that only other products need, which take as long as
// 2000 entries.
func (p *Plan[V]) multiplyDirect(ctx context.Context, op Transpose, alpha V, x []V, beta V, y []V) (t Timing, err error) {
	s := p.shares[0]
	begin := time.Since(clockStart)
	s.host = kernels.HostProduct[V]{A: s.packed, Alpha: alpha, Beta: beta, X: x, Y: y, Minor: !p.lay.byMajor(op), NoWorkers: p.callers.alone(begin)}
	err = s.stream.Launch(&s.host)
	s.host = kernels.HostProduct[V]{} // the vectors belong to the caller
	if err != nil {
		return t, p.fail(ctx, err)
	}
	took := time.Since(clockStart) - begin
	return Timing{Kernel: took, Total: took, Devices: []time.Duration{took}}, nil
}

// multiplyManyDirect is majorMany if direct holds, for vectors by row.
func (p *Plan[V]) multiplyManyDirect(alpha V, x MultiVector[V], beta V, y MultiVector[V]) (took time.Duration, err error) {
	s := p.shares[0]
	begin := time.Since(clockStart)
	s.host = kernels.HostProduct[V]{A: s.packed, Alpha: alpha, Beta: beta, X: x.rowElements(0, p.lay.minors), Y: y.rowElements(0, s.part.OwnEnd),
		Cols: x.Count, StrideX: x.Stride, StrideY: y.Stride}
	err = s.stream.Launch(&s.host)
	s.host = kernels.HostProduct[V]{}
	return time.Since(clockStart) - begin, err
}
