package solver

import (
	"context"
	"errors"

	"github.com/msrep-go/msrep/sparse"
)

// Distributed is an Operator over several processes. Each process has one piece of every vector, and Dims returns
// the length of its piece as both dimensions. All processes call a method together with the same options; the
// method then calls SpMV, Sum and Max in the same order in all of them. b, x and the vectors of a Preconditioner
// are the pieces of the process.
//
// Sums are over all processes, so all processes take the same decisions, end in the same iteration and return the
// same Result, except for Timing. If one process fails, all return an error; the errors of the others wrap
// ErrOtherProcess. A context that ends in one process ends the solve in all processes after the next sum.
//
// If the operator also has the methods Resident, RowVector and Apply of a msrep.Plan, and Resident returns true, the
// vectors of a solve stay on the devices of each process.
type Distributed interface {
	// SpMV multiplies pieces; see Operator. Its context never ends. It is called even after this process has
	// failed, because the other processes need its part of the product.
	Operator
	// Piece returns the index of this process's first element in the whole vector, and the length of the
	// whole vector.
	Piece() (first, total int)
	// Fixed reports whether sums must have the same bits as in a single process. Each nonempty piece must then
	// begin at a multiple of SumChunk.
	Fixed() bool
	// Sum replaces each element of v by its sum over all processes. All processes get the same bits.
	Sum(ctx context.Context, v []float64) error
	// Max replaces each element of v by its maximum over all processes.
	Max(ctx context.Context, v []float64) error
}

// ErrOtherProcess is the error of a solve that failed in another process.
var ErrOtherProcess = errors.New("another process failed")

// processes is the communication between the processes of a solve.
type processes struct {
	op           Distributed
	first        int // first chunk of this process in the whole vector, for fixed sums
	chunks       int // chunks of the whole vector; 0 where sums are not fixed
	buf          []float64
	failureKnown bool // all processes know that one has failed
}

// newProcesses returns nil for an operator that is not Distributed.
func newProcesses(a Operator) (*processes, error) {
	op, ok := a.(Distributed)
	if !ok {
		return nil, nil
	}
	p := &processes{op: op}
	n, _ := op.Dims()
	first, total := op.Piece()
	switch {
	case first < 0 || first > total-n:
		return p, sparse.Inputf("matrix", "the piece has %d elements from element %d on; the whole vector has %d", n, first, total)
	case op.Fixed() && n > 0 && first%SumChunk != 0:
		return p, sparse.Inputf("matrix", "the piece begins at element %d: with fixed sums, pieces must begin at multiples of %d", first, SumChunk)
	}
	if op.Fixed() {
		p.first, p.chunks = first/SumChunk, (total+SumChunk-1)/SumChunk
	}
	return p, nil
}

// failed returns err, the error of this process, once all processes know that one has failed. Before that it returns
// nil, because the others still wait for this process in products and sums.
func (p *processes) failed(err error) error {
	if p != nil && !p.failureKnown {
		return nil
	}
	return err
}

// total adds the sums of all chunks of all processes to out. part holds the len(out) sums of each chunk of this
// process, chunk by chunk. err is the error of this process so far, or nil. total returns it, or an error of its own
// or of another process.
func (p *processes) total(ctx context.Context, part, out []float64, err error) error {
	if p.failureKnown {
		return err
	}
	if err == nil {
		err = contextError(ctx)
	}
	k := len(out)
	if p.chunks > 0 { // the chunks of other processes are zero here: adding them changes no bit
		p.buf = grown(p.buf, k*p.chunks+1)
		clear(p.buf)
		if len(part) > 0 {
			copy(p.buf[k*p.first:k*p.chunks], part)
		}
	} else {
		p.buf = grown(p.buf, k+1)
		addChunks(part, p.buf[:k])
	}
	last := len(p.buf) - 1
	p.buf[last] = 0
	if err != nil {
		p.buf[last] = 1
	}
	if sent := p.op.Sum(context.WithoutCancel(ctx), p.buf); sent != nil {
		p.failureKnown = true // this process can no longer reach the others
		return errors.Join(err, sent)
	}
	addChunks(p.buf[:last], out)
	if p.failureKnown = p.buf[last] != 0; p.failureKnown && err == nil {
		return ErrOtherProcess
	}
	return err
}

// begin checks that all processes start the same solve: the values in same must be equal in all of them. It sets
// *largest to the maximum over all processes. err is the error that keeps this process from starting, or nil.
func (p *processes) begin(ctx context.Context, largest *float64, err error, same ...float64) error {
	if err == nil {
		err = ctx.Err()
	}
	v := []float64{*largest, 0}
	if err != nil {
		v = []float64{0, 1}
	}
	for _, s := range same {
		v = append(v, s, -s)
	}
	if sent := p.op.Max(context.WithoutCancel(ctx), v); sent != nil {
		return errors.Join(err, sent)
	}
	switch {
	case err != nil:
		return err
	case v[1] != 0:
		return ErrOtherProcess
	}
	*largest = v[0]
	for i := 2; i < len(v); i += 2 {
		if v[i] != -v[i+1] {
			return sparse.Inputf("options", "differ between processes: tolerance, iterations, restart and use of a preconditioner must be the same")
		}
	}
	return nil
}

func grown(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n)
	}
	return v[:n]
}
