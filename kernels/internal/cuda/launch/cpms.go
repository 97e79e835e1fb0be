package launch

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// segmentBank is the number of consecutive bytes of one kind of segment on a GPU, as in
// the CPMS paper (section 4.1).
const segmentBank = 128

// packedSegments is a packed part with values in segments. It implements
// kernels.Packed.
type packedSegments struct {
	Rows[float64]
	precision kernels.Segments
	ones      bool                  // all values are 1 and not stored
	val       func(b *builder) Addr // address of the values
	places    int64                 // number of values
	joined    bool
	segmented func(b *builder, kernel string, v segmentVectors) // plans the product in segments
	plain     func(b *builder, v vectors[float64])              // plans the product with plain values, after they are joined
}

// segmentVectors holds the arguments of a product except the matrix.
type segmentVectors struct {
	vectors[float64]
	xlen, xread, ylen, yread int64
}

// packSegments packs a part whose values are read in segments: as kernels.FormCSR, as
// ELLPACK-R for "ell", or as ELLPACK-R with sorted rows for "pellr". Another form or
// type is a *sparse.InputError.
func packSegments[V sparse.Value](d kernels.Device, s kernels.Stream, given *kernels.Packing[V]) (kernels.Packed, error) {
	read := given.Segments
	op, ok := any(given).(*kernels.Packing[float64])
	if !ok {
		return nil, sparse.Inputf("precision", "%d of %d segments: only float64 values have segments", read.Read, read.Count)
	}
	layout := cpms.Layout{Segments: read.Count, Bank: segmentBank}
	if err := layout.Check(); err != nil {
		return nil, err
	}
	ones := read.Read == 0 && op.Val == nil
	if !ones && (read.Read < 1 || read.Read > read.Count) {
		return nil, sparse.Inputf("precision", "%d of %d segments: use 1 to %d", read.Read, read.Count, read.Count)
	}
	if err := checkSegments(op, ones); err != nil {
		return nil, err
	}
	begin := time.Now()
	p := &packedSegments{Rows: Rows[float64]{dev: d, stream: s, part: op.Part, minors: int64(op.Minors)}, precision: read, ones: ones}
	p.info.Form, p.info.Why = op.Form, fmt.Sprintf("%d of %d segments are read", read.Read, read.Count)
	var err error
	if ones {
		p.info.Why = "all values are 1"
	}
	switch sparse.Format(op.Form) {
	case "", sparse.Format(kernels.FormAuto), sparse.FormatCSR:
		p.info.Form = kernels.FormCSR
		err = p.rows(op, layout)
	case ellpack.FormatELL:
		err = p.ellr(ellpack.FormatELLR, op, layout)
	case ellpack.FormatPELLR:
		err = p.ellr(ellpack.FormatPELLR, op, layout)
	default:
		err = sparse.Inputf("format", "%q can't be read in segments: use csr, ell or pellr", string(op.Form))
	}
	if err == nil {
		err = s.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, p.Free())
	}
	p.info.Took = time.Since(begin)
	return p, nil
}

// checkSegments is checkPacking for a part in segments, or without values.
func checkSegments(op *kernels.Packing[float64], ones bool) error {
	plain := *op
	plain.Segments = kernels.Segments{}
	if ones && int64(len(op.Idx)) == op.Part.NNZ() {
		plain.Part.EndIdx, plain.Idx = plain.Part.StartIdx-1, nil
	}
	return checkPacking(&plain)
}

// cut cuts values into segments and copies them to the device.
func (p *packedSegments) cut(val []float64, l cpms.Layout) error {
	if p.ones {
		return nil
	}
	p.places = int64(len(val))
	a, err := cpms.FromFloats(slices.Clone(val), l)
	if err != nil {
		return err
	}
	words := a.Segments32()
	if words == nil {
		words, _ = mem.Slice[uint32](mem.Bytes(a.Segments16()), 2*int64(a.Len()))
	}
	p.val, err = upload(&p.Rows, "val", words)
	return err
}

// values returns the address of the values, 0 if there are none.
func (p *packedSegments) values(b *builder) Addr {
	if p.ones {
		return 0
	}
	return p.val(b)
}

// shift returns log2 of the number of values in a bank.
func (p *packedSegments) shift() int64 {
	l := cpms.Layout{Segments: p.precision.Count, Bank: segmentBank}
	return int64(bits.TrailingZeros(uint(l.PerBank())))
}

func (p *packedSegments) rows(op *kernels.Packing[float64], l cpms.Layout) error {
	local, err := partition.OwnPtr(op.Ptr, op.Part)
	if err != nil {
		return err
	}
	ptr, err1 := upload(&p.Rows, "ptr", local)
	idx, err2 := upload(&p.Rows, "idx", op.Idx)
	err3 := p.cut(op.Val, l)
	nnz := op.Part.NNZ()
	p.segmented = func(b *builder, kernel string, v segmentVectors) {
		b.call("msrep_cpms_rows_"+kernel, v.rows, ptr(b), idx(b), p.values(b), v.x, v.y, v.carry, v.rows, int64(0), nnz, v.skip, p.shift(),
			v.xlen, v.xread, v.ylen, v.yread, v.alpha, v.beta)
	}
	way, _ := choose(local)
	p.plain = func(b *builder, v vectors[float64]) {
		a := compressed{ptr: ptr(b), idx: idx(b), val: p.values(b), rows: v.rows, end: nnz, skip: v.skip}
		majorProductRows(b, a, v, way, nil)
	}
	return errors.Join(err1, err2, err3, p.stream.Sync())
}

func (p *packedSegments) ellr(f sparse.Format, op *kernels.Packing[float64], l cpms.Layout) error {
	if p.ones { // only the places matter, so the smallest type is used
		e, err := newELLR(f, op, make([]float32, len(op.Idx)))
		if err != nil {
			return err
		}
		return uploadELLR(p, e)
	}
	e, err := newELLR(f, op, op.Val)
	if err != nil {
		return err
	}
	return errors.Join(p.cut(e.Val, l), uploadELLR(p, e))
}

func newELLR[V sparse.Value](f sparse.Format, op *kernels.Packing[float64], val []V) (*ellpack.ELLR[V], error) {
	rows := ellpack.Rows[V]{Ptr: op.Ptr, First: op.Part.StartIdx, End: op.Part.EndIdx + 1, Idx: op.Idx, Val: val}
	return ellpack.NewELLR(f, rows, ellpack.Options{})
}

// uploadELLR copies all arrays except the values.
func uploadELLR[V sparse.Value](p *packedSegments, e *ellpack.ELLR[V]) error {
	p.info.Padding = e.Shape.Padding()
	idx, err1 := upload(&p.Rows, "idx", e.Idx)
	length, err2 := upload(&p.Rows, "length", e.Length)
	start, err3 := upload(&p.Rows, "start", e.Start)
	perm, err4 := upload(&p.Rows, "perm", e.Perm)
	stride, places := e.Stride, int64(len(e.Idx))
	p.segmented = func(b *builder, kernel string, v segmentVectors) {
		b.call("msrep_cpms_ellr_"+kernel, v.rows, idx(b), p.values(b), length(b), start(b), perm(b), v.x, v.y, v.carry,
			v.rows, stride, places, v.skip, p.shift(), v.xlen, v.xread, v.ylen, v.yread, v.alpha, v.beta)
	}
	p.plain = func(b *builder, v vectors[float64]) {
		b.call("msrep_major_ellr_f64", v.rows, idx(b), p.values(b), length(b), start(b), perm(b), v.x, v.y, v.carry,
			v.rows, stride, v.skip, v.alpha, v.beta)
	}
	return errors.Join(err1, err2, err3, err4, p.stream.Sync())
}
