package cpu

import (
	"errors"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/rows"
	"github.com/msrep-go/msrep/sparse"
)

const (
	// orderTrials is how many products are timed with the columns as they are, after one that warms up, and then with
	// ordered columns.
	orderTrials = 2
	// orderLeast is the least number of expected products, and orderPerColumn the least mean number of entries in a
	// column, for a trial. Ordering costs about four products, and each product copies a row of x for each column.
	orderLeast     = 20
	orderPerColumn = 4
	// orderedRowBytes is the size of a row of x above which rows with hot columns first are faster than a form that
	// multiplies a few vectors itself.
	orderedRowBytes = 16
)

// orderTrial finds out by timing whether products with several vectors gain by ordered columns. It times
// multi-vectors with as many columns as the first one that is large enough. An order that pays for these also pays
// for other numbers of vectors.
type orderTrial[V sparse.Value] struct {
	op      *kernels.Packing[V] // what the order is built from; nil when the trial is over
	cols    int                 // vectors
	calls   int                 // number of products so far
	plain   time.Duration       // least time of a product
	ordered time.Duration       // least time of a product with ordered columns
	won     bool                // ordered columns were faster
	columns *orderedColumns[V]  // nil before they are built and after they lost
	known   bool                // hot is set
	hot     bool                // most entries lie in hot columns
}

// startTrial begins the trial of a part if enough products are expected.
func (p *packed[V]) startTrial(op *kernels.Packing[V]) {
	often := op.Products == 0 || op.Products >= orderLeast
	if often && p.part.NNZ() >= orderPerColumn*int64(op.Minors) {
		kept := *op
		kept.Previous, kept.Stop = nil, nil
		p.trial.op = &kept
		if old, ok := op.Previous.(*packed[V]); ok {
			p.trial.follow(&old.trial)
		}
	}
}

// follow takes over the result of a trial of the same rows with other values. The trial does not begin if unordered
// columns were faster, and goes on with ordering them otherwise.
func (t *orderTrial[V]) follow(old *orderTrial[V]) {
	t.known, t.hot = old.known, old.hot
	switch over := old.op == nil && old.cols != 0; {
	case over && old.won:
		t.cols, t.plain, t.calls = old.cols, old.plain, 1+orderTrials
	case over:
		t.op, t.cols = nil, old.cols
	}
}

// gainsByOrder reports whether the rows with hot columns first multiply x faster than forms that are faster than the
// rows as they are. Its answer is the same before the order exists, and if it never does, so that results do not
// change.
func (p *packed[V]) gainsByOrder(x form.MultiVector[V]) (_ bool, err error) {
	t := &p.trial
	if x.Cols*int(mem.Size[V]()) <= orderedRowBytes || !large(x) {
		return false, nil
	}
	if !t.known && t.op != nil {
		var order []int32
		order, err = p.hottestColumns(t.op, rows.LineStride[V](x.Cols))
		t.hot = order != nil
	} else if !t.known {
		t.hot = t.orders()
	}
	t.known = err == nil
	return t.hot, err
}

// orders reports whether the columns have a new order.
func (t *orderTrial[V]) orders() bool { return t.columns != nil && t.columns.order != nil }

// large reports whether a multi-vector is too large for the last cache, where the order of its rows matters little.
func large[V sparse.Value](x form.MultiVector[V]) bool {
	return int64(len(x.Val))*mem.Size[V]() >= 2*int64(hotBytes)
}

// multiplyRows multiplies several vectors by the rows, unordered or with ordered columns, whichever was faster.
func (p *packed[V]) multiplyRows(alpha, beta V, x, y form.MultiVector[V], carry []V) error {
	t := &p.trial
	if err := p.advanceTrial(x); err != nil {
		return err
	}
	rows, timed, least := p.rows, x.Cols == t.cols, &t.plain
	var begin time.Time
	if timed { // small products save the time of reading the clock
		begin = time.Now()
	}
	if t.columns != nil && (timed || t.op == nil && t.orders() && large(x)) {
		ordered, err := t.columns.copyOrdered(p.dev, x)
		switch {
		case err == nil:
			rows, x, least = t.columns.rows, ordered, &t.ordered
		case errors.Is(err, kernels.ErrOutOfMemory):
			if err := t.free(); err != nil {
				return err
			}
			t.op = nil
		default:
			return err
		}
	}
	if err := rows.Multiply(p.dev, alpha, beta, x, y, carry); err != nil {
		return err
	}
	if timed {
		if took := time.Since(begin); *least == 0 || took < *least {
			*least = took
		}
	}
	return nil
}

// advanceTrial advances the trial by a product. It orders the columns once products with unordered columns were timed, and
// drops the order once products with it were timed and were slower.
func (p *packed[V]) advanceTrial(x form.MultiVector[V]) (err error) {
	t := &p.trial
	if t.op == nil || !large(x) || t.cols != 0 && t.cols != x.Cols {
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
	return slices.Concat(t.columns.mem, t.columns.lines.buffers())
}

// free releases the ordered columns.
func (t *orderTrial[V]) free() error {
	if t.columns == nil {
		return nil
	}
	err := t.columns.free()
	t.columns = nil
	return err
}
