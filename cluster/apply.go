package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/ended"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// onDevices holds the data for products of vectors that stay on the devices.
type onDevices[V sparse.Value] struct {
	resident map[msrep.Transpose]bool // products that leave their vectors on the devices of all ranks
	picked   *devvec.Selection[V]     // elements of this rank that other ranks need
	rows     *devvec.Selection[V]     // rows of remote
	partial  *msrep.Vector[V]         // y of the remote product
}

// ownMemory reports whether the devices have separate memory.
func (s *System) ownMemory() bool {
	_, onHost := devvec.Device(s.local, 0).(kernels.HostMapper)
	return !onHost
}

// prepareDevices determines on all ranks which products leave their vectors on the devices, and prepares these
// products.
func (p *Plan[V]) prepareDevices(failed bool) error {
	through := []float64{0, 0} // 1 for A, and for A', if the product goes through the host on any rank
	for i, op := range []msrep.Transpose{msrep.NoTrans, msrep.Trans} {
		if failed || p.whole || !p.sys.ownMemory() || !p.local.Resident(op) || p.remote != nil && !p.remote.Resident(op) {
			through[i] = 1
		}
	}
	if err := p.sys.comm.Max(through); err != nil {
		return err
	}
	p.dev.resident = map[msrep.Transpose]bool{msrep.NoTrans: through[0] == 0, msrep.Trans: through[1] == 0}
	if through[0] == 1 && through[1] == 1 {
		return nil
	}
	runs := make([][]int32, len(p.want.out))
	for i, r := range p.want.out {
		runs[i] = r.idx
	}
	var err error
	if p.dev.picked, err = selection(runs, p.local.ColumnVector); err != nil || p.remote == nil {
		return err
	}
	if p.dev.rows, err = selection([][]int32{p.rowsOf}, p.local.RowVector); err != nil {
		return err
	}
	p.dev.partial, err = p.remote.RowVector()
	return err
}

// selection selects elements of the vectors that like makes.
func selection[V sparse.Value](runs [][]int32, like func() (*msrep.Vector[V], error)) (s *devvec.Selection[V], err error) {
	v, err := like()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	return devvec.NewSelection(v, runs)
}

// Resident reports whether Apply with op leaves the vectors on the devices; all ranks return the same. Messages then
// come from the first device of each rank, directly or through host memory; see Messages.
func (p *Plan[V]) Resident(op msrep.Transpose) bool { return p.dev.resident[op] }

// RowVector returns a vector of zeros on the devices of this rank, with one element for each of its rows.
func (p *Plan[V]) RowVector() (*msrep.Vector[V], error) {
	if p.none() {
		return nil, errNoPlan
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.local == nil {
		return nil, fmt.Errorf("plan: %w", msrep.ErrClosed)
	}
	return p.local.RowVector()
}

// ColumnVector returns a vector of zeros on the devices of this rank, with one element for each of its columns.
func (p *Plan[V]) ColumnVector() (*msrep.Vector[V], error) {
	if p.none() {
		return nil, errNoPlan
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.local == nil {
		return nil, fmt.Errorf("plan: %w", msrep.ErrClosed)
	}
	if p.whole {
		return msrep.NewVector[V](p.sys.local, p.ownCols)
	}
	return p.local.ColumnVector()
}

// Messages names the memory that messages use on this rank: "host", "pinned" (host memory that its devices copy to
// directly) or "device".
func (p *Plan[V]) Messages() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.memory()
}

// Apply computes y = alpha*op(A)*x + beta*y for pieces on the devices of this rank, vectors from RowVector and
// ColumnVector; see SpMV. If Resident(op) is false, the vectors go through the host.
//
// A rank that fails still takes part in the exchange, even if x or y is nil because memory was short.
func (p *Plan[V]) Apply(ctx context.Context, op msrep.Transpose, alpha V, x *msrep.Vector[V], beta V, y *msrep.Vector[V]) (err error) {
	if p.none() {
		return errNoPlan
	}
	defer ended.ByContext(ctx, &err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.local == nil {
		return fmt.Errorf("plan: %w", msrep.ErrClosed)
	}
	if !p.dev.resident[op] {
		return p.throughHost(ctx, op, alpha, x, beta, y)
	}
	defer p.product()()
	switch {
	case alpha == 0:
		return p.local.Apply(ctx, op, alpha, x, beta, y)
	case op == msrep.NoTrans:
		return p.multiplyOnDevices(ctx, alpha, x, beta, y)
	}
	return p.multiplyTransposedOnDevices(ctx, alpha, x, beta, y)
}

// throughHost computes a product that does not leave its vectors on the devices.
func (p *Plan[V]) throughHost(ctx context.Context, op msrep.Transpose, alpha V, x *msrep.Vector[V], beta V, y *msrep.Vector[V]) error {
	rows, cols := p.ownRows, p.ownCols
	if op == msrep.Trans {
		rows, cols = cols, rows
	}
	in, out := make([]V, cols), make([]V, rows)
	err := x.Read(in)
	if beta != 0 {
		err = errors.Join(err, y.Read(out))
	}
	_, e := p.multiply(ctx, op, alpha, in, beta, out) // multiply even after an error, because the other ranks wait for the exchange
	if err = errors.Join(err, e); err != nil {
		return err
	}
	return y.Write(out)
}

// multiplyOnDevices computes the product with A for vectors on devices.
func (p *Plan[V]) multiplyOnDevices(ctx context.Context, alpha V, x *msrep.Vector[V], beta V, y *msrep.Vector[V]) error {
	err := p.packed(func() error { return errors.Join(p.dev.picked.Take(p.out.device, x), p.out.fromDevice()) })
	arrived := p.start(p.forth)
	err = errors.Join(err, p.timed(&p.times.Local, func() error { return p.local.Apply(ctx, msrep.NoTrans, alpha, x, beta, y) }))
	if err = errors.Join(err, arrived()); err != nil || p.remote == nil {
		return err
	}
	return p.timed(&p.times.Remote, func() error {
		return firstError(
			p.halo.toDevice,
			func() error { return p.remote.Apply(ctx, msrep.NoTrans, alpha, p.halo.device, 0, p.dev.partial) },
			func() error { return p.dev.rows.AddTo(y, p.dev.partial) },
		)
	})
}

// multiplyTransposedOnDevices computes the product with the transpose for vectors on devices.
func (p *Plan[V]) multiplyTransposedOnDevices(ctx context.Context, alpha V, x *msrep.Vector[V], beta V, y *msrep.Vector[V]) error {
	var failed error
	if p.remote != nil {
		failed = p.timed(&p.times.Remote, func() error {
			return firstError(
				func() error { return p.dev.rows.Take(p.dev.partial, x) },
				func() error { return p.remote.Apply(ctx, msrep.Trans, alpha, p.dev.partial, 0, p.halo.device) },
			)
		})
	}
	failed = errors.Join(failed, p.packed(p.halo.fromDevice))
	arrived := p.start(p.back)
	err := p.timed(&p.times.Local, func() error { return p.local.Apply(ctx, msrep.Trans, alpha, x, beta, y) })
	if err = errors.Join(failed, err, arrived()); err != nil {
		return err
	}
	return p.packed(func() error {
		return firstError(p.out.toDevice, func() error { return p.dev.picked.AddTo(y, p.out.device) })
	})
}

// firstError runs steps until one fails, and returns its error.
func firstError(steps ...func() error) error {
	for _, f := range steps {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

func (d *onDevices[V]) close() error {
	return errors.Join(d.picked.Close(), d.rows.Close(), d.partial.Close())
}
