package ell

import (
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// Kinds returns what the formats of the ELLPACK family say of themselves. They are built only if they are named.
func Kinds[V sparse.Value]() (out []form.Kind[V]) {
	for _, f := range ellpack.Formats() {
		name := kernels.Form(f)
		out = append(out, form.Kind[V]{
			Name:  name,
			Build: func(r form.Rows[V]) (form.Form[V], error) { return NewEll(name, r) },
			New:   func(r form.Rows[V], _ form.Options[V]) (form.Form[V], error) { return NewEll(name, r) },
			Fixed: f == ellpack.FormatSELL,
			Test:  form.Test[V]{MayRefuse: form.AnyRows[V]},
		})
	}
	return out
}
