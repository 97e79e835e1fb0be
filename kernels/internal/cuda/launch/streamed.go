package launch

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// streamedBytes limits the device memory for pieces. More memory does not speed up
// the copies.
const streamedBytes = 512 << 20

// streamed is a part in kernels.FormStreamed. It implements kernels.Packed. The arrays of its
// Packing must not change until Free.
type streamed[V sparse.Value] struct {
	dev    kernels.Device
	op     kernels.Packing[V]
	pieces []partition.Part // of op.Part; entries are counted as in op.Ptr
	sets   [2]pieceSet[V]
	rows   kernels.Array[int32] // rows of the carries, counted from the first row of the part
	carry  kernels.Array[V]     // carries of the pieces that begin inside a row of the part
	info   kernels.PackInfo

	use   sync.Mutex // one product at a time
	freed atomic.Bool
}

// pieceSet is device memory for one piece, with the stream that copies the piece and
// multiplies by it.
type pieceSet[V sparse.Value] struct {
	stream kernels.Stream
	ptr    kernels.Array[int64]
	idx    kernels.Array[int32]
	val    kernels.Array[V]
}

// packStreamed returns a streamed part; why is the reason. It takes at most
// streamedBytes of device memory, and leaves room for the vectors. An error that wraps
// kernels.ErrOutOfMemory means that not even one row fits. It rejects arrays that may
// change.
func packStreamed[V sparse.Value](d kernels.Device, op *kernels.Packing[V], why string) (*streamed[V], error) {
	if err := checkPacking(op); err != nil {
		return nil, err
	}
	if !op.InPlace {
		return nil, sparse.Inputf("format", "%s reads the matrix in each product: it needs strategy p-opt, and the matrix can't be released", kernels.FormStreamed)
	}
	begin := time.Now()
	p := &streamed[V]{dev: d, op: *op}
	budget := p.budget()
	for n := 2; ; n *= 2 {
		err := p.cut(n, budget)
		if err == nil {
			err = p.allocate()
		}
		if err == nil {
			break
		}
		err = errors.Join(err, p.drop())
		if !errors.Is(err, kernels.ErrOutOfMemory) || int64(n) > op.Part.NNZ() {
			return nil, err
		}
	}
	p.info = kernels.PackInfo{Form: kernels.FormStreamed, Why: fmt.Sprintf("%s: %d pieces", why, len(p.pieces)), Took: time.Since(begin)}
	for _, b := range p.Buffers() {
		p.info.Bytes += b.Bytes()
	}
	return p, nil
}

// budget returns the device memory that pieces may take.
func (p *streamed[V]) budget() int64 {
	free, bounded := free(p.dev)
	if !bounded {
		return streamedBytes
	}
	vectors := mem.Size[V]() * int64(p.op.Minors+p.op.Part.OwnEnd-p.op.Part.OwnFirst)
	return min((usable(free)-vectors)*9/10, streamedBytes)
}

// cut cuts the part into n pieces of about equal numbers of entries.
func (p *streamed[V]) cut(n int, budget int64) (err error) {
	if p.pieces, err = partition.Within(p.op.Ptr, p.op.Part, n); err != nil {
		return err
	}
	rows, nnz := p.largest()
	if need := int64(len(p.sets)) * (8*(rows+1) + (4+mem.Size[V]())*nnz); need > budget {
		return fmt.Errorf("%w: %d pieces take %d bytes, there are %d", kernels.ErrOutOfMemory, n, need, max(budget, 0))
	}
	return nil
}

// largest returns the largest numbers of rows and entries of a piece.
func (p *streamed[V]) largest() (rows, nnz int64) {
	for _, q := range p.pieces {
		rows, nnz = max(rows, int64(q.Majors())), max(nnz, q.NNZ())
	}
	return rows, nnz
}

// first returns the piece that has the carry of the part, -1 if there is none.
func (p *streamed[V]) first() int {
	if !p.op.Part.StartFlag {
		return -1
	}
	return slices.IndexFunc(p.pieces, func(q partition.Part) bool { return q.StartFlag })
}

func (p *streamed[V]) allocate() (err error) {
	rows, nnz := p.largest()
	for i := range p.sets {
		s := &p.sets[i]
		if s.stream, err = p.dev.NewStream(); err != nil {
			return err
		}
		if s.ptr, err = kernels.NewArray[int64](p.dev, rows+1); err != nil {
			return err
		}
		if s.idx, err = kernels.NewArray[int32](p.dev, nnz); err != nil {
			return err
		}
		if s.val, err = kernels.NewArray[V](p.dev, nnz); err != nil {
			return err
		}
	}
	var inside []int32
	for i, q := range p.pieces {
		if q.StartFlag && i != p.first() {
			inside = append(inside, int32(q.StartMajor))
		}
	}
	if p.carry, err = kernels.NewArray[V](p.dev, int64(len(inside))); err != nil {
		return err
	}
	s := p.sets[0].stream
	if p.rows, err = put(p.dev, s, inside); err != nil {
		return err
	}
	return s.Sync()
}

// Info describes the packed part.
func (p *streamed[V]) Info() kernels.PackInfo { return p.info }

// Buffers returns the device buffers of the part.
func (p *streamed[V]) Buffers() (out []kernels.Buffer) {
	if p.freed.Load() {
		return nil
	}
	all := []kernels.Buffer{p.rows.Buf, p.carry.Buf}
	for _, s := range p.sets {
		all = append(all, s.ptr.Buf, s.idx.Buf, s.val.Buf)
	}
	return slices.DeleteFunc(all, func(b kernels.Buffer) bool { return b == nil })
}

// Free waits for a running product, then frees the memory.
func (p *streamed[V]) Free() error {
	if p.freed.Swap(true) {
		return nil
	}
	p.use.Lock()
	defer p.use.Unlock()
	p.op = kernels.Packing[V]{}
	return p.drop()
}

// drop frees the memory that allocate allocated.
func (p *streamed[V]) drop() error {
	errs := []error{p.rows.Free(), p.carry.Free()}
	for i := range p.sets {
		s := &p.sets[i]
		errs = append(errs, s.ptr.Free(), s.idx.Free(), s.val.Free())
		if s.stream != nil {
			errs = append(errs, s.stream.Close())
		}
		*s = pieceSet[V]{}
	}
	p.rows, p.carry = kernels.Array[int32]{}, kernels.Array[V]{}
	return errors.Join(errs...)
}
