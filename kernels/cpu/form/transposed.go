package form

import "github.com/msrep-go/msrep/sparse"

// SlowerTransposedThanCSR reports whether the transposed product of a form is slower than that of its rows in
// CSR, if these are available.
func SlowerTransposedThanCSR[V sparse.Value](f Form[V]) bool {
	switch f.(type) {
	case *csr[V], *ell[V], *ellr[V], *bisected[V], *jad[V], *hyb[V]:
		return true
	}
	return false
}
