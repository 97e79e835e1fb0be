package msrep

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep/internal/layout"
	"github.com/msrep-go/msrep/sparse"
)

// pack returns the part in the form of the plan. after is the part packed earlier with other values, or nil. pack returns
// nil if the plan has no form, or if the form is FormAuto and the device packs nothing.
func (s *share[V]) pack(ctx context.Context, l *layout.Matrix[V], o PlanOptions, after kernels.Packed) (kernels.Packed, error) {
	packer, ok := s.dev.(kernels.Packer)
	if o.form == "" || l.COO() {
		return nil, nil
	}
	if !ok {
		return nil, s.formError(o.form)
	}
	p := s.part
	idx, minors, err := s.indices(l)
	if err != nil {
		return nil, err
	}
	packed, err := packer.Pack(&kernels.Packing[V]{
		Part: p.Shift(p.First(), 0), Ptr: l.Ptr[p.First() : p.End()+1],
		Idx: idx, Val: l.Val[p.StartIdx : p.EndIdx+1], Minors: minors,
		Form: o.form, NoVendorLibrary: o.Variant.Library == LibraryOwn, Products: o.Expected.Products, Segments: o.Storage.Segments, Fixed: o.Deterministic, Previous: after, Stop: ctx.Err,
		InPlace: (s.transfer == inPlace || s.transfer == localByDevice) && !o.Storage.Release,
	})
	if errors.Is(err, kernels.ErrNotSupported) {
		if info := s.dev.Info(); o.Deterministic && o.form != kernels.FormAuto && slices.Contains(Forms(info.Kind), o.form) {
			return nil, sparse.Inputf("format", "%q sums in an order of its own on device %s: with deterministic use auto or csr", string(o.form), info.ID)
		}
		return nil, s.formError(o.form)
	}
	return packed, err
}

// formError returns the error for a form that the device does not have; nil for FormAuto.
func (s *share[V]) formError(f kernels.Form) error {
	switch f {
	case kernels.FormAuto:
		return nil
	case formOfLibrary:
		return sparse.Inputf("kernel", "cusparse runs on NVIDIA GPUs: device %s has only the kernels of this project", s.dev.Info().ID)
	}
	info := s.dev.Info()
	known := []string{string(FormatAuto), string(sparse.FormatCSR), string(sparse.FormatCSC), string(sparse.FormatCOO)}
	for _, f := range Forms(info.Kind) {
		known = append(known, string(f))
	}
	return sparse.Inputf("format", "%q is not known to device %s: use one of %s", string(f), info.ID, strings.Join(known, ", "))
}

// release drops the references to the matrix if Storage.Release is set and all parts are packed.
func (p *Plan[V]) release() {
	if !p.opt.Storage.Release || slices.ContainsFunc(p.shares, func(s *share[V]) bool { return s.packed == nil }) {
		return
	}
	p.src, p.givenVal = nil, nil
	if p.order != nil {
		p.order.Release()
	}
	p.lay.Ptr, p.lay.Minor, p.lay.Val = nil, nil, nil
}

// needsReleased reports whether products with op need the matrix, but it was released.
func (p *Plan[V]) needsReleased(op Transpose) bool { return p.src == nil && p.needsUnpacked(op) }

// needsUnpacked reports whether some device needs its unpacked part for products with op, because the part has no
// form or its form does not multiply with op.
func (p *Plan[V]) needsUnpacked(op Transpose) bool {
	return slices.ContainsFunc(p.shares, func(s *share[V]) bool { return !s.usesPacked(p.lay.ByMajor(bool(op))) })
}

// Errors of calls that need a matrix that was released.
var (
	errReleased       = sparse.Inputf("plan", "its matrix was released (PlanOptions.Storage.Release): it can only multiply with the operations that it was packed for")
	errRetuneReleased = sparse.Inputf("plan", "its matrix was released (PlanOptions.Storage.Release): other forms cannot be tried, make a new plan")
	errUpdateReleased = sparse.Inputf("plan", "its matrix was released (PlanOptions.Storage.Release): its values can't be replaced, make a new plan")
)

// repack packs the part again with new values, in its current form.
func (s *share[V]) repack(ctx context.Context, l *layout.Matrix[V], o PlanOptions) error {
	if s.packed == nil {
		return nil
	}
	old := s.packed
	o.form = old.Info().Form
	err := old.Free()
	fresh, e := s.pack(ctx, l, o, old)
	s.packed = fresh
	return errors.Join(err, e)
}

// Packed describes the form of each part for products with op, and why it was chosen, in the order of Shares. The
// PackInfo of a part that is not packed is empty, unless its device chose between csr and coo for a part in COO: it
// then describes that choice.
func (p *Plan[V]) Packed(op Transpose) []PackInfo {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q := p.transposedFor(op); q != nil {
		return q.Packed(op)
	}
	out := make([]kernels.PackInfo, len(p.shares))
	for i, s := range p.shares {
		switch {
		case s == nil:
		case s.usesPacked(p.lay.ByMajor(bool(op))):
			out[i] = s.packed.Info()
		case s.packed == nil:
			out[i] = s.cooChoice
		}
	}
	return out
}
