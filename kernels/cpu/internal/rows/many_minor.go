package rows

import (
	"fmt"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/kernels/cpu/internal/scatter"
	"github.com/msrep-go/msrep/merge"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// MinorProductMany runs kernels.MinorProductMany. It reads the matrix once for each cache line of columns, so that the workers'
// own results are no larger than that.
func MinorProductMany[V sparse.Value](s *memory.Scratch[V], op *kernels.MinorProductMany[V]) (err error) {
	v := memory.NewViews(s.Mem)
	defer v.Close(&err)
	a := viewCompressed(v, op.A)
	x, y := viewBlock(v, "x", op.X, a.part.Majors()), viewBlock(v, "y", op.Y, 0)
	if v.Err == nil && x.Cols != y.Cols {
		v.Err = fmt.Errorf("%w: x has %d columns and y has %d", kernels.ErrArgument, x.Cols, y.Cols)
	}
	if v.Err != nil {
		return v.Err
	}
	parts, err := a.Split(s.Mem.Pool)
	if err != nil {
		return err
	}
	s.Use.Lock()
	defer s.Use.Unlock()
	run := minorMany[V]{a: a, parts: parts, border: scatter.Borders(parts, a.idx, a.part.StartIdx, y.Rows())}
	width := form.VectorsAtOnce[V]()
	if err := run.takeSpill(s, y, width); err != nil {
		return err
	}
	for c := 0; c < y.Cols; c += width {
		n := min(width, y.Cols-c)
		if err := run.columns(s.Mem, op.Alpha, op.Beta, x.Columns(c, n), y.Columns(c, n)); err != nil {
			return err
		}
	}
	return nil
}

// minorMany is a transposed product with several vectors. Each worker adds to its own rows of y, between two
// borders, and to a multi-vector of its own for the other rows. Rows of y that do not fill registers are added to in
// such multi-vectors only.
type minorMany[V sparse.Value] struct {
	a      compressed[V]
	parts  []partition.Part
	border []int
	spill  []form.MultiVector[V] // zero between products; empty if not needed
}

// takeSpill takes memory for the workers' own multi-vectors, with the given number of columns.
func (m *minorMany[V]) takeSpill(s *memory.Scratch[V], y form.MultiVector[V], width int) error {
	n := len(m.parts)
	m.spill = make([]form.MultiVector[V], n)
	if last := y.Cols % width; n == 1 && (last == 0 || last == LineStride[V](last)) {
		return nil
	}
	spill, err := s.VectorsIfRoom(n, y.Rows()*LineStride[V](min(y.Cols, width)))
	for i := range spill {
		m.spill[i].Val = spill[i]
	}
	return err
}

// columns computes the product for the number of vectors that simd.RowsTransposedMany takes.
func (m *minorMany[V]) columns(d *memory.Memory, alpha, beta V, x, y form.MultiVector[V]) error {
	n, rows, width := len(m.parts), y.Rows(), LineStride[V](y.Cols)
	to := make([]manyTarget[V], n)
	err := d.Pool.Run(n, func(i int) {
		first, end := m.border[i], m.border[i+1]
		m.spill[i].Cols, m.spill[i].Stride = width, width
		to[i] = manyTarget[V]{beta: beta, first: first, end: end, places: csr.Places[V]{Rows: rows, Spill: m.spill[i], Marks: make([]byte, rows/csr.MarkedRows+1)}}
		if p := &to[i].places; y.Cols == width {
			p.First, p.Own, p.Y = first, end-first, y.From(first)
		}
		m.rows(m.parts[i], alpha, x, &to[i])
	})
	if err == nil {
		err = d.Pool.Run(n, func(i int) {
			joinMany(to, y, int(par.Cut(int64(rows), n, i)), int(par.Cut(int64(rows), n, i+1)))
		})
	}
	if err != nil {
		for i := range m.spill {
			clear(m.spill[i].Val)
		}
	}
	return err
}

const (
	// manyChunk is the number of entries, and manyChunkRows the number of rows, that one call adds: the rows of x
	// stay in the first cache while alpha*x is prefetchEnd.
	manyChunk     = 1 << 12
	manyChunkRows = 1 << 9
)

// rows adds the products of q.
func (m *minorMany[V]) rows(q partition.Part, alpha V, x form.MultiVector[V], to *manyTarget[V]) {
	a, level := m.a, simd.Default()
	base, end := a.part.StartIdx, q.EndIdx+1
	prefetchEnd, looked := int64(0), q.StartIdx // entries from looked on were not looked at
	r := q.First()
	for k := q.StartIdx; k < end; {
		for a.ptr[r+1] <= k {
			r++
		}
		stop, last := min(k+manyChunk, end), r+1
		ptr := []int64{k, a.ptr[last]}
		if a.ptr[r] >= k {
			for last < q.End() && last-r < manyChunkRows && a.ptr[last] < stop {
				last++
			}
			ptr = a.ptr[r : last+1]
		}
		stop = min(stop, a.ptr[last])
		if k >= looked && to.large() {
			looked, prefetchEnd = min(k+scatter.RunLength, end), 0
			if scatteredRows(a.idx[k-base:looked-base], to.places.Spill.Stride*int(mem.Size[V]())) {
				prefetchEnd = end
			}
		}
		for from := k; k < stop; {
			k = csr.RowsTransposedMany(level, alpha, k, ptr, a.idx[from-base:stop-base], a.val[from-base:stop-base], x.From(r).First(last-r), &to.places, prefetchEnd)
			if k < stop {
				to.scale(int(a.idx[k-base]))
			}
		}
	}
}

// manyTarget is where a worker adds its products.
type manyTarget[V sparse.Value] struct {
	places     csr.Places[V]
	beta       V
	first, end int // the worker's own rows of y, even if it does not add to them
}

const (
	// scatteredSample is the number of entries of a run that are looked at, and scatteredBefore the number before each of
	// them.
	scatteredSample = 8
	scatteredBefore = 256
	// scatteredBytes is the distance in bytes from which two places are far apart.
	scatteredBytes = 1 << 15
)

// scatteredRows reports whether many of the entries go to rows far from those of all entries shortly before, which the
// processor cannot foresee.
func scatteredRows(idx []int32, rowBytes int) bool {
	apart, far := int64(max(scatteredBytes/rowBytes, 1)), 0
	for i := range scatteredSample {
		end := (i + 1) * len(idx) / scatteredSample
		if end == 0 {
			continue
		}
		place := int64(idx[end-1])
		if !slices.ContainsFunc(idx[max(0, end-1-scatteredBefore):end-1], func(c int32) bool {
			return max(place-int64(c), int64(c)-place) <= apart
		}) {
			far++
		}
	}
	return far >= scatteredSample/4
}

// large reports whether y is larger than the caches of a core.
func (t *manyTarget[V]) large() bool {
	return int64(t.places.Rows)*int64(t.places.Spill.Cols)*mem.Size[V]() > 1<<20
}

// scale multiplies the worker's own rows by beta, at least up to row i of y.
func (t *manyTarget[V]) scale(i int) {
	p := &t.places
	to := min(i-p.First+scatter.ScaledAhead/p.Y.Cols+1, p.Own)
	scaleRows(p.Y.From(p.Done), t.beta, to-p.Done)
	p.Done = to
}

// scaleRows multiplies the first n rows of a multi-vector by beta.
func scaleRows[V sparse.Value](y form.MultiVector[V], beta V, n int) {
	if y.Stride == y.Cols {
		merge.Scale(y.Val[:n*y.Cols], beta)
		return
	}
	for i := range n {
		merge.Scale(y.Val[i*y.Stride:][:y.Cols], beta)
	}
}

// joinMany finishes rows from ... to-1 of y: it scales the rows that no worker scaled, adds the workers' own
// multi-vectors, and clears these.
func joinMany[V sparse.Value](targets []manyTarget[V], y form.MultiVector[V], from, to int) {
	for lo := from; lo < to; {
		hi := min((lo/csr.MarkedRows+1)*csr.MarkedRows, to)
		for i := range targets {
			t := &targets[i]
			if a, b := max(lo, t.first+t.places.Done), min(hi, t.end); a < b {
				scaleRows(y.From(a), t.beta, b-a)
			}
		}
		for i := range targets {
			p := &targets[i].places
			if p.Marks[lo/csr.MarkedRows] != 0 {
				addRows(y, p.Spill, lo, min(hi, p.First))
				addRows(y, p.Spill, max(lo, p.First+p.Own), hi)
			}
		}
		lo = hi
	}
}

// addRows adds rows from ... to-1 of a multi-vector to y and clears them.
func addRows[V sparse.Value](y, b form.MultiVector[V], from, to int) {
	for i := from; i < to; i++ {
		row, sum := b.Val[i*b.Stride:][:b.Cols], y.Val[i*y.Stride:][:y.Cols]
		for j, v := range row[:len(sum)] {
			sum[j] += v
		}
		clear(row)
	}
}
