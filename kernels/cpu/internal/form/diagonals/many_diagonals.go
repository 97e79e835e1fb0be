package diagonals

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// Strips is an order of the rows of a stencil of planes of Plane rows: the first Strip rows of each
// plane, plane after plane, then the next Strip rows of each plane, and so on (Rivera and Tseng,
// Tiling optimizations for 3D scientific computations, SC 2000). What a row reads of x was then
// read shortly before, by rows of the same plane and of the plane before it.
type Strips struct{ Plane, Strip int }

// MultiplyDiagonalsMany is MultiplyDiagonals for y.Cols vectors at once, the columns of x and y. y
// has exactly the rows of d. The result does not depend on the order of the rows.
func MultiplyDiagonalsMany[V sparse.Value](l simd.Level, d *Diagonals[V], order Strips, alpha, beta V, x, y form.MultiVector[V], e *form.Expansion[V]) {
	rows := y.Rows()
	if rows == 0 {
		return
	}
	m := manyDiagonals[V]{l: l, d: d, alpha: alpha, beta: beta, x: x, y: y, values: e, few: FewDiagonals(l, d, x, y)}
	m.most = len(form.Successive) / d.Values.Lanes
	if y.Panels(l) > 1 {
		m.most = form.ExpandedColumns / d.Values.Lanes
	}
	m.stream = beta == 0 && (y.Streams(l) || m.few && fewStream(y))
	if m.stream {
		defer form.Fence(l)
	}
	planes := m.places(order.Plane, rows)
	for from := 0; from < order.Plane; from += order.Strip {
		for i := range planes {
			m.multiply(&planes[i], min(i*order.Plane+min(from+order.Strip, order.Plane), rows))
		}
	}
}

// manyDiagonals is the state of a product of diagonals with several vectors.
type manyDiagonals[V sparse.Value] struct {
	l           simd.Level
	d           *Diagonals[V]
	alpha, beta V
	x, y        form.MultiVector[V]
	values      *form.Expansion[V]
	most        int // most slices of a call
	few, stream bool
}

// multiply computes the slices that begin at or after place at and before row end, and advances at.
func (m *manyDiagonals[V]) multiply(at *diagonalPlace, end int) {
	d, lanes, rows := m.d, m.d.Values.Lanes, m.y.Rows()
	for at.row < end {
		run := &d.Runs[at.run]
		count := min(at.slices(run, lanes, end), m.most)
		if run.Width > 0 && d.Values.Storage != form.Full && d.Values.Storage != form.Same {
			count = min(count, max(1, form.ExpandedColumns/run.Width))
		}
		d.args.widths = [2]uint32{uint32(run.Width), 0}
		if run.Masked {
			d.args.widths = [2]uint32{0, uint32(run.Width)}
		}
		columns := count * run.Width
		shape := form.ManyShape[V]{
			N: count, Widths: d.args.widths[:], Lanes: lanes, Order: form.Successive[:min(count*lanes, rows-at.row)],
			Diagonal: true, Offsets: d.Offsets[run.Pattern : run.Pattern+run.Width], Row: at.row, Args: &d.args.many,
		}
		if run.Masked {
			shape.Masks = d.Masks[at.mask : at.mask+columns]
		}
		if d.Values.Storage == form.Same {
			shape.Constants = d.Values.Table[run.Pattern : run.Pattern+run.Width]
		} else {
			shape.Val = m.values.Full(m.l, &d.Values, at.column, columns, 0)
		}
		if m.few && len(shape.Order) == count*lanes {
			fewAssembly(d, &shape, m.alpha, m.beta, m.x, m.y.From(at.row), m.stream)
		} else {
			shape.Multiply(m.l, m.alpha, m.beta, m.x, m.y.From(at.row), m.stream && !m.few)
		}
		at.advance(run, count, lanes)
	}
}

// places returns the places at which the planes begin.
func (m *manyDiagonals[V]) places(plane, rows int) []diagonalPlace {
	places := make([]diagonalPlace, 0, (rows+plane-1)/plane)
	var at diagonalPlace
	lanes := m.d.Values.Lanes
	for first := 0; first < rows; first += plane {
		for at.row < first {
			run := &m.d.Runs[at.run]
			at.advance(run, at.slices(run, lanes, first), lanes)
		}
		places = append(places, at)
	}
	return places
}

// diagonalPlace is a position between two slices of Diagonals.
type diagonalPlace struct {
	run, slice        int // the run of the next slice, and the number of the slice in it
	row, column, mask int // its first row, column and mask
}

// slices returns the number of next slices that are in run and begin before row end.
func (p *diagonalPlace) slices(run *DiagonalRun, lanes, end int) int {
	return min(run.Slices-p.slice, (end-p.row+lanes-1)/lanes)
}

// advance moves the place past the next n slices, which are in run.
func (p *diagonalPlace) advance(run *DiagonalRun, n, lanes int) {
	p.slice, p.row, p.column = p.slice+n, p.row+n*lanes, p.column+n*run.Width
	if run.Masked {
		p.mask += n * run.Width
	}
	if p.slice == run.Slices {
		p.run, p.slice = p.run+1, 0
	}
}
