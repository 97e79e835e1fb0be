package formtest

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/diagonals"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/tiles"
	"github.com/msrep-go/msrep/sparse"
)

// WithStreams calls f while all forms that are built write y past the caches.
func WithStreams(f func()) {
	old := form.Beyond
	form.Beyond = func(int64) bool { return true }
	defer func() { form.Beyond = old }()
	f()
}

// WithGroups calls f while transposed products of tiles have small groups.
func WithGroups(f func()) {
	defer func(bytes int64) { tiles.GroupCache = bytes }(tiles.GroupCache)
	tiles.GroupCache = 0
	f()
}

// WithStrips calls f while strips of stencils read at most that many bytes of x.
func WithStrips(bytes int, f func()) {
	defer func(old int) { diagonals.StripBytes = old }(diagonals.StripBytes)
	diagonals.StripBytes = bytes
	f()
}

// BuildFar calls build. If far is true, the kernels of the form prefetch entries however few they are.
func BuildFar[V sparse.Value](far bool, build func() (form.Form[V], error)) (form.Form[V], error) {
	if far {
		defer func(old int64) { form.NearBytes = old }(form.NearBytes)
		form.NearBytes = -1
	}
	return build()
}
