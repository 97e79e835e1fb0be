package mtx

import (
	"bytes"
	"context"
	"io"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/sparse"
)

// Read reads a matrix. The result is general (symmetric halves are expanded),
// with sorted columns and no duplicates; src says what the file held. Values are
// the nearest float64 of what is written, nan and inf included; beyond the range
// of float64 they are infinities. src.Note says where these and rounded integers
// stand; with rounded integers src.Field is real.
//
// name is the file that errors name. Whatever is wrong with the file is an
// *sparse.InputError with a line; lim bounds sizes out of proportion to the
// number of entries. When ctx ends, so does Read, with its error.
func Read(ctx context.Context, r io.Reader, name string, lim sparse.Limits) (m *sparse.CSR[float64], src sparse.Source, err error) {
	if err := given.Input(ctx, r); err != nil {
		return nil, src, err
	}
	in := lines.NewReader(r, name)
	h, err := readHeader(in, name, lim)
	if err != nil {
		return nil, src, err
	}
	var blocks []sparse.Triples[float64]
	fits := once(func() error { return lim.CheckMemory(name, h.line, h.rows, h.entries, sparse.TripleBytes) })
	if h.array {
		d := newDenseEntries(h)
		err = h.eachValues(ctx, in, func(val []float64) error {
			d.add(val)
			return fits()
		})
		blocks = d.blocks
	} else {
		err = h.eachBlock(ctx, in, func(t sparse.Triples[float64]) error {
			blocks = append(blocks, t)
			return fits()
		})
	}
	if err != nil {
		return nil, src, err
	}
	src = h.source(stored(blocks))
	return sparse.Assemble(int(h.rows), int(h.cols), h.symmetry, blocks), src, nil
}

// once is a check that is made for the second chunk of a file: that is not so short that its
// header lies.
func once(check func() error) func() error {
	chunks := 0
	return func() error {
		if chunks++; chunks != 2 {
			return nil
		}
		return check()
	}
}

func stored(blocks []sparse.Triples[float64]) (n int64) {
	for _, t := range blocks {
		n += int64(len(t.Row))
	}
	return n
}

// eachBlock calls add for the entries of a coordinate file, in their order. An error of
// add ends it.
func (h *header) eachBlock(ctx context.Context, in *lines.Reader, add func(sparse.Triples[float64]) error) error {
	t := tally{h: h, line: h.line}
	err := lines.Each(ctx, in, h.parseEntries, func(c lines.Chunk, b block) error {
		if err := t.count(c, len(b.Row), b.err); err != nil {
			return err
		}
		h.inexact.Merge(b.inexact)
		return add(b.Triples)
	})
	return t.end(err)
}

// eachValues calls add for the values of an array file, in their order. An error of add
// ends it.
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

// tally compares the number of entries with what the header says.
type tally struct {
	h    *header
	n    int64 // entries so far
	line int64 // the last one so far
}

// count adds the n entries of c. fault is what stands after them, or nil; one
// entry too many comes before it.
func (t *tally) count(c lines.Chunk, n int, fault error) error {
	if room := t.h.entries - t.n; int64(n) > room {
		return t.h.errorf(entryLine(c, room), "more entries than the %d that line %d %s", t.h.entries, t.h.line, t.h.says())
	}
	t.n += int64(n)
	t.line = c.Line + int64(c.Count) - 1
	return fault
}

// end gives err, or says that entries are missing.
func (t *tally) end(err error) error {
	if err == nil && t.n < t.h.entries {
		err = t.h.errorf(t.line, "file ends after %d of the %d entries that line %d %s", t.n, t.h.entries, t.h.line, t.h.says())
	}
	return err
}

// says tells how the header gives the number of entries.
func (h *header) says() string {
	if h.array {
		return "calls for"
	}
	return "declares"
}

// entryLine is the line of entry k of a chunk, counted from 0.
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
