package snap

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// Read reads an edge list. The result has sorted columns and no duplicates. src
// has Stored = the edges as they stand in the file, repeated ones counted, field
// pattern or (with weights) real, and symmetry general.
//
// name is the file that errors name. Whatever is wrong with the file is an
// *sparse.InputError with a line; lim bounds ids out of proportion to the number
// of edges, and a list for which memory lacks is one as well. A list needs at least one edge, because nothing else says how large
// the matrix is. When ctx ends, so does Read, with its error.
func Read(ctx context.Context, r io.Reader, name string, lim sparse.Limits) (m *sparse.CSR[float64], src sparse.Source, err error) {
	if err := given.Input(ctx, r); err != nil {
		return nil, src, err
	}
	in := lines.NewReader(r, name)
	l := list{name: name}
	if err := l.readFirst(in); err != nil {
		return nil, src, err
	}
	var blocks []sparse.Triples[float64]
	largest, at := int32(-1), int64(0)
	fits := func() error { return lim.CheckMemory(name, 0, int64(largest)+1, src.Stored, sparse.EntryBytes) }
	err = lines.Each(ctx, in, l.parse, func(_ lines.Chunk, b block) error {
		if len(b.Row) > 0 {
			blocks = append(blocks, b.Triples)
			src.Stored += int64(len(b.Row))
		}
		if b.largest > largest {
			largest, at = b.largest, b.at
		}
		if b.err == nil && len(blocks)%16 == 0 { // no header says how many edges come
			return fits()
		}
		return b.err
	})
	if err != nil {
		return nil, src, err
	}
	n := int64(largest) + 1
	if err := cmp.Or(checkOrder(lim, name, at, n, src.Stored), fits()); err != nil {
		return nil, src, err
	}
	src.Field, src.Symmetry = sparse.Pattern, sparse.General
	if l.weighted {
		src.Field = sparse.Real
	}
	m = sparse.Assemble(int(n), int(n), sparse.General, blocks)
	if !l.weighted && m.NNZ() < src.Stored {
		par.Range(m.NNZ(), 1<<16, func(lo, hi int64) { // repeated edges have added up
			for k := lo; k < hi; k++ {
				m.Val[k] = 1
			}
		})
	}
	return m, src, nil
}

// readFirst looks at the first edge, to find out whether edges have weights, and
// leaves it to be read again.
func (l *list) readFirst(in *lines.Reader) error {
	for {
		text, err := in.Next()
		if err == io.EOF {
			return l.errorf(in.Line(), "file ends without an edge")
		}
		if err != nil {
			return err
		}
		if words := bytes.Fields(text); len(words) > 0 && words[0][0] != '#' && words[0][0] != '%' {
			if len(words) < 2 || len(words) > 3 {
				return l.errorf(in.Line(), "edge has %d words, two node ids and at most a weight are needed: %.60q", len(words), text)
			}
			l.weighted, l.first = len(words) == 3, in.Line()
			in.Unread()
			return nil
		}
	}
}

// checkOrder refuses a matrix of order n that has few edges; line is where the
// largest id stands.
func checkOrder(lim sparse.Limits, name string, line, n, edges int64) error {
	err := lim.CheckDims(name, line, n, n, edges)
	var in *sparse.InputError
	if errors.As(err, &in) {
		return sparse.InputLinef(name, line, "node id %d makes a matrix of %s", n-1, in.Msg)
	}
	return err
}
