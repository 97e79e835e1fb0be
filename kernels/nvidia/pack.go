//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
	"github.com/msrep-go/msrep/sparse"
)

const (
	// measuredFrom is the number of expected products from which kernels.FormAuto
	// measures. Measuring costs about 20 products, or a tenth of many (trial.time).
	measuredFrom = 100
	// slicedFrom is the same number for slices. The host builds slices and copies them
	// to the device, which may cost as much as several hundred products.
	slicedFrom = 500
	// tiledFrom is the same number for tiles. The device builds them, but the host plans them.
	tiledFrom = 500
)

// Pack implements kernels.Packer, for triangles and parts. For parts it supports kernels.FormCSR (vector kernels),
// kernels.FormMerge (merge path), FormCuSPARSE, kernels.FormSlices, the other forms of
// launch.PackForm, and kernels.FormAuto. FormAuto measures each of the first four, and
// kernels.FormTiles, on the part and keeps the fastest; it measures cuSPARSE with each of
// its algorithms, slices and tiles only from 500 expected products, and if
// launch.TrySlices or launch.TryTiles finds that they suit.
// If few products are expected or memory for measuring is lacking, the lengths of the
// rows decide between FormCSR and FormMerge.
func (d *Device) Pack(op kernels.Operation) (p kernels.Packed, err error) {
	switch op := op.(type) {
	case *kernels.Packing[float64]:
		p, err = pack(d, op)
	case *kernels.Packing[float32]:
		p, err = pack(d, op)
	case *kernels.TrianglePacking[float64]:
		p, err = packTriangle(d, op)
	case *kernels.TrianglePacking[float32]:
		p, err = packTriangle(d, op)
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

func packTriangle[V sparse.Value](d *Device, op *kernels.TrianglePacking[V]) (kernels.Packed, error) {
	s, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	t, err := launch.PackTriangle(d, s, op)
	switch e := s.Close(); {
	case err != nil:
		return nil, errors.Join(err, e)
	case e != nil:
		return nil, errors.Join(e, t.Free())
	}
	return t, nil
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
		return a, nil // nothing to measure, no work for cuSPARSE
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

// ownEntries returns the number of entries in the rows that the part owns.
func ownEntries[V sparse.Value](op *kernels.Packing[V]) int64 {
	first, end := op.Part.StartIdx, op.Part.EndIdx+1
	if op.Part.StartFlag {
		first = min(op.Ptr[1], end)
	}
	return end - first
}

// describe sets info after the part has been chosen.
func (p *sparsePart[V]) describe(why string, tried []kernels.PackTrial) {
	p.info = kernels.PackInfo{Form: FormCuSPARSE, Why: fmt.Sprintf("%s, %s", p.plan.Algorithm, why), Tried: tried}
	for _, b := range p.Buffers() {
		p.info.Bytes += b.Bytes()
	}
}
