package devicetest

import (
	"math"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// Open opens a device and a stream for one part of a product.
type Open func(t require.TestingT) (kernels.Device, kernels.Stream)

// Problem is a product and its parts, one for each device.
type Problem[V sparse.Value] struct {
	A           *sparse.CSR[V]
	X, Y        []V
	Alpha, Beta V
	Parts       []partition.Part
	Global      bool // the pointers are those of the whole matrix
}

// memory holds the arrays allocated on the devices.
type memory struct{ arrays []interface{ Free() error } }

func (m *memory) free(t require.TestingT) {
	for _, a := range m.arrays {
		require.NoError(t, a.Free())
	}
}

// Upload copies a slice to a device.
func Upload[T mem.Elem](t require.TestingT, s kernels.Stream, d kernels.Device, v []T) kernels.Array[T] {
	a, err := kernels.NewArray[T](d, int64(len(v)))
	require.NoError(t, err)
	require.NoError(t, a.Write(s, v))
	return a
}

// Download waits for the stream and reads an array.
func Download[T mem.Elem](t require.TestingT, s kernels.Stream, a kernels.Array[T]) []T {
	v := make([]T, a.Len)
	require.NoError(t, a.Read(s, v))
	require.NoError(t, s.Sync())
	return v
}

func up[T mem.Elem](t require.TestingT, m *memory, s kernels.Stream, d kernels.Device, v []T) kernels.Array[T] {
	a := Upload(t, s, d, v)
	m.arrays = append(m.arrays, a)
	return a
}

// compressed returns part p of the matrix on a device.
func (q *Problem[V]) compressed(t require.TestingT, m *memory, s kernels.Stream, d kernels.Device, p partition.Part) kernels.Compressed[V] {
	ptr, entries := q.A.RowPtr[p.First():p.End()+1], int64(0)
	if !q.Global {
		local := make([]int64, len(ptr))
		require.NoError(t, partition.LocalPtr(local, q.A.RowPtr, p))
		ptr, entries = local, p.StartIdx
	}
	return kernels.Compressed[V]{
		Part: p.Shift(p.First(), entries), Ptr: up(t, m, s, d, ptr),
		Idx: up(t, m, s, d, q.A.ColIdx[p.StartIdx:p.EndIdx+1]), Val: up(t, m, s, d, q.A.Val[p.StartIdx:p.EndIdx+1]),
	}
}

func (q *Problem[V]) coordinate(t require.TestingT, m *memory, s kernels.Stream, d kernels.Device, p partition.Part) kernels.Coordinate[V] {
	a := sparse.ToCOO[V](q.A)
	return kernels.Coordinate[V]{
		Part: p.Shift(0, p.StartIdx), Major: up(t, m, s, d, a.RowIdx[p.StartIdx:p.EndIdx+1]),
		Minor: up(t, m, s, d, a.ColIdx[p.StartIdx:p.EndIdx+1]), Val: up(t, m, s, d, a.Val[p.StartIdx:p.EndIdx+1]),
	}
}

// Packing returns part p of the matrix for a device to pack.
func (q *Problem[V]) Packing(p partition.Part, form kernels.Form) *kernels.Packing[V] {
	return &kernels.Packing[V]{
		Part: p.Shift(p.First(), 0), Ptr: q.A.RowPtr[p.First() : p.End()+1],
		Idx: q.A.ColIdx[p.StartIdx : p.EndIdx+1], Val: q.A.Val[p.StartIdx : p.EndIdx+1], Minors: q.A.Cols, Form: form, InPlace: true,
	}
}

// These are ways to multiply other than the forms in which a device packs parts.
const (
	Plain           kernels.Form = "plain"             // kernels.MajorProduct
	COO             kernels.Form = "coo"               // kernels.MajorProductCOO
	Fixed           kernels.Form = "fixed"             // kernels.MajorProductFixed, of parts with whole rows
	MinorProduct    kernels.Form = "scatter"           // kernels.MinorProduct
	MinorProductCOO kernels.Form = "minor-product-coo" // kernels.MinorProductCOO
)

// RowForms returns the forms other than CSR that GPUs pack and multiply with one thread or
// one warp for each row.
func RowForms() []kernels.Form {
	forms := []kernels.Form{kernels.FormSlices, kernels.FormTiles, kernels.FormCSRScalar, kernels.FormCSRVector}
	for _, f := range ellpack.Formats() {
		forms = append(forms, kernels.Form(f))
	}
	return forms
}

// MajorProduct computes alpha*A*x + beta*y, part by part.
func (q *Problem[V]) MajorProduct(t require.TestingT, open Open, way kernels.Form) []V {
	y := append([]V(nil), q.Y...)
	carries := make([]V, len(q.Parts))
	for i, p := range q.Parts {
		d, s := open(t)
		m := &memory{}
		x, own := up(t, m, s, d, q.X), up(t, m, s, d, q.Y[p.OwnFirst:p.OwnEnd])
		carry := up(t, m, s, d, []V{V(math.NaN())})
		switch way {
		case Plain:
			require.NoError(t, s.Launch(&kernels.MajorProduct[V]{A: q.compressed(t, m, s, d, p), Alpha: q.Alpha, Beta: q.Beta, X: x, Y: own, Carry: carry}))
		case COO:
			require.NoError(t, s.Launch(&kernels.MajorProductCOO[V]{A: q.coordinate(t, m, s, d, p), Alpha: q.Alpha, Beta: q.Beta, X: x, Y: own, Carry: carry}))
		case Fixed:
			require.NoError(t, s.Launch(&kernels.MajorProductFixed[V]{A: q.compressed(t, m, s, d, p), Alpha: q.Alpha, Beta: q.Beta, X: x, Y: own}))
		default:
			a, err := d.(kernels.Packer).Pack(q.Packing(p, way))
			require.NoError(t, err)
			m.arrays = append(m.arrays, a)
			require.NoError(t, s.Launch(&kernels.MajorProductPacked[V]{A: a, Alpha: q.Alpha, Beta: q.Beta, X: x, Y: own, Carry: carry}))
		}
		copy(y[p.OwnFirst:p.OwnEnd], Download(t, s, own))
		carries[i] = Download(t, s, carry)[0]
		m.free(t)
	}
	for i, p := range q.Parts {
		if p.StartFlag {
			y[p.StartMajor] += carries[i]
		}
	}
	return y
}

// MinorProduct computes alpha*A'*x + beta*y: beta in the first part.
func (q *Problem[V]) MinorProduct(t require.TestingT, open Open, coo bool) []V {
	y := q.Y
	beta := q.Beta
	for _, p := range q.Parts {
		d, s := open(t)
		m := &memory{}
		out := up(t, m, s, d, y)
		if coo {
			require.NoError(t, s.Launch(&kernels.MinorProductCOO[V]{A: q.coordinate(t, m, s, d, p), Alpha: q.Alpha, Beta: beta, X: up(t, m, s, d, q.X), Y: out}))
		} else {
			x := up(t, m, s, d, q.X[p.First():p.End()])
			require.NoError(t, s.Launch(&kernels.MinorProduct[V]{A: q.compressed(t, m, s, d, p), Alpha: q.Alpha, Beta: beta, X: x, Y: out}))
		}
		y, beta = Download(t, s, out), 1
		m.free(t)
	}
	return y
}
