package csr

import (
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// Kind returns what csr says of itself. It is no candidate: candidates are compared with it.
func Kind[V sparse.Value]() form.Kind[V] {
	return form.Kind[V]{
		Name:  kernels.FormCSR,
		New:   func(r form.Rows[V], o form.Options[V]) (form.Form[V], error) { return NewCSRAt(r, o.Level), nil },
		Fixed: true,
	}
}
