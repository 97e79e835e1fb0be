package launch

import (
	"fmt"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// pullWidth is the number of sources that msrep_pull and msrep_pull_carries take.
const pullWidth = 8

// source holds the arguments of one source of msrep_pull. y is an Addr or a TempAt.
type source struct {
	x, idx, y any
	n         int64
}

// pull plans the copies of groups of sources.
func pull[V sparse.Value](b *builder, op *kernels.Pull[V]) {
	var list []source
	for k, s := range op.Sources {
		n := s.N
		if s.Idx.Len > 0 && n == 0 {
			n = s.Idx.Len
		}
		x := s.X
		switch {
		case n < 0 || s.First < 0 || s.First > op.Y.Len || n > op.Y.Len-s.First:
			b.fail("source %d: %d elements from %d on, y has %d", k, n, s.First, op.Y.Len)
		case s.Idx.Len > 0 && s.Idx.Len != n:
			b.fail("source %d: %d elements and %d indices", k, n, s.Idx.Len)
		case s.Idx.Len == 0 && n > x.Len:
			b.fail("source %d: %d elements, x has %d", k, n, x.Len)
		case s.Idx.Len == 0:
			x = x.Sub(0, n)
		}
		if n > 0 {
			list = append(list, source{
				x: peerArray(b, fmt.Sprintf("x%d", k), x, x.Len), idx: array(b, fmt.Sprintf("idx%d", k), s.Idx, s.Idx.Len),
				y: array(b, fmt.Sprintf("y%d", k), op.Y.Sub(s.First, s.First+n), n), n: n,
			})
		}
	}
	pullSources[V](b, list)
}

// pullSources adds a call for each group of sources.
func pullSources[V sparse.Value](b *builder, list []source) {
	k := b.lookup("msrep_pull" + suffix[V]())
	for group := range slices.Chunk(list, pullWidth) {
		blocks := int64(0)
		for _, s := range group {
			blocks += k.Blocks(s.n)
		}
		var x, idx, y, n []any
		for i := range pullWidth {
			s := source{Addr(0), Addr(0), Addr(0), 0}
			if i < len(group) {
				s = group[i]
			}
			x, idx, y, n = append(x, s.x), append(idx, s.idx), append(y, s.y), append(n, s.n)
		}
		b.prog.Calls = append(b.prog.Calls, Call{Kernel: k, Blocks: blocks, Args: slices.Concat(x, idx, y, n)})
	}
}

// pullCarries plans one call for few carries. More carries are copied together first: the
// order in which the carries of a row are added depends on their number.
func pullCarries[V sparse.Value](b *builder, op *kernels.PullCarries[V]) {
	n := int64(len(op.Carry))
	row, y := array(b, "row", op.Row, n), array(b, "y", op.Y, op.Y.Len)
	args := []any{row}
	for k, c := range op.Carry {
		args = append(args, peerArray(b, fmt.Sprintf("c%d", k), c, 1))
	}
	switch {
	case b.err != nil || n == 0:
	case n > pullWidth:
		val := temp[V](b, "carries", n)
		var list []source
		for k, at := range args[1:] {
			list = append(list, source{x: at, idx: Addr(0), y: TempAt{val, int64(k) * mem.Size[V]()}, n: 1})
		}
		pullSources[V](b, list)
		addCarries[V](b, row, val, y, 0, n, op.Y.Len, 0)
	default:
		for range pullWidth - n {
			args = append(args, Addr(0))
		}
		b.call("msrep_pull_carries"+suffix[V](), n, append(args, y, n, op.Y.Len)...)
	}
}
