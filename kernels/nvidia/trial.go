//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/cusparse"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// trial measures products of one part.
type trial[V sparse.Value] struct {
	dev         *Device
	s           *stream
	op          *kernels.Packing[V]
	a           *launch.Packed[V]
	local       []int64
	x, y, carry kernels.Array[V]
	start, stop kernels.Event
	times       []string            // measurements as text
	tried       []kernels.PackTrial // measurements as numbers
}

func newTrial[V sparse.Value](d *Device, s *stream, op *kernels.Packing[V], a *launch.Packed[V]) (*trial[V], error) {
	local, err := partition.OwnPtr(op.Ptr, op.Part)
	t := &trial[V]{dev: d, s: s, op: op, a: a, local: local}
	for _, v := range []struct {
		to *kernels.Array[V]
		n  int
	}{{&t.x, op.Minors}, {&t.y, op.Part.OwnEnd - op.Part.OwnFirst}, {&t.carry, 1}} {
		if err == nil {
			*v.to, err = kernels.NewArray[V](d, int64(v.n))
		}
	}
	for _, e := range []*kernels.Event{&t.start, &t.stop} {
		if err == nil {
			*e, err = d.NewEvent()
		}
	}
	if err == nil {
		err = s.Launch(&kernels.Fill[V]{Y: t.x, Value: 1})
	}
	if err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

func (t *trial[V]) close() error {
	errs := []error{t.x.Free(), t.y.Free(), t.carry.Free()}
	for _, e := range []kernels.Event{t.start, t.stop} {
		if e != nil {
			errs = append(errs, e.Close())
		}
	}
	return errors.Join(errs...)
}

// timeOwn times the two kernels of this project for CSR. It then drops the starts of
// the merge path, which other forms do not need.
func (t *trial[V]) timeOwn() (merge, vector time.Duration, err error) {
	if err = t.a.Prepare(t.s, launch.Merge, ""); err == nil {
		merge, err = t.time(t.a, kernels.FormMerge, "merge path")
	}
	err = errors.Join(err, t.a.DropStarts())
	if err == nil {
		err = t.a.Prepare(t.s, launch.Vector, "")
	}
	if err == nil {
		vector, err = t.time(t.a, kernels.FormCSR, "vector")
	}
	return merge, vector, err
}

// fastest returns the part in its fastest form.
func (t *trial[V]) fastest() (kernels.Packed, error) {
	merge, vector, err := t.timeOwn()
	if err != nil {
		return nil, err
	}
	var c contender[V]
	if !t.op.NoVendorLibrary {
		if c, err = t.bestCuSPARSE(); err != nil {
			return nil, err
		}
	}
	rows, took, err := t.rows()
	if err != nil {
		return nil, errors.Join(err, c.drop())
	}
	return t.keep(merge, vector, c, rows, took)
}

// rows returns the part in slices or in tiles, whichever is faster, and its time, or nil if neither suits it.
func (t *trial[V]) rows() (p *launch.Rows[V], took time.Duration, err error) {
	sliced, took, err := t.slices()
	if err != nil {
		return nil, 0, err
	}
	tiled, less, err := t.tiles()
	if err != nil {
		if sliced != nil {
			err = errors.Join(err, sliced.Free())
		}
		return nil, 0, err
	}
	if sliced == nil || tiled != nil && less < took {
		sliced, tiled, took = tiled, sliced, less
	}
	if tiled != nil {
		err = tiled.Free()
	}
	return sliced, took, err
}

// keep keeps the fastest of FormCSR, FormMerge, cuSPARSE and rows, which is in slices or tiles, and releases the
// others. cuSPARSE and rows may be missing.
func (t *trial[V]) keep(merge, vector time.Duration, c contender[V], rows *launch.Rows[V], took time.Duration) (kernels.Packed, error) {
	best := min(merge, vector)
	if c.part != nil {
		best = min(best, c.took)
	}
	var err error
	if rows != nil && took >= best {
		err, rows = rows.Free(), nil
	}
	if c.part != nil && (err != nil || rows != nil || c.took > best) {
		err, c.part = errors.Join(err, c.drop()), nil
	}
	switch {
	case err != nil:
		if rows != nil {
			err = errors.Join(err, rows.Free())
		}
		return nil, err
	case rows != nil:
		rows.Describe(t.why()+"; "+pays(rows.Info().Took, best-took), t.tried)
		return rows, t.a.Free()
	case c.part != nil:
		c.part.describe(t.why(), t.tried)
		return c.part, nil
	}
	g := launch.Vector
	if merge < vector {
		g = launch.Merge
	}
	t.a.Describe(t.tried)
	return t.a, errors.Join(t.a.Prepare(t.s, g, t.why()), t.s.Sync())
}

// pays says after how many products a form pays that took so long to build and saves so much time a product.
func pays(took, saves time.Duration) string {
	return fmt.Sprintf("built in %v, which pays after %d products", took.Round(10*time.Microsecond), int64((took+saves-1)/max(saves, 1)))
}

// slices returns the part in slices and its time, or nil if slices do not suit it.
func (t *trial[V]) slices() (*launch.Rows[V], time.Duration, error) {
	return t.timeRows(kernels.FormSlices, slicedFrom, func() (*launch.Rows[V], string, error) { return launch.TrySlices(t.dev, t.s, t.op) })
}

// tiles returns the part in tiles and its time, or nil if tiles do not suit it.
func (t *trial[V]) tiles() (*launch.Rows[V], time.Duration, error) {
	return t.timeRows(kernels.FormTiles, tiledFrom, func() (*launch.Rows[V], string, error) { return launch.TryTiles(t.s, t.op, t.a) })
}

// timeRows packs the part in a form by try and times it, if at least from products are expected.
func (t *trial[V]) timeRows(form kernels.Form, from int, try func() (*launch.Rows[V], string, error)) (p *launch.Rows[V], took time.Duration, err error) {
	reason := ""
	if t.op.Products < from {
		reason = fmt.Sprintf("building them pays from %d expected products on", from)
	} else {
		p, reason, err = try()
	}
	if err != nil && (passable(err) || sparse.IsInput(err)) && t.dev.dead.Load() == nil {
		reason, err = err.Error(), nil
	}
	if p == nil {
		if err == nil {
			t.skip(form, string(form), reason)
		}
		return nil, 0, err
	}
	if took, err = t.time(p, form, string(form)); err != nil {
		return nil, 0, errors.Join(err, p.Free())
	}
	return p, took, nil
}

// cuSPARSE returns the part for the faster algorithm of cuSPARSE.
func (t *trial[V]) cuSPARSE() (kernels.Packed, error) {
	c, err := t.bestCuSPARSE()
	if err != nil {
		return nil, err
	}
	if c.part == nil {
		return nil, fmt.Errorf("%w: %s", kernels.ErrNotSupported, t.why())
	}
	c.part.describe(t.why(), nil)
	return c.part, nil
}

// contender is a part and its time.
type contender[V sparse.Value] struct {
	part *sparsePart[V]
	took time.Duration
}

// drop frees everything of the part except its arrays.
func (c contender[V]) drop() error {
	if c.part == nil {
		return nil
	}
	return c.part.drop()
}

// bestCuSPARSE measures the algorithms of cuSPARSE. It returns no part if cuSPARSE is
// not installed or does not support this part.
func (t *trial[V]) bestCuSPARSE() (best contender[V], err error) {
	for _, alg := range []cusparse.Algorithm{cusparse.CSR1, cusparse.CSR2, cusparse.Op} {
		var took time.Duration
		p, err := newSparse(t.dev, t.s, t.a, t.local, alg, t.x, t.y)
		if err == nil {
			took, err = t.time(p, FormCuSPARSE, "cuSPARSE "+alg.String())
		}
		if err == nil && (best.part == nil || took < best.took) {
			p, best.part, best.took = best.part, p, took
		}
		if err != nil && passable(err) && t.dev.dead.Load() == nil {
			t.skip(FormCuSPARSE, "cuSPARSE "+alg.String(), err.Error())
			err = nil
		}
		if p != nil { // the slower one, or one that failed
			err = errors.Join(err, p.drop())
		}
		if err != nil {
			return contender[V]{}, errors.Join(err, best.drop())
		}
	}
	return best, nil
}

// passable reports whether an error only means that cuSPARSE does not support this
// part.
func passable(err error) bool {
	var e cusparse.Error
	return errors.As(err, &e) || errors.Is(err, cusparse.ErrAbsent) || errors.Is(err, cusparse.ErrNoOp) || errors.Is(err, kernels.ErrNotSupported) || errors.Is(err, kernels.ErrOutOfMemory)
}

// why describes the measurements.
func (t *trial[V]) why() string { return "measured: " + strings.Join(t.times, ", ") }
