package launch

import (
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// ellpack builds a format on the host and copies it to the device.
func (p *Rows[V]) ellpack(op *kernels.Packing[V]) error {
	rows := ellpack.Rows[V]{Ptr: op.Ptr, First: op.Part.StartIdx, End: op.Part.EndIdx + 1, Idx: op.Idx, Val: op.Val}
	f := sparse.Format(op.Form)
	o, err := p.room(f, rows)
	if err != nil {
		return err
	}
	switch f {
	case ellpack.FormatELL:
		return p.ell(rows, o)
	case ellpack.FormatELLR, ellpack.FormatPELLR, ellpack.FormatPELLRWarp:
		return p.ellr(f, rows, o)
	case ellpack.FormatBiELL, ellpack.FormatBiJAD:
		return p.bisected(f, rows, o)
	case ellpack.FormatJAD:
		return p.jad(rows, o)
	case ellpack.FormatHYB, ellpack.FormatHYBMean:
		return p.hyb(f, rows, o)
	}
	return p.sell(rows, o)
}

// room checks that the device has memory for the format before the host allocates any.
// The padding limit alone does not ensure that a format fits into the device.
func (p *Rows[V]) room(f sparse.Format, r ellpack.Rows[V]) (o ellpack.Options, err error) {
	free, bounded := free(p.dev)
	if !bounded {
		return o, nil
	}
	free = max(free, 1)
	size := mem.Size[V]()
	csr := 8*int64(len(r.Ptr)) + (4+size)*(r.End-r.First)
	bound := ellpack.Bound(csr)
	o.MaxBytes = min(bound, free)
	l, err := ellpack.Measure(r.Ptr, r.First, r.End, o)
	if err != nil {
		return o, err
	}
	shape, _ := l.Shape(f, size)
	if need := shape.Bytes(size); need > free && need <= bound {
		return o, &kernels.DeviceError{Device: p.dev.Info().ID, Call: "pack", Bytes: need,
			Err: fmt.Errorf("%w: %s of %d entries, %d bytes are free", kernels.ErrOutOfMemory, f, shape.NNZ, free)}
	}
	return o, nil
}

func (p *Rows[V]) ell(r ellpack.Rows[V], o ellpack.Options) error {
	e, err := ellpack.NewELL(r, o)
	if err != nil {
		return err
	}
	p.info.Padding = e.Shape.Padding()
	p.calls, err = p.ellCalls(e)
	return err
}

func (p *Rows[V]) ellCalls(e *ellpack.ELL[V]) (func(*builder, vectors[V]), error) {
	idx, err1 := upload(p, "idx", e.Idx)
	val, err2 := upload(p, "val", e.Val)
	stride, width := e.Stride, e.Width
	return func(b *builder, v vectors[V]) {
		b.call("msrep_major_ell"+suffix[V](), v.rows, idx(b), val(b), v.x, v.y, v.carry, v.rows, stride, width, v.skip, v.alpha, v.beta)
	}, errors.Join(err1, err2, p.stream.Sync())
}

func (p *Rows[V]) ellr(f sparse.Format, r ellpack.Rows[V], o ellpack.Options) error {
	e, err := ellpack.NewELLR(f, r, o)
	if err != nil {
		return err
	}
	p.info.Padding = e.Shape.Padding()
	if e.Shape.Sliced {
		p.info.Why += "; cut into warps, because padding all rows to the longest takes too much memory"
	}
	idx, err1 := upload(p, "idx", e.Idx)
	val, err2 := upload(p, "val", e.Val)
	length, err3 := upload(p, "length", e.Length)
	start, err4 := upload(p, "start", e.Start)
	perm, err5 := upload(p, "perm", e.Perm)
	name, stride := "msrep_major_ellr", e.Stride
	if e.ByWarp {
		name = "msrep_major_pellr_warp"
	}
	p.calls = func(b *builder, v vectors[V]) {
		b.call(name+suffix[V](), v.rows, idx(b), val(b), length(b), start(b), perm(b), v.x, v.y, v.carry,
			v.rows, stride, v.skip, v.alpha, v.beta)
	}
	return errors.Join(err1, err2, err3, err4, err5, p.stream.Sync())
}

func (p *Rows[V]) sell(r ellpack.Rows[V], o ellpack.Options) error {
	e, err := ellpack.NewSELL(r, o)
	if err != nil {
		return err
	}
	p.info.Padding = e.Shape.Padding()
	return p.byStarts("msrep_major_sell", e.Idx, e.Val, e.Start, e.Perm)
}

func (p *Rows[V]) bisected(f sparse.Format, r ellpack.Rows[V], o ellpack.Options) error {
	e, err := ellpack.NewBisected(f, r, o)
	if err != nil {
		return err
	}
	p.info.Padding = e.Shape.Padding()
	return p.byStarts("msrep_major_bisected", e.Idx, e.Val, e.Start, e.Perm)
}

func (p *Rows[V]) jad(r ellpack.Rows[V], o ellpack.Options) error {
	e, err := ellpack.NewJAD(r, o)
	if err != nil {
		return err
	}
	return p.byStarts("msrep_major_jad", e.Idx, e.Val, e.Start, e.Perm, int64(len(e.Start)-1))
}

// byStarts uploads a format with starts and a permutation. more are the arguments of
// the kernel after the number of rows.
func (p *Rows[V]) byStarts(kernel string, idx []int32, val []V, start []int64, perm []int32, more ...any) error {
	i, err1 := upload(p, "idx", idx)
	v, err2 := upload(p, "val", val)
	s, err3 := upload(p, "start", start)
	m, err4 := upload(p, "perm", perm)
	p.calls = func(b *builder, a vectors[V]) {
		args := []any{i(b), v(b), s(b), m(b), a.x, a.y, a.carry, a.rows}
		args = append(append(args, more...), a.skip, a.alpha, a.beta)
		b.call(kernel+suffix[V](), a.rows, args...)
	}
	return errors.Join(err1, err2, err3, err4, p.stream.Sync())
}

// hyb multiplies by the ELLPACK part, then adds the products of the coordinate part.
func (p *Rows[V]) hyb(f sparse.Format, r ellpack.Rows[V], o ellpack.Options) error {
	e, err := ellpack.NewHYB(f, r, o)
	if err != nil {
		return err
	}
	p.info.Padding = e.Shape.Padding()
	ell, err := p.ellCalls(&e.ELL)
	if err != nil {
		return err
	}
	row, err1 := upload(p, "major", e.Row)
	col, err2 := upload(p, "minor", e.Col)
	val, err3 := upload(p, "rest", e.RestVal)
	rest := int64(len(e.Row))
	p.calls = func(b *builder, v vectors[V]) {
		ell(b, v)
		if rest > 0 {
			addCoordinates[V](b, row(b), col(b), val(b), v.x, v.y, v.carry, rest, v.rows-v.skip, v.skip, v.alpha)
		}
	}
	return errors.Join(err1, err2, err3, p.stream.Sync())
}
