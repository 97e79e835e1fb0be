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

// segmentBank is the bytes of one kind of segment that follow each other on a GPU,
// as in the CPMS paper (section 4.1).
const segmentBank = 128

// packSegments packs a part whose values are read in segments: kernels.FormCSR, or
// ELLPACK-R for "ell". Other forms and types are a *sparse.InputError.
func packSegments[V sparse.Value](d kernels.Device, s kernels.Stream, given *kernels.Packing[V]) (kernels.Packed, error) {
	op, ok := any(given).(*kernels.Packing[float64])
	if !ok {
		return nil, sparse.Inputf("precision", "%d of %d segments: only float64 values have segments", given.Precision.Read, given.Precision.Segments)
	}
	read := op.Precision
	layout := cpms.Layout{Segments: read.Segments, Bank: segmentBank}
	if err := layout.Check(); err != nil {
		return nil, err
	}
	if read.Read < 1 || read.Read > read.Segments {
		return nil, sparse.Inputf("precision", "%d of %d segments: use 1 to %d", read.Read, read.Segments, read.Segments)
	}
	whole := *op
	whole.Precision = kernels.Precision{}
	if err := CheckPacking(&whole); err != nil {
		return nil, err
	}
	begin := time.Now()
	p := &packedRows[float64]{dev: d, stream: s, part: op.Part, minors: int64(op.Minors)}
	p.info.Form, p.info.Why = op.Form, fmt.Sprintf("%d of %d segments are read", read.Read, read.Segments)
	var err error
	switch sparse.Format(op.Form) {
	case "", sparse.Format(kernels.FormAuto), sparse.FormatCSR:
		p.info.Form = kernels.FormCSR
		err = p.segmentedRows(op, layout)
	case ellpack.FormatELL:
		err = p.segmentedELLR(op, layout)
	default:
		err = sparse.Inputf("format", "%q can't be read in segments: use csr or ell", string(op.Form))
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

// segments copies values to the device, cut into segments.
func (p *packedRows[V]) segments(val []float64, l cpms.Layout) (func(b *builder) Addr, error) {
	a, err := cpms.FromFloats(slices.Clone(val), l)
	if err != nil {
		return nil, err
	}
	words := a.Segments32()
	if words == nil {
		words, _ = mem.Slice[uint32](mem.Bytes(a.Segments16()), 2*int64(a.Len()))
	}
	return upload(p, "val", words)
}

// shift is the logarithm of the values in a bank.
func shift(l cpms.Layout) int64 { return int64(bits.TrailingZeros(uint(l.PerBank()))) }

func (p *packedRows[V]) segmentedRows(op *kernels.Packing[float64], l cpms.Layout) error {
	local := make([]int64, len(op.Ptr))
	if err := partition.LocalPtr(local, op.Ptr, op.Part); err != nil {
		return err
	}
	ptr, err1 := upload(p, "ptr", local)
	idx, err2 := upload(p, "idx", op.Idx)
	val, err3 := p.segments(op.Val, l)
	name := fmt.Sprintf("msrep_cpms_rows_%dof%d", op.Precision.Read, op.Precision.Segments)
	nnz := op.Part.NNZ()
	p.calls = func(b *builder, v vectors[V]) {
		b.call(name, v.rows, ptr(b), idx(b), val(b), v.x, v.y, v.carry, v.rows, int64(0), nnz, v.skip, shift(l), v.alpha, v.beta)
	}
	return errors.Join(err1, err2, err3, p.stream.Sync())
}

func (p *packedRows[V]) segmentedELLR(op *kernels.Packing[float64], l cpms.Layout) error {
	rows := ellpack.Rows[float64]{Ptr: op.Ptr, First: op.Part.StartIdx, End: op.Part.EndIdx + 1, Idx: op.Idx, Val: op.Val}
	e, err := ellpack.NewELLR(ellpack.FormatELLR, rows, ellpack.Options{})
	if err != nil {
		return err
	}
	p.info.Padding = e.Shape.Padding()
	idx, err1 := upload(p, "idx", e.Idx)
	val, err2 := p.segments(e.Val, l)
	length, err3 := upload(p, "length", e.Length)
	start, err4 := upload(p, "start", e.Start)
	name, stride, places := fmt.Sprintf("msrep_cpms_ellr_%dof%d", op.Precision.Read, op.Precision.Segments), e.Stride, int64(len(e.Val))
	p.calls = func(b *builder, v vectors[V]) {
		b.call(name, v.rows, idx(b), val(b), length(b), start(b), v.x, v.y, v.carry,
			v.rows, stride, places, v.skip, shift(l), v.alpha, v.beta)
	}
	return errors.Join(err1, err2, err3, err4, p.stream.Sync())
}
