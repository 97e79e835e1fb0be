//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cuda/launch"
	"github.com/msrep-go/msrep/kernels/nvidia/cusparse"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

const (
	// measuredFrom is the number of expected products from which kernels.FormAuto
	// measures: looking costs about 20 products.
	measuredFrom = 100
	timedRuns    = 3 // of each candidate, after one that is not timed
)

// Pack implements kernels.Packer. The forms are kernels.FormCSR (vector kernels),
// launch.FormMerge (merge path), FormCuSPARSE, the others of launch.PackForm, and
// kernels.FormAuto: each of the first three is measured once on the part, cuSPARSE with both of its algorithms, and the fastest
// is kept. Where few products are expected or the memory for measuring is not there,
// the lengths of the rows decide between our own kernels.
func (d *Device) Pack(op kernels.Op) (p kernels.Packed, err error) {
	switch op := op.(type) {
	case *kernels.Packing[float64]:
		p, err = pack(d, op)
	case *kernels.Packing[float32]:
		p, err = pack(d, op)
	default:
		err = kernels.ErrNotSupported
	}
	if err != nil {
		if sparse.IsInput(err) {
			return nil, err
		}
		return nil, d.fail("pack", 0, err)
	}
	return p, nil
}

func pack[V sparse.Value](d *Device, op *kernels.Packing[V]) (kernels.Packed, error) {
	st, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	s := st.(*stream)
	p, err := packOn(d, s, op)
	if e := s.Close(); err == nil && e != nil {
		return nil, errors.Join(e, p.Free())
	}
	return p, err
}

func packOn[V sparse.Value](d *Device, s *stream, op *kernels.Packing[V]) (kernels.Packed, error) {
	begin := time.Now()
	auto := op.Form == "" || op.Form == kernels.FormAuto
	if !auto && op.Form != FormCuSPARSE {
		return launch.PackForm(d, s, op)
	}
	own := *op
	if !auto {
		own.Form = kernels.FormCSR
	}
	a, err := launch.Pack(d, s, &own)
	if err != nil && launch.Streams(op, err) && d.dead.Load() == nil {
		return launch.PackForm(d, s, op)
	}
	if err != nil {
		return nil, err
	}
	products := op.Products
	if products == 0 {
		products = measuredFrom
	}
	if auto && products < measuredFrom || ownEntries(op) == 0 {
		return a, nil // nothing to measure, nothing for cuSPARSE to do
	}
	t, err := newTrial(d, s, op, a)
	if err != nil {
		if auto && errors.Is(err, kernels.ErrOutOfMemory) && d.dead.Load() == nil {
			return a, nil
		}
		return nil, errors.Join(err, a.Free())
	}
	var p kernels.Packed
	if auto {
		p, err = t.fastest()
	} else {
		p, err = t.cuSPARSE()
	}
	err = errors.Join(err, t.close())
	if err != nil {
		if p != nil {
			return nil, errors.Join(err, p.Free())
		}
		return nil, errors.Join(err, a.Free())
	}
	if c, ok := p.(*sparsePart[V]); ok {
		c.info.Took = time.Since(begin)
	}
	return p, nil
}

// ownEntries is the number of entries in the rows that the part owns.
func ownEntries[V sparse.Value](op *kernels.Packing[V]) int64 {
	first, end := op.Part.StartIdx, op.Part.EndIdx+1
	if op.Part.StartFlag {
		first = min(op.Ptr[1], end)
	}
	return end - first
}

// trial measures products of one part.
type trial[V sparse.Value] struct {
	dev         *Device
	s           *stream
	own         bool // without cuSPARSE
	a           *launch.Packed[V]
	local       []int64
	x, y, carry kernels.Array[V]
	start, stop kernels.Event
	told        []string // what was measured
}

func newTrial[V sparse.Value](d *Device, s *stream, op *kernels.Packing[V], a *launch.Packed[V]) (*trial[V], error) {
	t := &trial[V]{dev: d, s: s, own: op.Own, a: a, local: make([]int64, len(op.Ptr))}
	err := partition.LocalPtr(t.local, op.Ptr, op.Part)
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

// time is the shortest of some products of p.
func (t *trial[V]) time(p kernels.Packed, name string) (best time.Duration, err error) {
	op := &kernels.GatherPacked[V]{A: p, Alpha: 1, X: t.x, Y: t.y, Carry: t.carry}
	for i := range timedRuns + 1 {
		if err := errors.Join(t.s.Record(t.start), t.s.Launch(op), t.s.Record(t.stop), t.s.Sync()); err != nil {
			return 0, err
		}
		took, err := t.stop.Since(t.start)
		if err != nil {
			return 0, err
		}
		if i == 1 || i > 0 && took < best {
			best = took
		}
	}
	t.told = append(t.told, fmt.Sprintf("%s %v", name, best.Round(100*time.Nanosecond)))
	return best, nil
}

// fastest keeps the fastest of all forms.
func (t *trial[V]) fastest() (kernels.Packed, error) {
	if err := t.a.Prepare(t.s, launch.Merge, ""); err != nil {
		return nil, err
	}
	merge, err := t.time(t.a, "merge path")
	if err != nil {
		return nil, err
	}
	if err := t.a.Prepare(t.s, launch.Vector, ""); err != nil {
		return nil, err
	}
	vector, err := t.time(t.a, "vector")
	if err != nil {
		return nil, err
	}
	var c contender[V]
	if !t.own {
		if c, err = t.bestCuSPARSE(); err != nil {
			return nil, err
		}
	}
	if c.part != nil {
		if c.took < min(merge, vector) {
			c.part.describe(t.why())
			return c.part, t.a.DropStarts()
		}
		if err := c.part.drop(); err != nil {
			return nil, err
		}
	}
	g := launch.Vector
	if merge < vector {
		g = launch.Merge
	} else if err := t.a.DropStarts(); err != nil {
		return nil, err
	}
	return t.a, t.a.Prepare(t.s, g, t.why())
}

// cuSPARSE keeps the faster algorithm of cuSPARSE.
func (t *trial[V]) cuSPARSE() (kernels.Packed, error) {
	c, err := t.bestCuSPARSE()
	if err != nil {
		return nil, err
	}
	if c.part == nil {
		return nil, fmt.Errorf("%w: %s", kernels.ErrNotSupported, t.why())
	}
	c.part.describe(t.why())
	return c.part, nil
}

// contender is a part and its time.
type contender[V sparse.Value] struct {
	part *sparsePart[V]
	took time.Duration
}

// bestCuSPARSE measures the algorithms of cuSPARSE. There is no part when it is not
// installed, or can't do this one.
func (t *trial[V]) bestCuSPARSE() (best contender[V], err error) {
	for _, alg := range []cusparse.Algorithm{cusparse.CSR1, cusparse.CSR2} {
		var took time.Duration
		p, err := newSparse(t.dev, t.s, t.a, t.local, alg)
		if err == nil {
			took, err = t.time(p, "cuSPARSE "+alg.String())
		}
		if err == nil && (best.part == nil || took < best.took) {
			p, best.part, best.took = best.part, p, took
		}
		if err != nil && passable(err) && t.dev.dead.Load() == nil {
			t.told = append(t.told, fmt.Sprintf("cuSPARSE %s not: %v", alg, err))
			err = nil
		}
		if p != nil { // the slower one, or one that failed
			err = errors.Join(err, p.drop())
		}
		if err != nil {
			if best.part != nil {
				err = errors.Join(err, best.part.drop())
			}
			return contender[V]{}, err
		}
	}
	return best, nil
}

// passable reports whether an error only says that cuSPARSE is not for this part.
func passable(err error) bool {
	var e cusparse.Error
	return errors.As(err, &e) || errors.Is(err, cusparse.ErrAbsent) || errors.Is(err, kernels.ErrNotSupported) || errors.Is(err, kernels.ErrOutOfMemory)
}

// why says what was measured.
func (t *trial[V]) why() string { return "measured: " + strings.Join(t.told, ", ") }

// describe fills info once the part is kept.
func (p *sparsePart[V]) describe(why string) {
	p.info = kernels.PackInfo{Form: FormCuSPARSE, Why: fmt.Sprintf("%s, %s", p.plan.Algorithm, why)}
	for _, b := range p.Buffers() {
		p.info.Bytes += b.Bytes()
	}
}
