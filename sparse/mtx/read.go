package mtx

import (
	"bytes"
	"context"
	"io"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/sparse"
)

// Read reads a matrix. The result has sorted columns, no duplicates, and both triangles of
// a symmetric matrix; src describes the content of the file. A value is the float64 nearest
// to the written number, nan and inf included; beyond the range of float64 it is infinite.
// src.Note names the lines of values that became infinite and of integers that were
// rounded. If integers are rounded, src.Field is real.
//
// name stands for the file in errors. Invalid content gives an *sparse.InputError with a
// line. lim limits the dimensions in relation to the number of entries. If ctx ends, Read
// returns its error.
func Read(ctx context.Context, r io.Reader, name string, lim sparse.Limits) (m *sparse.CSR[float64], src sparse.Source, err error) {
	if err := given.Input(ctx, r); err != nil {
		return nil, src, err
	}
	in := lines.NewReader(r, name)
	h, err := readHeader(in, name, lim)
	if err != nil {
		return nil, src, err
	}
	var chunks []sparse.Triples[float64]
	fits := once(func() error { return lim.CheckMemory(name, h.line, h.rows, h.entries, sparse.TripleBytes) })
	if h.array {
		d := newDenseEntries(h)
		err = h.eachValues(ctx, in, func(val []float64) error {
			d.add(val)
			return fits()
		})
		chunks = d.chunks
	} else {
		err = h.eachTriples(ctx, in, func(t sparse.Triples[float64]) error {
			chunks = append(chunks, t)
			return fits()
		})
	}
	if err != nil {
		return nil, src, err
	}
	src = h.source(stored(chunks))
	return sparse.Assemble(int(h.rows), int(h.cols), h.symmetry, chunks), src, nil
}

// once returns a function that calls check when it is called the second time, for the
// second chunk of a file. A file of one chunk is too short for a check of memory to
// matter.
func once(check func() error) func() error {
	chunks := 0
	return func() error {
		if chunks++; chunks != 2 {
			return nil
		}
		return check()
	}
}

func stored(chunks []sparse.Triples[float64]) (n int64) {
	for _, t := range chunks {
		n += int64(len(t.Row))
	}
	return n
}

// eachTriples calls add for the entries of a coordinate file, in order, until add returns
// an error.
func (h *header) eachTriples(ctx context.Context, in *lines.Reader, add func(sparse.Triples[float64]) error) error {
	t := tally{h: h, line: h.line}
	err := lines.Each(ctx, in, h.parseEntries, func(c lines.Chunk, b chunkEntries) error {
		if err := t.count(c, len(b.Row), b.err); err != nil {
			return err
		}
		h.inexact.Merge(b.inexact)
		return add(b.Triples)
	})
	return t.end(err)
}

// eachValues calls add for the values of an array file, in order, until add returns an
// error.
func (h *header) eachValues(ctx context.Context, in *lines.Reader, add func([]float64) error) error {
	t := tally{h: h, line: h.line}
	err := lines.Each(ctx, in, h.parseValues, func(c lines.Chunk, v values) error {
		defer scratch.Put(v.val)
		if err := t.count(c, len(*v.val), v.err); err != nil {
			return err
		}
		h.inexact.Merge(v.inexact)
		return add(*v.val)
	})
	return t.end(err)
}

// tally compares the number of entries with the number in the header.
type tally struct {
	h    *header
	n    int64 // entries so far
	line int64 // last line so far
}

// count adds the n entries of c. fault is the error after them, or nil; an entry too many
// precedes it.
func (t *tally) count(c lines.Chunk, n int, fault error) error {
	if room := t.h.entries - t.n; int64(n) > room {
		return t.h.errorf(entryLine(c, room), "more entries than the %d that line %d %s", t.h.entries, t.h.line, t.h.countVerb())
	}
	t.n += int64(n)
	t.line = c.Line + int64(c.Count) - 1
	return fault
}

// end returns err, or an error if entries are missing.
func (t *tally) end(err error) error {
	if err == nil && t.n < t.h.entries {
		err = t.h.errorf(t.line, "file ends after %d of the %d entries that line %d %s", t.n, t.h.entries, t.h.line, t.h.countVerb())
	}
	return err
}

// countVerb returns the verb for the number of entries in the header: an array header only
// implies it.
func (h *header) countVerb() string {
	if h.array {
		return "calls for"
	}
	return "declares"
}

// entryLine returns the line of entry k of a chunk, counted from 0.
func entryLine(c lines.Chunk, k int64) int64 {
	line := c.Line
	for text := range bytes.Lines(c.Data) {
		if text = bytes.TrimSpace(text); len(text) > 0 && text[0] != '%' {
			if k == 0 {
				break
			}
			k--
		}
		line++
	}
	return line
}
