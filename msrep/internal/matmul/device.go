package matmul

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/saturate"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// DevicePart computes consecutive rows of C = A B on a device of a System whose devices do not all use host memory. Until
// Close, a device with its own memory stores these rows of A, the rows of B from the first to the last that they need, and
// the rows of C: all of them if they fit, else some at a time. Its methods must not be called concurrently.
type DevicePart[V sparse.Value] struct {
	dev      kernels.Device
	stream   kernels.Stream
	buffers  []kernels.Buffer
	lo, hi   int          // rows of A and C
	products []int64      // multiplications for each of these rows
	count    []int32      // entries of each of these rows of C
	host     *hostRows[V] // on a CPU device; of the fields below it uses only at, atB, filled, failed and closed

	of         kernels.SpGEMMFactors
	at, atB    span // entries of A and B on the device
	valA, valB kernels.Array[V]
	factors    int // how many of the buffers belong to A and B

	capacity int64 // largest number of entries of C on the device at a time
	rows     kernels.SpGEMMRows
	ptr      kernels.Array[int64]
	idx      kernels.Array[int32]
	val      kernels.Array[V]
	placed   bool  // rows, ptr, idx and val are on the device
	filled   bool  // the caller has the columns
	failed   error // error of the device; values and results are then undefined
	closed   bool
}

// span is the range [lo, hi) of the entries of a matrix.
type span struct{ lo, hi int64 }

// NewDevicePart copies rows lo to hi-1 of A and the rows of B that they need to a device, and counts the entries of these
// rows of C. A and B must be valid, with matching shapes. Their arrays must not change before Close, because a CPU device
// uses them in place. If NewDevicePart fails, it frees the memory of the device.
func NewDevicePart[V sparse.Value](ctx context.Context, dev kernels.Device, a, b *sparse.CSR[V], lo, hi int) (_ *DevicePart[V], err error) {
	p := &DevicePart[V]{dev: dev, lo: lo, hi: hi, count: make([]int32, hi-lo), products: products(a, b, lo, hi)}
	if p.empty() {
		return p, nil
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if w, ok := dev.(kernels.Workers); ok {
		if p.host, err = newHostRows(w, a, b, lo, hi); err != nil {
			return nil, err
		}
		p.at, p.atB = span{a.RowPtr[lo], a.RowPtr[hi]}, span{0, b.NNZ()}
		for r := range p.count {
			p.count[r] = int32(p.host.pattern.RowPtr[r+1] - p.host.pattern.RowPtr[r])
		}
		return p, ctx.Err()
	}
	if p.stream, err = dev.NewStream(); err != nil {
		return nil, err
	}
	if err := p.upload(a, b); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := p.countRows(); err != nil {
		return nil, err
	}
	return p, ctx.Err()
}

// empty reports whether the rows of C have no entries. The device then has no memory.
func (p *DevicePart[V]) empty() bool {
	return !slices.ContainsFunc(p.products, func(n int64) bool { return n > 0 })
}

// products returns the number of multiplications for each of the rows lo to hi-1 of A B.
func products[V sparse.Value](a, b *sparse.CSR[V], lo, hi int) []int64 {
	n := make([]int64, hi-lo)
	for r := lo; r < hi; r++ {
		for _, c := range a.ColIdx[a.RowPtr[r]:a.RowPtr[r+1]] {
			n[r-lo] = saturate.Add(n[r-lo], b.RowPtr[c+1]-b.RowPtr[c])
		}
	}
	return n
}

// upload copies the factors to the device.
func (p *DevicePart[V]) upload(a, b *sparse.CSR[V]) (err error) {
	p.at = span{a.RowPtr[p.lo], a.RowPtr[p.hi]}
	cols := a.ColIdx[p.at.lo:p.at.hi]
	rowB, endB := int(slices.Min(cols)), int(slices.Max(cols))+1
	p.atB = span{b.RowPtr[rowB], b.RowPtr[endB]}
	p.of = kernels.SpGEMMFactors{RowB: int64(rowB), Cols: int64(b.Cols)}
	p.of.A.First, p.of.B.First = p.at.lo, p.atB.lo
	if p.of.A.Ptr, err = put(p, a.RowPtr[p.lo:p.hi+1]); err != nil {
		return err
	}
	if p.of.A.Idx, err = put(p, cols); err != nil {
		return err
	}
	if p.valA, err = put(p, a.Val[p.at.lo:p.at.hi]); err != nil {
		return err
	}
	if p.of.B.Ptr, err = put(p, b.RowPtr[rowB:endB+1]); err != nil {
		return err
	}
	if p.of.B.Idx, err = put(p, b.ColIdx[p.atB.lo:p.atB.hi]); err != nil {
		return err
	}
	if p.valB, err = put(p, b.Val[p.atB.lo:p.atB.hi]); err != nil {
		return err
	}
	p.factors = len(p.buffers)
	return p.stream.Sync()
}

// countRows computes p.count.
func (p *DevicePart[V]) countRows() (err error) {
	defer func() { err = errors.Join(err, p.free(p.factors)) }() // the lists and the counts
	op := &kernels.SpGEMMCount{Of: p.of}
	if op.Rows, err = p.lists(kernels.SpGEMMCountRows(p.products, p.of.Cols)); err != nil {
		return err
	}
	if op.Count, err = zeros[int32](p, int64(len(p.count))); err != nil {
		return err
	}
	if op.Rows.Bits, _, err = p.work(op.Rows.Dense.Len, false); err != nil {
		return err
	}
	if err := p.stream.Launch(op); err != nil {
		return err
	}
	if err := op.Count.Read(p.stream, p.count); err != nil {
		return err
	}
	err = p.stream.Sync()
	for _, n := range p.count {
		p.capacity += int64(n)
	}
	return err
}

// Count returns the number of entries of each row of C. The caller must not change it.
func (p *DevicePart[V]) Count() []int32 { return p.count }

// Fill computes columns and values of the rows, and copies them to idx and val: those of row lo+i to the elements
// ptr[i]-ptr[0] to ptr[i+1]-ptr[0]-1. Only the first call copies columns, which must not change before Close; idx may be nil
// later.
func (p *DevicePart[V]) Fill(ctx context.Context, ptr []int64, idx []int32, val []V) error {
	if err := p.usable(); err != nil || p.empty() {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.host != nil {
		if p.filled {
			idx = nil
		}
		p.failed = p.host.fill(idx, val)
		p.filled = true
		return p.failed
	}
	p.failed = p.fill(ptr, idx, val)
	return p.failed
}

// usable returns an error if the part is closed, or if its device failed.
func (p *DevicePart[V]) usable() error {
	if p.closed {
		return fmt.Errorf("product on device %s: %w", p.dev.Info().ID, kernels.ErrClosed)
	}
	return p.failed
}

// fill is Fill for a device with its own memory. If C does not fit there, fill halves capacity, down to one row.
func (p *DevicePart[V]) fill(ptr []int64, idx []int32, val []V) error {
	longest := int64(slices.Max(p.count))
	for {
		err := p.fillRows(ptr, idx, val)
		if !errors.Is(err, kernels.ErrOutOfMemory) || p.capacity <= longest {
			return err
		}
		p.capacity = max(p.capacity/2, longest)
		if err := p.remove(); err != nil {
			return err
		}
	}
}

// fillRows computes all rows, in runs of at most p.capacity entries.
func (p *DevicePart[V]) fillRows(ptr []int64, idx []int32, val []V) error {
	rows := len(p.count)
	for lo, hi := 0, 0; lo < rows; lo = hi {
		for hi = lo + 1; hi < rows && ptr[hi+1]-ptr[lo] <= p.capacity; {
			hi++
		}
		at, past := ptr[lo]-ptr[0], ptr[hi]-ptr[0]
		if at == past {
			continue
		}
		if !p.placed {
			if err := p.place(ptr, lo, hi); err != nil {
				return err
			}
		}
		if err := p.compute(); err != nil {
			return err
		}
		if !p.filled {
			if err := p.idx.Read(p.stream, idx[at:past]); err != nil {
				return err
			}
		}
		if err := p.val.Read(p.stream, val[at:past]); err != nil {
			return err
		}
		if err := p.stream.Sync(); err != nil {
			return err
		}
		if hi-lo < rows {
			if err := p.remove(); err != nil {
				return err
			}
		}
	}
	p.filled = true
	return nil
}

// place allocates the rows [lo, hi) of C on the device.
func (p *DevicePart[V]) place(ptr []int64, lo, hi int) (err error) {
	lists := kernels.SpGEMMFillRows(p.products[lo:hi], p.count[lo:hi])
	for _, list := range [][]int32{lists.Warp, lists.Block, lists.Dense} {
		for i := range list {
			list[i] += int32(lo)
		}
	}
	if p.rows, err = p.lists(lists); err != nil {
		return err
	}
	local := make([]int64, len(ptr))
	for i := range ptr {
		local[i] = ptr[i] - ptr[lo]
	}
	if p.ptr, err = put(p, local); err != nil {
		return err
	}
	if p.idx, err = zeros[int32](p, local[hi]); err != nil {
		return err
	}
	if p.val, err = zeros[V](p, local[hi]); err != nil {
		return err
	}
	p.placed = true
	return p.stream.Sync()
}

// remove frees the rows of C on the device.
func (p *DevicePart[V]) remove() error {
	p.placed = false
	return p.free(p.factors)
}

// compute computes the rows of C that are on the device.
func (p *DevicePart[V]) compute() (err error) {
	before := len(p.buffers)
	defer func() { err = errors.Join(err, p.free(before)) }() // the memory of dense rows
	op := &kernels.SpGEMMFill[V]{Of: p.of, ValA: p.valA, ValB: p.valB, Rows: p.rows, Ptr: p.ptr, Idx: p.idx, Val: p.val}
	if op.Rows.Bits, op.Sums, err = p.work(op.Rows.Dense.Len, true); err != nil {
		return err
	}
	return p.stream.Launch(op)
}

// Update sets new values of A and B, with an element for each entry of the whole matrix. nil keeps the values.
func (p *DevicePart[V]) Update(a, b []V) error {
	if err := p.usable(); err != nil || p.empty() {
		return err
	}
	p.failed = p.update(a, b)
	return p.failed
}

// update is Update for rows with entries.
func (p *DevicePart[V]) update(a, b []V) error {
	if a != nil {
		a = a[p.at.lo:p.at.hi]
	}
	if b != nil {
		b = b[p.atB.lo:p.atB.hi]
	}
	if p.host != nil {
		p.host.update(a, b)
		return nil
	}
	if a != nil {
		if err := p.valA.Write(p.stream, a); err != nil {
			return err
		}
	}
	if b != nil {
		if err := p.valB.Write(p.stream, b); err != nil {
			return err
		}
	}
	return p.stream.Sync()
}

// Bytes returns the memory that the part has on the device.
func (p *DevicePart[V]) Bytes() (sum int64) {
	for _, b := range p.buffers {
		sum += b.Bytes()
	}
	return sum
}

// Close frees the memory on the device. It may be called again.
func (p *DevicePart[V]) Close() (err error) {
	if p == nil || p.closed {
		return nil
	}
	p.closed, p.host = true, nil
	if p.stream != nil {
		err = p.stream.Close()
		p.stream = nil
	}
	return errors.Join(err, p.free(0))
}

// free waits for the stream and frees the buffers with index from and above.
func (p *DevicePart[V]) free(from int) (err error) {
	if p.stream != nil {
		err = p.stream.Sync()
	}
	for _, b := range p.buffers[from:] {
		err = errors.Join(err, b.Free())
	}
	p.buffers = p.buffers[:from]
	return err
}

// lists copies lists of rows to the device.
func (p *DevicePart[V]) lists(l kernels.SpGEMMLists) (rows kernels.SpGEMMRows, err error) {
	for _, list := range []struct {
		from []int32
		to   *kernels.Array[int32]
	}{{l.Warp, &rows.Warp}, {l.Block, &rows.Block}, {l.Dense, &rows.Dense}} {
		if len(list.from) > 0 {
			if *list.to, err = put(p, list.from); err != nil {
				return rows, err
			}
		}
	}
	return rows, p.stream.Sync()
}

const (
	maxBlocks = 1024    // of dense rows at the same time: several for each multiprocessor
	maxWork   = 1 << 30 // bytes for the bits and sums of these blocks
)

// work returns memory for the bits and sums of the kernels for n dense rows, for as many blocks as fit.
func (p *DevicePart[V]) work(n int64, withSums bool) (bits kernels.Array[int32], sums kernels.Array[V], err error) {
	if n == 0 {
		return bits, sums, nil
	}
	words, elements := kernels.SpGEMMWords(p.of.Cols), int64(0)
	if withSums {
		elements = p.of.Cols
	}
	blocks := max(min(n, maxBlocks, maxWork/(4*words+mem.Size[V]()*elements)), 1)
	before := len(p.buffers)
	for ; ; blocks /= 2 {
		if bits, err = zeros[int32](p, blocks*words); err == nil {
			sums, err = zeros[V](p, blocks*elements)
		}
		if err == nil || blocks == 1 || !errors.Is(err, kernels.ErrOutOfMemory) {
			return bits, sums, err
		}
		if err := p.free(before); err != nil {
			return bits, sums, err
		}
	}
}

// zeros allocates an array, which Close frees.
func zeros[T mem.Elem, V sparse.Value](p *DevicePart[V], n int64) (kernels.Array[T], error) {
	if n == 0 {
		return kernels.Array[T]{}, nil
	}
	a, err := kernels.NewArray[T](p.dev, n)
	if err == nil {
		p.buffers = append(p.buffers, a.Buf)
	}
	return a, err
}

// put copies a slice to the device. The slice must not change before the next Sync of the stream.
func put[T mem.Elem, V sparse.Value](p *DevicePart[V], s []T) (kernels.Array[T], error) {
	a, err := zeros[T](p, int64(len(s)))
	if err != nil || len(s) == 0 {
		return a, err
	}
	return a, a.Write(p.stream, s)
}
