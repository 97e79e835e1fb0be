package amg

import (
	"context"
	"errors"
	"slices"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/multigrid"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
)

// vector is a vector on devices.
type vector = *msrep.Vector[float64]

// device is a level with its vectors on devices that have their own memory.
type device struct {
	plans[float64]
	ctx     *context.Context // of the call
	inverse vector
}

func (d *device) Product(alpha float64, x vector, beta float64, y vector) error {
	return d.a.Apply(*d.ctx, msrep.NoTrans, alpha, x, beta, y)
}

func (d *device) Restrict(r, coarse vector) error {
	return d.r.Apply(*d.ctx, msrep.NoTrans, 1, r, 0, coarse)
}

func (d *device) Prolong(coarse, x vector) error {
	return d.p.Apply(*d.ctx, msrep.NoTrans, 1, coarse, 1, x)
}

func (d *device) Copy(b, r vector) error { return r.Copy(b) }

func (d *device) Start(c float64, b, e, x, r vector) error {
	_, err := devvec.Compute(kernels.ChebyshevStart, []float64{c}, d.inverse, b, e, x, r)
	return err
}

func (d *device) Step(a, c float64, r, e, x vector) error {
	_, err := devvec.Compute(kernels.ChebyshevStep, []float64{a, c}, d.inverse, r, e, x)
	return err
}

// Solve multiplies by the inverse.
func (d *device) Solve(b, x vector) error { return d.Product(1, b, 0, x) }

// onDevices runs cycles on devices that have their own memory.
type onDevices struct {
	levels  []*device
	cycle   multigrid.Cycle[vector]
	vectors []vector
	b, x    vector // of the finest level, for vectors of the caller that are in host memory or have other pieces
	ctx     context.Context
	size    int64
}

// leastOnDevices is the argument least of multigrid.Visits: a level of a GPU with fewer entries mostly takes the time to start
// its kernels.
const leastOnDevices = 1 << 20

func newOnDevices(ctx context.Context, sys *msrep.System, levels []*level, opt Options) (_ *onDevices, err error) {
	o := &onDevices{ctx: ctx}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.close())
		}
	}()
	for _, l := range levels {
		p, err := newPlans[float64](ctx, sys, l, opt)
		if err != nil {
			return nil, err
		}
		d := &device{plans: p, ctx: &o.ctx}
		o.levels = append(o.levels, d)
		o.size += p.bytes()
		if l.inverse == nil {
			continue
		}
		if d.inverse, err = o.vector(d); err != nil {
			return nil, err
		}
		if err := d.inverse.Write(l.inverse); err != nil {
			return nil, err
		}
	}
	o.cycle, err = newCycle(levels, opt, leastOnDevices, func(k int) multigrid.Level[vector] { return o.levels[k] },
		func(k int) (vector, error) { return o.vector(o.levels[k]) })
	if err != nil {
		return nil, err
	}
	if o.b, err = o.vector(o.levels[0]); err != nil {
		return nil, err
	}
	o.x, err = o.vector(o.levels[0])
	return o, err
}

// vector returns a new vector of a level.
func (o *onDevices) vector(d *device) (vector, error) {
	v, err := d.a.RowVector()
	if err != nil {
		return nil, err
	}
	o.vectors = append(o.vectors, v)
	o.size += v.Bytes()
	return v, nil
}

func (o *onDevices) bytes() int64 { return o.size }

func (o *onDevices) close() error {
	var errs []error
	for _, v := range o.vectors {
		errs = append(errs, v.Close())
	}
	for _, d := range o.levels {
		errs = append(errs, d.close())
	}
	return errors.Join(errs...)
}

func (o *onDevices) apply(r, z []float64) error {
	o.ctx = context.Background()
	if err := o.b.Write(r); err != nil {
		return err
	}
	if err := o.cycle.Apply(o.b, o.x); err != nil {
		return err
	}
	return o.x.Read(z)
}

func (o *onDevices) applyVector(ctx context.Context, r, z vector) error {
	o.ctx = ctx
	b, x := r, z
	if !slices.Equal(devvec.Cuts(r), devvec.Cuts(o.b)) {
		b = o.b
		if err := b.Copy(r); err != nil {
			return err
		}
	}
	if !slices.Equal(devvec.Cuts(z), devvec.Cuts(o.x)) {
		x = o.x
	}
	if err := o.cycle.Apply(b, x); err != nil || x == z {
		return err
	}
	return z.Copy(x)
}
