package cpu

import (
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

const (
	// orderTrials is how many products are timed with the columns as they are, after one
	// that warms up, and then ordered.
	orderTrials = 2
	// orderLeast is how many products must be expected for a trial, and orderPerColumn how
	// many entries a column must have on average: ordering costs about four products, and
	// each column the copy of a row of x in all of them.
	orderLeast     = 20
	orderPerColumn = 4
)

// orderTrial finds out by time whether products with several vectors gain by ordered
// columns. It looks at blocks of as many vectors as the first that is large enough.
type orderTrial[V sparse.Value] struct {
	op      *kernels.Packing[V] // what to build from; nil when the trial is over
	cols    int                 // vectors
	calls   int                 // products so far
	plain   time.Duration       // the least time of one
	ordered time.Duration       // the same with columns ordered
	won     bool                // and that was faster
	columns *orderedColumns[V]  // nil before they are built and when they have lost
}

// startTrial begins the trial of a part that was packed for so many products.
func (p *packed[V]) startTrial(op *kernels.Packing[V]) {
	often := op.Products == 0 || op.Products >= orderLeast
	if often && p.part.NNZ() >= orderPerColumn*int64(op.Minors) {
		kept := *op
		kept.After = nil
		p.trial.op = &kept
		if old, ok := op.After.(*packed[V]); ok {
			p.trial.follow(&old.trial)
		}
	}
}

// follow takes over what a trial of the same rows with other values has found: it does not
// begin where columns as they are were faster, and else goes on with ordering them.
func (t *orderTrial[V]) follow(old *orderTrial[V]) {
	switch over := old.op == nil && old.cols != 0; {
	case over && old.won:
		t.cols, t.plain, t.calls = old.cols, old.plain, 1+orderTrials
	case over:
		t.op, t.cols = nil, old.cols
	}
}

// multiplyRows multiplies several vectors by the rows: as they are, or with columns
// ordered, whichever was faster.
func (p *packed[V]) multiplyRows(alpha, beta V, x, y simd.Block[V], carry []V) error {
	t := &p.trial
	if err := p.goOn(x); err != nil {
		return err
	}
	begin, rows, least := time.Now(), p.rows, &t.plain
	if t.columns != nil && x.Cols == t.cols {
		if err := t.columns.copyOrdered(p.dev, x); err != nil {
			return err
		}
		rows, x, least = t.columns.rows, t.columns.x, &t.ordered
	}
	if err := rows.multiply(p.dev, alpha, beta, x, y, carry); err != nil {
		return err
	}
	if took := time.Since(begin); *least == 0 || took < *least {
		*least = took
	}
	return nil
}

// goOn takes the trial a product further: it orders the columns when products without
// were timed, and goes back when products with them were, and were slower.
func (p *packed[V]) goOn(x simd.Block[V]) (err error) {
	t := &p.trial
	large := int64(len(x.Val))*mem.Size[V]() >= 2*int64(hotBytes)
	if t.op == nil || !large || t.cols != 0 && t.cols != x.Cols {
		return nil
	}
	t.cols = x.Cols
	switch t.calls++; t.calls {
	case 2:
		t.plain = 0
	case 2 + orderTrials:
		if t.columns, err = orderColumns(p, t.op, x); t.columns == nil {
			t.op = nil
		}
	case 2 + 2*orderTrials:
		t.op = nil
		if t.won = t.ordered < t.plain; !t.won {
			err = t.free()
		}
	}
	return err
}

func (t *orderTrial[V]) buffers() []kernels.Buffer {
	if t.columns == nil {
		return nil
	}
	return t.columns.mem
}

// free lets go of the ordered columns.
func (t *orderTrial[V]) free() error {
	if t.columns == nil {
		return nil
	}
	err := t.columns.free()
	t.columns = nil
	return err
}
