package bincsr

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/sparse"
)

// Write writes m to w. It keeps the order of the entries of each row.
//
// Errors are those of m.Validate and of w.
func Write(w io.Writer, m *sparse.CSR[float64]) error {
	if err := given.Check("writer", w); err != nil {
		return err
	}
	if err := m.Validate(); err != nil {
		return err
	}
	le := binary.LittleEndian
	out := &writer{w: w, buf: make([]byte, 0, flushAt+8)}
	for _, n := range []int64{int64(m.Rows), int64(m.Cols), m.NNZ()} {
		out.add(le.AppendUint64(out.buf, uint64(n)))
	}
	for _, p := range m.RowPtr {
		out.add(le.AppendUint64(out.buf, uint64(p)))
	}
	for _, j := range m.ColIdx {
		out.add(le.AppendUint32(out.buf, uint32(j)))
	}
	for _, v := range m.Val {
		out.add(le.AppendUint64(out.buf, math.Float64bits(v)))
	}
	return out.flush()
}

const flushAt = 1 << 16

// writer buffers bytes and keeps the first error.
type writer struct {
	w   io.Writer
	buf []byte
	err error
}

// add sets the buffer to b, which is the buffer with one more item, and flushes it if it
// is full.
func (o *writer) add(b []byte) {
	if o.buf = b; len(b) >= flushAt {
		o.flush()
	}
}

func (o *writer) flush() error {
	if o.err == nil {
		_, o.err = o.w.Write(o.buf)
	}
	o.buf = o.buf[:0]
	return o.err
}
