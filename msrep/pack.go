package msrep

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// FormatAuto lets each device choose the form of its part.
const FormatAuto sparse.Format = "auto"

// Forms returns the names that Storage.Form accepts on devices of a kind (kernels.Info.Kind): "cpu", "cuda", or "sim",
// which has the forms of "cuda". With "" it returns the forms of all kinds.
func Forms(kind string) []Form {
	gpu := append([]Form{kernels.FormSlices}, ellForms()...)
	gpu = append(gpu, kernels.FormMerge, kernels.FormStreamed, kernels.FormCSRScalar, kernels.FormCSRVector)
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

// formOfLibrary is the form that devices multiply with NVIDIA's library.
const formOfLibrary = Form(LibraryCuSPARSE)

// fillForm sets the format of the split and the form of the parts. given is the format of the matrix.
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

// fillPrecision checks Storage.Segments. Values in segments need a form: it sets csr if there is none.
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

// pack brings the part into the form of the plan. after is the part packed earlier with other values, or nil. pack does
// nothing if the plan has no form, or if the form is FormAuto and the device packs nothing.
func (s *share[V]) pack(ctx context.Context, l layout[V], o PlanOptions, after kernels.Packed) error {
	packer, ok := s.dev.(kernels.Packer)
	if o.form == "" || l.ptr == nil {
		return nil
	}
	if !ok {
		return s.formError(o.form)
	}
	p := s.part
	packed, err := packer.Pack(&kernels.Packing[V]{
		Part: p.Shift(p.First(), 0), Ptr: l.ptr[p.First() : p.End()+1],
		Idx: l.minor[p.StartIdx : p.EndIdx+1], Val: l.val[p.StartIdx : p.EndIdx+1], Minors: l.minors,
		Form: o.form, NoVendorLibrary: o.Variant.Library == LibraryOwn, Products: o.Expected.Products, Vectors: o.Expected.Vectors, Segments: o.Storage.Segments, Fixed: o.Deterministic, Previous: after, Stop: ctx.Err,
		InPlace: o.Variant.Strategy == Optimized && (s.inPlace == nil || !s.placed) && !o.Storage.Release,
	})
	if errors.Is(err, kernels.ErrNotSupported) {
		if info := s.dev.Info(); o.Deterministic && o.form != kernels.FormAuto && slices.Contains(Forms(info.Kind), o.form) {
			return sparse.Inputf("format", "%q sums in an order of its own on device %s: with deterministic use auto or csr", string(o.form), info.ID)
		}
		return s.formError(o.form)
	}
	s.packed = packed
	return err
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
func (p *Plan[V]) release() error {
	if !p.opt.Storage.Release {
		return nil
	}
	for _, s := range p.shares {
		if s.packed == nil {
			return nil
		}
	}
	p.src, p.givenVal = nil, nil
	p.lay.ptr, p.lay.minor, p.lay.val = []int64{}, nil, nil // not nil, which means COO
	return nil
}

// needsReleased reports whether products with op need the matrix, but it was released.
func (p *Plan[V]) needsReleased(op Transpose) bool { return p.src == nil && p.needsUnpacked(op) }

// needsUnpacked reports whether some device needs its unpacked part for products with op, because the part has no
// form or its form does not multiply with op.
func (p *Plan[V]) needsUnpacked(op Transpose) bool {
	return slices.ContainsFunc(p.shares, func(s *share[V]) bool { return !s.usesPacked(p.lay.byMajor(op)) })
}

// Errors of calls that need a matrix that was released.
var (
	errReleased       = sparse.Inputf("plan", "its matrix was released (PlanOptions.Storage.Release): it can only multiply with the operations that it was packed for")
	errRetuneReleased = sparse.Inputf("plan", "its matrix was released (PlanOptions.Storage.Release): other forms cannot be tried, make a new plan")
	errUpdateReleased = sparse.Inputf("plan", "its matrix was released (PlanOptions.Storage.Release): its values can't be replaced, make a new plan")
)

// repack packs the part again with new values, in its current form.
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
		case s.usesPacked(p.lay.byMajor(op)):
			out[i] = s.packed.Info()
		case s.packed == nil:
			out[i] = s.cooInfo
		}
	}
	return out
}
