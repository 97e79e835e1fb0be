package snap

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/source"
	"github.com/msrep-go/msrep/sparse"
)

// Read reads an edge list. The result has sorted columns and no duplicates. src.Stored is
// the number of edges in the file, repeated ones included; the field is pattern or, with
// weights, real, and the symmetry general. src.Note reports weights that look like times
// and weights beyond the range of float64.
//
// name stands for the file in errors. Invalid content gives an *sparse.InputError with a
// line, and so do ids too large for the number of edges (lim) and a list that does not
// fit into memory. A list needs at least one edge, because only edges determine the size
// of the matrix. If ctx ends, Read returns its error.
func Read(ctx context.Context, r io.Reader, name string, lim sparse.Limits) (m *sparse.CSR[float64], src sparse.Source, err error) {
	m, src, _, err = read(ctx, r, name, lim, false)
	return m, src, err
}

// ReadRenumbered is Read, but only the ids that occur are nodes. They may be any integers
// from 0 to 2^63-1. Row and column k of the matrix are node ids[k]; ids is ascending, or
// nil if the ids are 0, 1, ... without a gap.
func ReadRenumbered(ctx context.Context, r io.Reader, name string, lim sparse.Limits) (m *sparse.CSR[float64], src sparse.Source, ids []int64, err error) {
	return read(ctx, r, name, lim, true)
}

func read(ctx context.Context, r io.Reader, name string, lim sparse.Limits, renumber bool) (m *sparse.CSR[float64], src sparse.Source, ids []int64, err error) {
	if err := given.Input(ctx, r); err != nil {
		return nil, src, nil, err
	}
	in := lines.NewReader(r, name)
	l := list{name: name, most: maxID}
	if renumber {
		l.most = math.MaxInt64
	}
	if err := l.readFirst(in); err != nil {
		return nil, src, nil, err
	}
	var chunks []chunkEdges
	largest, at := int32(-1), int64(0)
	var when times
	var inexact source.Inexact
	fits := func(rows int64) error { return lim.CheckMemory(name, 0, rows, src.Stored, sparse.EntryBytes) }
	err = lines.Each(ctx, in, l.parse, func(_ lines.Chunk, b chunkEdges) error {
		if len(b.Row) > 0 {
			chunks = append(chunks, b)
			src.Stored += int64(len(b.Row))
		}
		if b.largest > largest {
			largest, at = b.largest, b.at
		}
		when.join(b.times)
		inexact.Merge(b.inexact)
		if b.err == nil && len(chunks)%16 == 0 { // no header declares the number of edges
			if renumber {
				return fits(0)
			}
			return fits(int64(largest) + 1)
		}
		return b.err
	})
	if err != nil {
		return nil, src, nil, err
	}
	n := int64(largest) + 1
	if renumber {
		numbers := newNumbering(chunks, int64(largest), src.Stored)
		if n = numbers.len(); n > sparse.MaxDim {
			return nil, src, nil, sparse.Inputf(name, "%d nodes: more than %d are not supported (indices are 32 bits wide)", n, sparse.MaxDim)
		}
		numbers.renumber(chunks)
		ids = numbers.ids()
	} else {
		err = checkOrder(lim, name, at, n, src.Stored)
	}
	if err := cmp.Or(err, fits(n)); err != nil {
		return nil, src, nil, err
	}
	src.Field, src.Symmetry = sparse.Pattern, sparse.General
	if l.weighted {
		src.Field = sparse.Real
	}
	if inexact.Apply(&src); when.likely() {
		source.AddNote(&src, "the third column looks like a time: the matrix uses it as weights, and adds those of repeated edges")
	}
	if note := l.declared.note(src.Stored); note != "" {
		source.AddNote(&src, note)
	}
	triples := make([]sparse.Triples[float64], len(chunks))
	for k := range chunks {
		triples[k] = chunks[k].Triples
	}
	chunks = nil
	m = sparse.Assemble(int(n), int(n), sparse.General, triples)
	if !l.weighted && m.NNZ() < src.Stored {
		par.Range(m.NNZ(), 1<<16, func(lo, hi int64) { // repeated edges were added
			for k := lo; k < hi; k++ {
				m.Val[k] = 1
			}
		})
	}
	return m, src, ids, nil
}

// readFirst reads the first edge, to determine whether edges have weights, and unreads it.
func (l *list) readFirst(in *lines.Reader) error {
	for {
		if in.Line() >= headLines {
			in.Skip("#%")
		}
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
		l.declared.parse(text, in.Line())
	}
}

// checkOrder refuses a matrix of order n that has too few edges. line is the line of the
// largest id.
func checkOrder(lim sparse.Limits, name string, line, n, edges int64) error {
	err := lim.CheckDims(name, line, n, n, edges)
	var in *sparse.InputError
	if errors.As(err, &in) {
		return sparse.InputLinef(name, line, "node id %d makes a matrix of %s; where ids are renumbered, only those that occur count", n-1, in.Msg)
	}
	return err
}
