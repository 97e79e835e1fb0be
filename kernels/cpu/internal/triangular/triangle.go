// Package triangular solves systems with a sparse triangular matrix on a CPU device by substitution.
//
// The rows are solved in order, forwards for a lower triangle and backwards for an upper one. The place of a row is its
// number in this order. Each row is divided by its diagonal element when it is stored:
//
//	x[r] = scale[r]*b[r] + sum of val[k]*x[idx[k]]      scale[r] = 1/t[r][r], val[k] = -t[r][idx[k]]/t[r][r]
//
// so that only one multiply-add lies between two rows that depend on each other. If a quotient overflows or loses
// digits, no row is scaled; see divided.
//
// A row is stored in one of five kinds, whichever is estimated to be faster; a segment is successive rows of one kind:
//
//	bare     no entries beside the diagonal
//	single   one column and one value per entry
//	runs     8 or 4 successive columns have one column number; the rest are single entries
//	listed   as single, after the number of the row: rows in any order
//	blocks   8 successive rows; each column that one of them has is stored once, with a mask of the rows
//
// The order of additions in a row depends on the matrix and the instruction set only.
//
// Large triangles are cut into phases, ranges of rows. The far entries of a phase are those in columns of the phases
// before the previous one. While the first worker solves the other entries of a phase, which depend on each other, the
// others add the far entries of the next one (pipeline.go).
//
// Triangles with short rows that mostly depend on the row before, such as those of grids, are stored level by level instead
// if the vectors stay in the caches. A level is the rows that depend on rows of earlier levels only. Its rows need not wait for each other, and the
// workers share those of long levels (levels.go).
package triangular

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/sparse"
)

// The forms of a triangle.
const (
	formRows  kernels.Form = "rows"  // all entries of a row at once
	formAhead kernels.Form = "ahead" // far entries of a phase are added ahead of the others
	formLevel kernels.Form = "levels"
)

// Triangle is a triangular matrix that is stored for solves. It is a kernels.PackedTriangle.
type Triangle[V sparse.Value] struct {
	dev    *memory.Memory
	level  simd.Level
	size   sizeOfPhases
	n      int
	upper  bool
	unit   bool
	phases []phase
	order  []int32      // the row at each place, if the triangle is stored by levels; nil otherwise
	state  []phaseState // of phases, during a solve
	ready  atomic.Int64 // number of phases that are solved
	store  store[V]
	exact  *divided[V] // if not nil, the store is empty
	info   kernels.PackInfo

	use   sync.Mutex // held by a solve, by Update and by Free
	freed bool
}

// phase is the rows from the place first on, up to the next phase. far is cut into pieces that workers add independently
// of each other; nil if no entries are far. In a triangle that is stored by levels a phase is a level, in far, or several
// short ones, in near.
type phase struct {
	first int
	far   [][]segment
	near  []segment
}

// segment is successive rows of one kind. first is the place of the first row; the other numbers are the index of its
// first element in the arrays of a store.
type segment struct {
	kind               kind
	first, rows        int
	scale, count, mask int64
	idx, val           int64
}

// kind says how rows are stored.
type kind uint8

const (
	bare kind = iota
	single
	runs
	listed
	blocks
	kinds // number of kinds
)

// store has the arrays of all segments, one after the other. buffers is their memory. Rows are in the order of their places,
// except in scale those of bare segments and of a group of 8 rows of blocks, which are in the order of their numbers.
type store[V sparse.Value] struct {
	scale []V
	// count has one element for each row of single and of listed: the number of entries; three for each row of runs: the numbers of
	// runs of 8, of runs of 4 and of single entries; and two for each 8 rows of blocks: the numbers of columns that all
	// rows have and of the others.
	count []uint32
	// mask has 8 elements for each 8 rows of blocks, the rows that have each of their own columns, and one for each
	// column that not all rows have. Bit i is for row i of the 8, in the order of their numbers.
	mask []uint8
	idx  []int32 // columns; the first one of a run; before those of a listed row the number of the row
	// val has, for each 8 rows of blocks, 8 values for each column that all have; 8 for each of their own columns; the
	// values of the other columns; and padding to a multiple of 8.
	val     []V
	buffers []kernels.Buffer
}

// New stores a triangle. The error wraps kernels.ErrOutOfMemory if there is too little memory.
func New[V sparse.Value](dev *memory.Memory, op *kernels.TrianglePacking[V]) (*Triangle[V], error) {
	return newAt(dev, op, simd.Default(), standard)
}

// newAt is New for an instruction set, and with other phases.
func newAt[V sparse.Value](dev *memory.Memory, op *kernels.TrianglePacking[V], level simd.Level, size sizeOfPhases) (*Triangle[V], error) {
	if err := op.Check(); err != nil {
		return nil, err
	}
	begin := time.Now()
	t := &Triangle[V]{dev: dev, level: level, size: size, n: op.Rows(), upper: op.Upper, unit: op.Diag == nil}
	if err := t.build(op); err != nil {
		return nil, errors.Join(err, t.drop())
	}
	t.info.Took = time.Since(begin)
	return t, nil
}

// build chooses the kinds of the rows, allocates their memory and fills it.
func (t *Triangle[V]) build(op *kernels.TrianglePacking[V]) error {
	p := newPlan(t, op)
	if err := p.cut(); err != nil {
		return err
	}
	if err := t.store.allocate(t.dev, p.need); err != nil {
		return err
	}
	t.phases, t.state = p.phases, make([]phaseState, len(p.phases))
	t.info = kernels.PackInfo{Form: formRows, Why: p.why(), Bytes: t.store.bytes()}
	switch {
	case t.order != nil:
		t.info.Form = formLevel
	case len(t.phases) > 1:
		t.info.Form = formAhead
	}
	return t.fill(op)
}

// fill stores the values of op, whose pattern is that of the triangle, in the way that suits them.
func (t *Triangle[V]) fill(op *kernels.TrianglePacking[V]) error {
	f := &filler[V]{Triangle: t, op: op}
	scaled, err := f.all()
	if err == nil && !scaled {
		return t.divide(op)
	}
	return err
}

// Update implements kernels.PackedTriangle.
func (t *Triangle[V]) Update(operation kernels.Operation) error {
	op, ok := operation.(*kernels.TrianglePacking[V])
	if !ok {
		return fmt.Errorf("%w: values of another type", kernels.ErrArgument)
	}
	if err := op.Check(); err != nil {
		return err
	}
	t.use.Lock()
	defer t.use.Unlock()
	switch {
	case t.freed:
		return errFreed
	case op.Rows() != t.n || op.Upper != t.upper || (op.Diag == nil) != t.unit:
		return fmt.Errorf("%w: another triangle", kernels.ErrArgument)
	case t.exact != nil:
		if err := t.drop(); err != nil {
			return err
		}
		err := t.build(op)
		t.freed = err != nil
		return err
	}
	err := t.fill(op)
	if err != nil && t.phases == nil { // divide failed
		t.freed = true
	}
	return err
}

var errFreed = fmt.Errorf("%w: the triangle was freed", kernels.ErrClosed)

// Info describes the triangle.
func (t *Triangle[V]) Info() kernels.PackInfo { return t.info }

// Buffers returns the memory of the triangle.
func (t *Triangle[V]) Buffers() []kernels.Buffer {
	t.use.Lock()
	defer t.use.Unlock()
	return t.store.buffers
}

// Free frees the memory, after the solve that is running.
func (t *Triangle[V]) Free() error {
	t.use.Lock()
	defer t.use.Unlock()
	t.freed = true
	return t.drop()
}

// drop frees the memory.
func (t *Triangle[V]) drop() error {
	t.phases, t.order, t.exact = nil, nil, nil
	return t.store.free()
}

// row returns the number of the row at a place. It also returns the place of a row.
func (t *Triangle[V]) row(place int) int {
	if t.upper {
		return t.n - 1 - place
	}
	return place
}

// sizes is numbers of elements of a store.
type sizes struct{ scale, count, mask, idx, val int64 }

func (s *sizes) add(o sizes) {
	s.scale += o.scale
	s.count += o.count
	s.mask += o.mask
	s.idx += o.idx
	s.val += o.val
}

// allocate allocates the arrays.
func (s *store[V]) allocate(dev *memory.Memory, need sizes) (err error) {
	s.scale, err = take[V](s, dev, need.scale)
	if err == nil {
		s.count, err = take[uint32](s, dev, need.count)
	}
	if err == nil {
		s.mask, err = take[uint8](s, dev, need.mask)
	}
	if err == nil {
		s.idx, err = take[int32](s, dev, need.idx)
	}
	if err == nil {
		s.val, err = take[V](s, dev, need.val)
	}
	return err
}

// take allocates an array of a store.
func take[T mem.Elem, V sparse.Value](s *store[V], dev *memory.Memory, n int64) ([]T, error) {
	if n == 0 {
		return nil, nil
	}
	b, err := dev.Alloc(n * mem.Size[T]())
	if err != nil {
		return nil, err
	}
	s.buffers = append(s.buffers, b)
	return kernels.View(dev, kernels.Array[T]{Buf: b, Len: n})
}

func (s *store[V]) bytes() (sum int64) {
	for _, b := range s.buffers {
		sum += b.Bytes()
	}
	return sum
}

// free frees the arrays.
func (s *store[V]) free() error {
	var errs []error
	for _, b := range s.buffers {
		errs = append(errs, b.Free())
	}
	*s = store[V]{}
	return errors.Join(errs...)
}

// taken returns a copy of a in a store. It does nothing after an error.
func taken[T mem.Elem, V sparse.Value](s *store[V], dev *memory.Memory, a []T, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	out, err := take[T](s, dev, int64(len(a)))
	copy(out, a)
	return out, err
}
