package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/ended"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// SpMV computes y = alpha*op(A)*x + beta*y. x and y are the pieces of this rank and must not overlap. All ranks call
// SpMV with the same op, alpha and beta. NaN, beta = 0 and alpha = 0 have the same effect as in msrep.Plan.SpMV.
//
// A rank whose devices fail still takes part in the exchange, so the others do not wait for it, and then returns the
// error.
func (p *Plan[V]) SpMV(ctx context.Context, op msrep.Transpose, alpha V, x []V, beta V, y []V) (err error) {
	if p.none() {
		return errNoPlan
	}
	defer ended.ByContext(ctx, &err)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = msrep.Timing{} // also where a panic ends the product
	t, err := p.multiply(ctx, op, alpha, x, beta, y)
	if err == nil {
		p.last = t
	}
	return err
}

// LastTiming returns the timing of the last product on this rank: zero before the first one and after a product that
// failed.
func (p *Plan[V]) LastTiming() msrep.Timing {
	if p.none() {
		return msrep.Timing{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.last
	t.Devices = slices.Clone(t.Devices)
	return t
}

// multiply is SpMV without the lock.
func (p *Plan[V]) multiply(ctx context.Context, op msrep.Transpose, alpha V, x []V, beta V, y []V) (t msrep.Timing, err error) {
	if p.local == nil {
		return t, fmt.Errorf("plan: %w", msrep.ErrClosed)
	}
	if err := p.checkVectors(op, x, y); err != nil {
		return t, err
	}
	if p.whole && op == msrep.Trans {
		if p.transposed == nil {
			return t, sparse.Inputf("op", "a deterministic plan over ranks needs Expected.Transposed for products with the transpose")
		}
		err := p.transposed.SpMV(ctx, msrep.NoTrans, alpha, x, beta, y)
		return p.transposed.LastTiming(), err
	}
	before := p.times
	end := p.product()
	switch {
	case alpha == 0: // x is not needed
		if p.whole {
			x = p.halo.room
		}
		err = p.localProduct(ctx, op, alpha, x, beta, y)
	case p.whole:
		err = p.multiplyWhole(ctx, alpha, x, beta, y)
	case op == msrep.NoTrans:
		err = p.multiplyRows(ctx, alpha, x, beta, y)
	default:
		err = p.multiplyTransposed(ctx, alpha, x, beta, y)
	}
	end()
	t.Distribute = p.times.Pack - before.Pack + p.times.Wait - before.Wait
	t.Kernel = p.times.Local - before.Local + p.times.Remote - before.Remote
	t.Total = p.times.Total - before.Total
	t.Devices = p.kernels
	return t, err
}

// product counts a product and its time until the returned function is called.
func (p *Plan[V]) product() (end func()) {
	begin := time.Now()
	return func() {
		p.times.Total += time.Since(begin)
		p.products++
	}
}

func (p *Plan[V]) checkVectors(op msrep.Transpose, x, y []V) error {
	rows, cols := p.ownRows, p.ownCols
	if op == msrep.Trans {
		rows, cols = cols, rows
	}
	if len(x) != cols {
		return sparse.Inputf("x", "%d elements: this rank has %d of them", len(x), cols)
	}
	if len(y) != rows {
		return sparse.Inputf("y", "%d elements: this rank has %d of them", len(y), rows)
	}
	if mem.Overlap(x, y) {
		return sparse.Inputf("y", "shares memory with x: the product would read what it has written")
	}
	return nil
}

// multiplyRows computes the product with A: elements of x arrive from other ranks while the local matrix multiplies.
func (p *Plan[V]) multiplyRows(ctx context.Context, alpha V, x []V, beta V, y []V) error {
	failed := p.packed(func() error { return p.pick(x) })
	arrived := p.start(p.forth)
	err := p.localProduct(ctx, msrep.NoTrans, alpha, x, beta, y)
	if err = errors.Join(failed, err, arrived()); err != nil || p.remote == nil {
		return err
	}
	if err := p.packed(p.halo.toHost); err != nil {
		return err
	}
	if err := p.remoteProduct(ctx, msrep.NoTrans, alpha, p.halo.host, p.sums); err != nil {
		return err
	}
	return p.packed(func() error {
		addTo(y, p.rowsOf, p.sums)
		return nil
	})
}

// multiplyTransposed computes the product with the transpose: the results of the remote matrix for elements of y on
// other ranks are sent while the local matrix multiplies.
func (p *Plan[V]) multiplyTransposed(ctx context.Context, alpha V, x []V, beta V, y []V) error {
	var failed error
	if p.remote != nil {
		_ = p.packed(func() error {
			take(p.sums, x, p.rowsOf)
			return nil
		})
		failed = p.remoteProduct(ctx, msrep.Trans, alpha, p.sums, p.halo.host)
	}
	failed = errors.Join(failed, p.packed(p.halo.fromHost))
	arrived := p.start(p.back)
	err := p.localProduct(ctx, msrep.Trans, alpha, x, beta, y)
	if err = errors.Join(failed, err, arrived()); err != nil {
		return err
	}
	return p.packed(func() error { // in the order of the ranks, which fixes the order of the additions
		if err := p.out.toHost(); err != nil {
			return err
		}
		for _, r := range p.want.out {
			addTo(y, r.idx, p.out.host[r.at:r.at+r.n])
		}
		return nil
	})
}

// multiplyWhole computes the product with A in the order of one process: all of x arrives first.
func (p *Plan[V]) multiplyWhole(ctx context.Context, alpha V, x []V, beta V, y []V) error {
	err := p.packed(func() error {
		copy(p.halo.room, x)
		return p.pick(x)
	})
	if err = errors.Join(err, p.start(p.forth)()); err != nil {
		return err
	}
	return p.localProduct(ctx, msrep.NoTrans, alpha, p.halo.room, beta, y)
}

// pick copies the elements that other ranks need into their messages.
func (p *Plan[V]) pick(x []V) error {
	for _, r := range p.want.out {
		take(p.out.host[r.at:r.at+r.n], x, r.idx)
	}
	return p.out.fromHost()
}

// start starts the messages. The returned function waits for them.
func (p *Plan[V]) start(l Link) (arrived func() error) {
	if len(p.halo.host)+len(p.out.host) == 0 { // no messages
		return func() error { return nil }
	}
	begin := time.Now()
	if err := l.Start(); err != nil {
		return func() error { return err }
	}
	var took time.Duration
	done := make(chan error, 1)
	go func() { // messages make progress only while a goroutine waits for them
		err := l.Wait()
		took = time.Since(begin)
		done <- err
	}()
	return func() error {
		waiting := time.Now()
		err := <-done
		p.times.Wait += time.Since(waiting)
		p.times.Exchange += took
		return err
	}
}

func (p *Plan[V]) localProduct(ctx context.Context, op msrep.Transpose, alpha V, x []V, beta V, y []V) error {
	return p.timed(&p.times.Local, func() error {
		err := p.local.SpMV(ctx, op, alpha, x, beta, y)
		p.kernels = p.local.LastTiming().Devices
		return err
	})
}

func (p *Plan[V]) remoteProduct(ctx context.Context, op msrep.Transpose, alpha V, x, y []V) error {
	return p.timed(&p.times.Remote, func() error {
		return p.remote.SpMV(ctx, op, alpha, x, 0, y)
	})
}

// packed runs work and adds its time to Pack.
func (p *Plan[V]) packed(work func() error) error { return p.timed(&p.times.Pack, work) }

// timed runs work and adds its time to t.
func (p *Plan[V]) timed(t *time.Duration, work func() error) error {
	begin := time.Now()
	defer func() { *t += time.Since(begin) }()
	return work()
}

// packGrain is the least number of elements for a goroutine.
const packGrain = 1 << 14

// take computes dst[k] = v[idx[k]].
func take[V sparse.Value](dst, v []V, idx []int32) {
	par.Range(int64(len(idx)), packGrain, func(lo, hi int64) {
		dst, idx := dst[lo:hi], idx[lo:hi]
		for k, i := range idx {
			dst[k] = v[i]
		}
	})
}

// addTo computes v[idx[k]] += src[k]. The indices are distinct.
func addTo[V sparse.Value](v []V, idx []int32, src []V) {
	par.Range(int64(len(idx)), packGrain, func(lo, hi int64) {
		src, idx := src[lo:hi], idx[lo:hi]
		for k, i := range idx {
			v[i] += src[k]
		}
	})
}
