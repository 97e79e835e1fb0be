package msrep

import (
	"cmp"
	"slices"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// FormatAuto lets each device choose the form of its part.
const FormatAuto sparse.Format = "auto"

// Forms returns the names that Storage.Form accepts on devices of a kind (kernels.Info.Kind): "cpu", "cuda", or "sim",
// which has the forms of "cuda". With "" it returns the forms of all kinds.
func Forms(kind string) []Form {
	gpu := append([]Form{kernels.FormSlices, kernels.FormTiles}, ellForms()...)
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
			if o.Expected.Products != 1 || s.Choice != "" || o.Reorder {
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

// fillDeterministic sets the options that Deterministic implies, and refuses options that contradict it.
func (o *PlanOptions) fillDeterministic() error {
	switch {
	case o.Variant.Strategy != Optimized:
		return sparse.Inputf("strategy", "%s sums in an order of its own: with deterministic use %s", o.Variant.Strategy, Optimized)
	case o.Storage.Format == sparse.FormatCSC || o.Storage.Format == sparse.FormatCOO:
		return sparse.Inputf("format", "%q sums in an order of its own: with deterministic use auto, csr, or a form that takes entries in their order", string(o.Storage.Format))
	case o.Variant.Split != partition.RuleAuto && o.Variant.Split != partition.RuleWhole:
		return sparse.Inputf("split", "%q cuts rows or balances badly: with deterministic use %s or %s", string(o.Variant.Split), partition.RuleAuto, partition.RuleWhole)
	case o.Storage.Segments != kernels.Segments{}:
		return sparse.Inputf("precision", "%d of %d segments: with deterministic all segments of a value are read", o.Storage.Segments.Read, o.Storage.Segments.Count)
	case o.Variant.Library == LibraryCuSPARSE:
		return sparse.Inputf("kernel", "cusparse sums in an order of its own: with deterministic use auto or own")
	}
	switch {
	case o.Storage.Form != "":
		o.form = o.Storage.Form
	case o.Storage.Format == sparse.FormatCSR:
		o.form = ""
	default:
		o.form = kernels.FormAuto
	}
	o.Storage.Format, o.Variant.Split = sparse.FormatCSR, partition.RuleWhole
	return nil
}
