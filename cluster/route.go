package cluster

import (
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// routeBatch is how many entries a rank sends at a time: what is on the way stays
// small beside the matrix.
const routeBatch = 1 << 15

// router brings entries to the ranks that own their rows.
type router[V sparse.Value] struct {
	comm   Comm
	cuts   []int
	values bool // entries have values; else all are 1

	from [][]sparse.Triples[V] // what came from each rank, in its order, rows counted from the first one here
}

// run asks next for entries, with rows of the whole matrix, until it says that there
// are no more, and sends them. All ranks call it and stay until the last one is done.
func (t *router[V]) run(next func() (batch sparse.Triples[V], more bool)) error {
	t.from = make([][]sparse.Triples[V], t.comm.Size())
	for more := true; ; {
		var batch sparse.Triples[V]
		if more {
			batch, more = next()
		}
		received, err := t.comm.Swap(t.pack(batch, more))
		if err != nil {
			return err
		}
		others := false
		for r, b := range received {
			others = others || b[0] != 0
			if block, ok := t.unpack(b); ok {
				t.from[r] = append(t.from[r], block)
			}
		}
		if !others {
			return nil
		}
	}
}

// blocks is what came, first that of rank 0.
func (t *router[V]) blocks() []sparse.Triples[V] {
	return slices.Concat(t.from...)
}

// head is the length of what stands before the entries of a message: a byte that is 1
// where more messages come, and nothing.
const head = 8

// pack makes a message for each rank: values, rows, columns.
func (t *router[V]) pack(batch sparse.Triples[V], more bool) [][]byte {
	ranks := t.comm.Size()
	count := make([]int, ranks)
	to := make([]int32, len(batch.Row))
	last := 0
	for k, i := range batch.Row {
		if int(i) < t.cuts[last] || int(i) >= t.cuts[last+1] {
			last = owner(t.cuts, int(i))
		}
		to[k] = int32(last)
		count[last]++
	}
	send := make([][]byte, ranks)
	type lists struct {
		val      []V
		row, col []int32
	}
	dst := make([]lists, ranks)
	for r := range send {
		send[r] = make([]byte, head+count[r]*t.entrySize())
		if more {
			send[r][0] = 1
		}
		dst[r].val, dst[r].row, dst[r].col = t.views(send[r], count[r])
		count[r] = 0
	}
	for k, r := range to {
		d, n := &dst[r], count[r]
		d.row[n], d.col[n] = batch.Row[k]-int32(t.cuts[r]), batch.Col[k]
		if t.values {
			d.val[n] = batch.Val[k]
		}
		count[r]++
	}
	return send
}

func (t *router[V]) entrySize() int {
	if t.values {
		return 8 + int(mem.Size[V]())
	}
	return 8
}

// views is the arrays of n entries in a message.
func (t *router[V]) views(b []byte, n int) (val []V, row, col []int32) {
	b = b[head:]
	if t.values {
		val, _ = mem.Slice[V](b, int64(n))
		b = b[n*int(mem.Size[V]()):]
	}
	row, _ = mem.Slice[int32](b, int64(n))
	col, _ = mem.Slice[int32](b[4*n:], int64(n))
	return val, row, col
}

// unpack is the entries of a message; false where there are none. They stay in the
// memory of the message.
func (t *router[V]) unpack(b []byte) (block sparse.Triples[V], ok bool) {
	n := (len(b) - head) / t.entrySize()
	if n == 0 {
		return block, false
	}
	block.Val, block.Row, block.Col = t.views(b, n)
	return block, true
}
