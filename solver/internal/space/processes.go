package space

import (
	"context"
	"errors"

	"github.com/msrep-go/msrep/sparse"
)

// ErrOtherProcess is the error of a solve that failed in another process.
var ErrOtherProcess = errors.New("another process failed")

// distributed is solver.Distributed.
type distributed interface {
	operator
	Piece() (first, total int)
	Fixed() bool
	Sum(ctx context.Context, v []float64) error
	Max(ctx context.Context, v []float64) error
}

// Processes is the communication between the processes of a solve.
type Processes struct {
	Op           distributed
	first        int // first chunk of this process in the whole vector, for fixed sums
	chunks       int // chunks of the whole vector; 0 where sums are not fixed
	buf          []float64
	failureKnown bool // all processes know that one has failed
}

// NewProcesses returns nil for an operator that is not distributed.
func NewProcesses(a operator) (*Processes, error) {
	op, ok := a.(distributed)
	if !ok {
		return nil, nil
	}
	p := &Processes{Op: op}
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

// firstElement returns the index of the first element of this process in the whole vector.
func (p *Processes) firstElement() int {
	if p == nil {
		return 0
	}
	first, _ := p.Op.Piece()
	return first
}

// failed returns err, the error of this process, once all processes know that one has failed. Before that it returns
// nil, because the others still wait for this process in products and sums.
func (p *Processes) failed(err error) error {
	if p != nil && !p.failureKnown {
		return nil
	}
	return err
}

// Total adds the sums of all chunks of all processes to out. part holds the len(out) sums of each chunk of this
// process, chunk by chunk. err is the error of this process so far, or nil. total returns it, or an error of its own
// or of another process.
func (p *Processes) Total(ctx context.Context, part, out []float64, err error) error {
	if p.failureKnown {
		return err
	}
	if err == nil {
		err = ContextError(ctx)
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
		AddChunks(part, p.buf[:k])
	}
	last := len(p.buf) - 1
	p.buf[last] = 0
	if err != nil {
		p.buf[last] = 1
	}
	if sent := p.Op.Sum(context.WithoutCancel(ctx), p.buf); sent != nil {
		p.failureKnown = true // this process can no longer reach the others
		return errors.Join(err, sent)
	}
	AddChunks(p.buf[:last], out)
	if p.failureKnown = p.buf[last] != 0; p.failureKnown && err == nil {
		return ErrOtherProcess
	}
	return err
}

// Begin checks that all processes start the same solve: the values in same must be equal in all of them. It sets
// *largest to the maximum over all processes. err is the error that keeps this process from starting, or nil.
func (p *Processes) Begin(ctx context.Context, largest *float64, err error, same ...float64) error {
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
	if sent := p.Op.Max(context.WithoutCancel(ctx), v); sent != nil {
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
			return sparse.Inputf("options", "differ between processes: tolerance, iterations, restart, basis and use of a preconditioner must be the same")
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
