package cluster

import (
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// routeBatch is the number of entries that a rank sends at a time. It keeps the messages small compared with the
// matrix.
const routeBatch = 1 << 15

// router sends entries to the ranks that own their rows.
type router[V sparse.Value] struct {
	comm   Comm
	cuts   []int
	values bool // entries have values; otherwise all are 1

	from [][]sparse.Triples[V] // entries from each rank in order, with rows numbered within this rank
}

// run calls next for batches of entries, with rows of the whole matrix, until more is false, and sends them. All
// ranks call it; it returns when all ranks have sent their entries.
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

// blocks returns the received entries in the order of the ranks.
func (t *router[V]) blocks() []sparse.Triples[V] {
	return slices.Concat(t.from...)
}

// head is the length of the header of a message in bytes. Its first byte is 1 if more messages follow; the rest is
// padding.
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

// views returns the arrays of n entries in a message.
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

// unpack returns the entries of a message, and false if there are none. They use the memory of the message.
func (t *router[V]) unpack(b []byte) (block sparse.Triples[V], ok bool) {
	n := (len(b) - head) / t.entrySize()
	if n == 0 {
		return block, false
	}
	block.Val, block.Row, block.Col = t.views(b, n)
	return block, true
}
