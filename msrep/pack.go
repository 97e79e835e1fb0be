package msrep

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/kernels/cuda/launch"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// FormatAuto lets each device choose the form of its part.
const FormatAuto sparse.Format = "auto"

// Forms returns what Storage.Form may be on devices of a kind (kernels.Info.Kind): "cpu", "cuda", or "sim", which has
// the forms of "cuda". With "" it returns the forms of all kinds.
func Forms(kind string) []Form {
	gpu := append([]Form{launch.FormSlices}, ellForms()...)
	gpu = append(gpu, launch.FormMerge, launch.FormStreamed, launch.FormCSRScalar, launch.FormCSRVector)
	if kind != "cpu" && kind != "" {
		return gpu
	}
	out := slices.DeleteFunc(cpu.Forms(), func(f Form) bool { return f == kernels.FormCSR })
	if kind == "" {
		for _, f := range gpu {
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// ellForms returns the formats of the ELLPACK family as forms.
func ellForms() (out []Form) {
	for _, f := range ellpack.Formats() {
		out = append(out, Form(f))
	}
	return out
}

// checkStorage checks the names of the format and the form, and that the two go together.
func (o *PlanOptions) checkStorage() error {
	s := &o.Storage
	if s.Form == kernels.FormAuto {
		s.Form = ""
	}
	switch s.Format {
	case "", FormatAuto, sparse.FormatCSR:
	case sparse.FormatCSC, sparse.FormatCOO:
		if s.Form != "" {
			return sparse.Inputf("format", "%s has no forms: with form %q use auto or csr", s.Format, string(s.Form))
		}
	default:
		return sparse.Inputf("format", "%q is not known: use auto, csr, csc or coo; Storage.Form takes the name of a form", string(s.Format))
	}
	if o.Variant.Library == LibraryCuSPARSE && (s.Form != "" || s.Format == sparse.FormatCSC || s.Format == sparse.FormatCOO) {
		return sparse.Inputf("kernel", "cusparse multiplies in csr, not in %s", cmp.Or(string(s.Form), string(s.Format)))
	}
	return nil
}

// formOfLibrary is the name by which devices know the form of NVIDIA's library.
const formOfLibrary = Form(LibraryCuSPARSE)

// fillForm sets the format of the split and the form of the parts, for a matrix in the format given.
func (o *PlanOptions) fillForm(given sparse.Format) error {
	s := &o.Storage
	o.form = s.Form
	switch {
	case o.Variant.Library == LibraryCuSPARSE:
		o.form, s.Format = formOfLibrary, sparse.FormatCSR
	case o.form != "":
		s.Format = sparse.FormatCSR
	case s.Format == "" || s.Format == FormatAuto:
		s.Format = given
		if o.Variant.Strategy == Optimized {
			o.form = kernels.FormAuto
			if o.Expected.Products != 1 || s.Choice != "" {
				s.Format = sparse.FormatCSR
			}
		}
	}
	return o.fillPrecision()
}

// fillPrecision checks the precision, and packs parts in csr that would otherwise
// stay as they are.
func (o *PlanOptions) fillPrecision() error {
	p := o.Storage.Segments
	if p == (kernels.Segments{}) {
		return nil
	}
	if p.Count != 2 && p.Count != 4 || p.Read < 1 || p.Read > p.Count {
		return sparse.Inputf("precision", "%d of %d segments: values have 2 or 4, of which at least one is read", p.Read, p.Count)
	}
	switch {
	case o.Storage.Format == sparse.FormatCSC || o.Storage.Format == sparse.FormatCOO:
		return sparse.Inputf("precision", "%d of %d segments: %s has plain values only, use csr or ell", p.Read, p.Count, o.Storage.Format)
	case o.form == "" || o.form == kernels.FormAuto:
		o.form = kernels.FormCSR
	}
	return nil
}

// pack asks the device to keep the part in the form of the plan, as it was packed after
// other values, nil for not at all. Without a form, or on a device that keeps parts only
// as they are, it does nothing.
func (s *share[V]) pack(ctx context.Context, l layout[V], o PlanOptions, after kernels.Packed) error {
	packer, ok := s.dev.(kernels.Packer)
	if o.form == "" || l.ptr == nil {
		return nil
	}
	if !ok {
		return s.lacks(o.form)
	}
	p := s.part
	packed, err := packer.Pack(&kernels.Packing[V]{
		Part: p.Shift(p.First(), 0), Ptr: l.ptr[p.First() : p.End()+1],
		Idx: l.minor[p.StartIdx : p.EndIdx+1], Val: l.val[p.StartIdx : p.EndIdx+1], Minors: l.minors,
		Form: o.form, Own: o.Variant.Library == LibraryOwn, Products: o.Expected.Products, Vectors: o.Expected.Vectors, Segments: o.Storage.Segments, Fixed: o.Deterministic, After: after, Stop: ctx.Err,
		InPlace: o.Variant.Strategy == Optimized && (s.inPlace == nil || !s.placed) && !o.Storage.Release,
	})
	if errors.Is(err, kernels.ErrNotSupported) {
		if info := s.dev.Info(); o.Deterministic && o.form != kernels.FormAuto && slices.Contains(Forms(info.Kind), o.form) {
			return sparse.Inputf("format", "%q sums in an order of its own on device %s: with deterministic use auto or csr", string(o.form), info.ID)
		}
		return s.lacks(o.form)
	}
	s.packed = packed
	return err
}

// lacks is the error of a form that the device does not have.
func (s *share[V]) lacks(f kernels.Form) error {
	switch f {
	case kernels.FormAuto:
		return nil
	case formOfLibrary:
		return sparse.Inputf("kernel", "cusparse runs on NVIDIA GPUs: device %s has our own kernels only", s.dev.Info().ID)
	}
	info := s.dev.Info()
	known := []string{string(FormatAuto), string(sparse.FormatCSR), string(sparse.FormatCSC), string(sparse.FormatCOO)}
	for _, f := range Forms(info.Kind) {
		known = append(known, string(f))
	}
	return sparse.Inputf("format", "%q is not known to device %s: use one of %s", string(f), info.ID, strings.Join(known, ", "))
}

// release lets go of the matrix, where all devices hold their parts in forms of
// their own.
func (p *Plan[V]) release() error {
	if !p.opt.Storage.Release {
		return nil
	}
	for _, s := range p.shares {
		if s.packed == nil {
			return nil
		}
	}
	p.src, p.given = nil, nil
	p.lay.ptr, p.lay.minor, p.lay.val = []int64{}, nil, nil // not nil: that would be COO
	return nil
}

// lacks reports whether the matrix was released and products with op need it.
func (p *Plan[V]) lacks(op Transpose) bool { return p.src == nil && p.needsRows(op) }

// needsRows reports whether the forms of some devices do not make products with op, so that
// these use their parts as they are.
func (p *Plan[V]) needsRows(op Transpose) bool {
	return slices.ContainsFunc(p.shares, func(s *share[V]) bool { return !s.packs(p.lay.byMajor(op)) })
}

// What needs the matrix as it was given.
var (
	errReleased = sparse.Inputf("plan", "its matrix was released (PlanOptions.Storage.Release): it makes products with the operations it was packed for only")
	errNoRows   = sparse.Inputf("plan", "its matrix was released (PlanOptions.Storage.Release): there is nothing to look for other forms with, make a new plan")
	errNoValues = sparse.Inputf("plan", "its matrix was released (PlanOptions.Storage.Release): its values can't be replaced, make a new plan")
)

// repack packs the part again, with other values, in the form that it has.
func (s *share[V]) repack(ctx context.Context, l layout[V], o PlanOptions) error {
	if s.packed == nil {
		return nil
	}
	old := s.packed
	o.form = old.Info().Form
	err := old.Free()
	s.packed = nil
	return errors.Join(err, s.pack(ctx, l, o, old))
}

// Packed describes what each device made of its part for products with op, in the
// order of Shares: its form, and why. Parts that are multiplied as they were split
// have no form, unless they are in COO and a device has measured csr beside it.
func (p *Plan[V]) Packed(op Transpose) []PackInfo {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q := p.instead(op); q != nil {
		return q.Packed(op)
	}
	out := make([]kernels.PackInfo, len(p.shares))
	for i, s := range p.shares {
		switch {
		case s == nil:
		case s.packs(p.lay.byMajor(op)):
			out[i] = s.packed.Info()
		case s.packed == nil:
			out[i] = s.chosen
		}
	}
	return out
}
