package solver

import (
	"context"
	"errors"

	"github.com/msrep-go/msrep/sparse"
)

// Distributed is an Operator that is spread over several processes: each of them has
// a piece of every vector, and Dims gives the length of its piece, twice. All
// processes call a method together, with the same options, and then call SpMV, Sum
// and Max in the same order. b and x are this process's pieces, and so is what a
// Preconditioner works on.
//
// Sums and decisions are those of all: every process ends in the same iteration, with
// the same Result but for Timing. When one fails, all give an error; that of the
// others wraps ErrOtherProcess. A context that ends in one process ends the solve in
// all, after the next sum.
//
// Where it has the methods Resident, RowVector and Apply of a msrep.Plan, and Resident
// holds, the vectors of a solve stay on the devices of each process.
type Distributed interface {
	// SpMV multiplies pieces; see Operator. It gets a context that does not end, and
	// is called also where this process has failed already, for the sake of the
	// others.
	Operator
	// Piece says which elements of a vector this process has: the first of them, and
	// how many the whole vector has.
	Piece() (first, total int)
	// Fixed reports whether sums are to have the bits that a single process finds.
	// Each piece that is not empty must then begin at a multiple of SumChunk.
	Fixed() bool
	// Sum makes each element of v its sum over all processes; all get the same bits.
	Sum(ctx context.Context, v []float64) error
	// Max makes each element of v its maximum over all processes.
	Max(ctx context.Context, v []float64) error
}

// ErrOtherProcess says that a solve ended because it failed in another process.
var ErrOtherProcess = errors.New("another process failed")

// processes is what the processes of a solve do together.
type processes struct {
	op     Distributed
	first  int // block of the whole vector, for sums of fixed shape
	chunks int // of the whole vector; 0 where the shape does not matter
	buf    []float64
	failureKnown bool // all know that one has failed
}

// newProcesses gives nil for an operator that is in one process.
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
		return p, sparse.Inputf("matrix", "a piece of %d elements from element %d on, of %d", n, first, total)
	case op.Fixed() && n > 0 && first%SumChunk != 0:
		return p, sparse.Inputf("matrix", "a piece from element %d on: with fixed sums pieces begin at multiples of %d", first, SumChunk)
	}
	if op.Fixed() {
		p.first, p.chunks = first/SumChunk, (total+SumChunk-1)/SumChunk
	}
	return p, nil
}

// failed is err, the failure of this process, once all know of it: until then the
// others wait for this one's part in products and sums.
func (p *processes) failed(err error) error {
	if p != nil && !p.failureKnown {
		return nil
	}
	return err
}

// total adds up the sums of all blocks of all processes, len(out) of each side by
// side. err is the failure of this process, nil where there is none; the error that
// it gives is that, or that another one has failed.
func (p *processes) total(ctx context.Context, part, out []float64, err error) error {
	if p.failureKnown {
		return err
	}
	if err == nil {
		err = contextError(ctx)
	}
	k := len(out)
	if p.chunks > 0 { // zeros where others have their sums: adding them changes no bit
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
		p.failureKnown = true // nothing more can be said to the others
		return errors.Join(err, sent)
	}
	addChunks(p.buf[:last], out)
	if p.failureKnown = p.buf[last] != 0; p.failureKnown && err == nil {
		return ErrOtherProcess
	}
	return err
}

// begin makes sure that all processes start the same solve: same holds what must be
// the same everywhere. largest becomes the largest of all processes. err is why this
// process can't start.
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
			return sparse.Inputf("options", "not the same in all processes: tolerance, iterations, restart and whether there is a preconditioner must be")
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
