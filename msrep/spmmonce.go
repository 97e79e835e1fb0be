package msrep

import (
	"context"
	"time"

	"github.com/msrep-go/msrep/kernels"
)

// multiplyAtOnce multiplies all vectors at once. It transposes vectors by column to vectors by row first.
func (p *Plan[V]) multiplyAtOnce(ctx context.Context, op Transpose, alpha V, x MultiVector[V], beta V, y MultiVector[V], t *Timing) error {
	begin := time.Since(clockStart)
	m, n := p.dims(op)
	to := y
	if x.ByColumn {
		rows, err := p.rowBuffers.buffer(&p.rowBuffers.x, n, x.Count)
		if err != nil {
			return err
		}
		if err := p.transposeVectors(x, rows, n, false); err != nil {
			return err
		}
		x = rows
	}
	if y.ByColumn {
		var err error
		if to, err = p.rowBuffers.buffer(&p.rowBuffers.y, m, y.Count); err != nil {
			return err
		}
		if beta != 0 {
			if err := p.transposeVectors(y, to, m, false); err != nil {
				return err
			}
		}
	}
	t.Distribute = time.Since(clockStart) - begin
	t.Devices = make([]time.Duration, len(p.shares))
	carries, err := p.launchMany(ctx, op, alpha, x, beta, to, t.Devices)
	if err != nil {
		return err
	}
	for _, d := range t.Devices {
		t.Kernel = max(t.Kernel, d)
	}
	begin = time.Since(clockStart)
	for i, c := range carries {
		row := p.parts[i].StartMajor * to.Stride
		for j, v := range c {
			to.Val[row+j] += v
		}
	}
	if y.ByColumn {
		err = p.transposeVectors(y, to, m, true)
	}
	t.Merge = time.Since(clockStart) - begin
	return err
}

// launchMany multiplies vectors by row on all devices. It returns the carries of the devices and sets their kernel
// times.
func (p *Plan[V]) launchMany(ctx context.Context, op Transpose, alpha V, x MultiVector[V], beta V, y MultiVector[V], took []time.Duration) (carries [][]V, err error) {
	if p.direct() && p.lay.byMajor(op) && p.shares[0].multipliesMany() {
		if err = ctx.Err(); err == nil {
			took[0], err = p.multiplyManyDirect(alpha, x, beta, y)
		}
		return nil, err
	}
	carries = make([][]V, len(p.shares))
	return carries, p.each(func(i int) (err error) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s := p.shares[i]; p.lay.byMajor(op) {
			carries[i], took[i], err = s.majorMany(p.lay, alpha, x, beta, y)
		} else {
			took[i], err = s.minorMany(p.lay, alpha, x, beta, y)
		}
		return err
	})
}

// majorMany multiplies the part in a major product. carry has one element for each vector; it is nil if the part owns
// its first row.
func (s *share[V]) majorMany(l layout[V], alpha V, x MultiVector[V], beta V, y MultiVector[V]) (carry []V, took time.Duration, err error) {
	d, p := s.inPlace, s.part
	if p.StartFlag {
		carry = make([]V, y.Count)
	}
	xs, ys := x.rows(d, 0, l.minors), y.rows(d, p.OwnFirst, p.OwnEnd)
	carries := kernels.AdoptArray(d, carry)
	if s.multipliesMany() {
		took, err = s.kernel(&kernels.MajorProductManyPacked[V]{A: s.packed, Alpha: alpha, Beta: beta, X: xs, Y: ys, Carry: carries})
		return carry, took, err
	}
	a, err := s.compressed(l)
	if err != nil {
		return nil, 0, err
	}
	took, err = s.kernel(&kernels.MajorProductMany[V]{A: a, Alpha: alpha, Beta: beta, X: xs, Y: ys, Carry: carries})
	return carry, took, err
}

// minorMany multiplies the part, which is the whole matrix, in a minor product.
func (s *share[V]) minorMany(l layout[V], alpha V, x MultiVector[V], beta V, y MultiVector[V]) (took time.Duration, err error) {
	a, err := s.compressed(l)
	if err != nil {
		return 0, err
	}
	return s.kernel(&kernels.MinorProductMany[V]{A: a, Alpha: alpha, Beta: beta, X: x.rows(s.inPlace, s.part.First(), s.part.End()), Y: y.rows(s.inPlace, 0, l.minors)})
}

// compressed returns the unpacked part on the device.
func (s *share[V]) compressed(l layout[V]) (kernels.Compressed[V], error) {
	err := s.place(l)
	return kernels.Compressed[V]{Part: s.part.Shift(s.part.First(), 0), Ptr: s.ptr, Idx: s.minor, Val: s.val}, err
}
