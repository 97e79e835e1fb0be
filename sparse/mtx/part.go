package mtx

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/source"
	"github.com/msrep-go/msrep/sparse"
)

// Part is one reader's part of the entries of a file, as they are stored in the file, when
// several readers read a file together.
type Part struct {
	Rows, Cols int
	Source     sparse.Source // Stored is the number in the header of the file; Note describes this part, and Field is real if its integers were rounded
	// Triples holds the entries in the order of the file, without the mirrored entries of a
	// symmetric file and without the zeros of an array.
	Triples []sparse.Triples[float64]

	h *header
}

// ReadPart reads part i of n of the file at path. Parts of a plain coordinate file are
// ranges of bytes; ReadPart reads only the range and the header. It reads gzipped files
// and arrays completely for every part, but keeps only the part.
//
// The entries of part i precede those of part i+1 in the file. Errors are those of Read,
// except that a wrong number of entries is detected only when all parts have been read;
// see CheckEntries.
func ReadPart(ctx context.Context, path string, i, n int, lim sparse.Limits) (*Part, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	f, err := fileio.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := lines.NewReader(f, f.Title())
	h, err := readHeader(in, f.Title(), lim)
	if err != nil {
		return nil, err
	}
	p := &Part{Rows: int(h.rows), Cols: int(h.cols), h: h}
	switch {
	case h.array:
		err = p.arrayPart(ctx, in, par.Cut(h.entries, n, i), par.Cut(h.entries, n, i+1))
	case !f.Plain():
		err = p.streamPart(ctx, in, i, n)
	default:
		err = p.rangePart(ctx, f, i, n)
	}
	if err != nil {
		return nil, err
	}
	p.Source = h.source(h.entries)
	return p, nil
}

// Entries returns the number of entries of this part.
func (p *Part) Entries() int64 { return stored(p.Triples) }

// CheckEntries returns an error if all, the number of entries of all parts, differs from
// the number in the header.
func (p *Part) CheckEntries(all int64) error {
	if p.h.array || all == p.h.entries { // eachValues has counted the values of an array
		return nil
	}
	return p.h.errorf(0, "has %d entries, not the %d that line %d %s", all, p.h.entries, p.h.line, p.h.countVerb())
}

// arrayPart keeps the values [first, end) of an array.
func (p *Part) arrayPart(ctx context.Context, in *lines.Reader, first, end int64) error {
	d := newDenseEntries(p.h)
	var before int64
	err := p.h.eachValues(ctx, in, func(val []float64) error {
		for k := range val {
			if at := before + int64(k); at < first || at >= end {
				val[k] = 0 // denseEntries leaves out zeros
			}
		}
		before += int64(len(val))
		d.add(val)
		return nil
	})
	p.Triples = d.chunks
	return err
}

// streamPart reads everything and parses the chunks of lines that begin in part i of the
// lines that the header declares.
func (p *Part) streamPart(ctx context.Context, in *lines.Reader, i, n int) error {
	all := max(p.h.entries, 1)
	return p.parseChunks(ctx, in, func(c lines.Chunk) bool {
		at := min(c.Line-p.h.line-1, all-1)
		return par.Cut(all, n, i) <= at && at < par.Cut(all, n, i+1)
	})
}

// rangePart reads the lines that begin in a range of bytes after the header.
func (p *Part) rangePart(ctx context.Context, f *fileio.File, i, n int) error {
	r := f.OS()
	body, err := afterLine(r, f.Size, p.h.line)
	if err != nil {
		return err
	}
	var cut [2]int64
	for k := range cut {
		cut[k] = body + par.Cut(f.Size-body, n, i+k)
		if i+k > 0 && i+k < n {
			if cut[k], err = lineStart(r, cut[k], f.Size); err != nil {
				return err
			}
		}
	}
	lo, hi := cut[0], cut[1]
	in := lines.NewReader(io.NewSectionReader(r, lo, hi-lo), p.h.name)
	err = p.parseChunks(ctx, in, func(lines.Chunk) bool { return true })
	var bad *sparse.InputError
	isBad := errors.As(err, &bad) && bad.Line > 0
	if !isBad && p.h.inexact == (source.Inexact{}) {
		return err
	}
	before, e := countLines(r, lo) // line numbers so far count from lo
	if e != nil {
		return e
	}
	p.h.inexact.Shift(before)
	if isBad {
		return &sparse.InputError{Subject: bad.Subject, Line: bad.Line + before, Msg: bad.Msg, Err: bad.Err}
	}
	return err
}

// parseChunks parses the chunks for which wanted is true.
func (p *Part) parseChunks(ctx context.Context, in *lines.Reader, wanted func(lines.Chunk) bool) error {
	parse := func(c lines.Chunk) chunkEntries {
		if !wanted(c) {
			return chunkEntries{}
		}
		return p.h.parseEntries(c)
	}
	return lines.Each(ctx, in, parse, func(_ lines.Chunk, b chunkEntries) error {
		if len(b.Row) > 0 {
			p.Triples = append(p.Triples, b.Triples)
		}
		p.h.inexact.Merge(b.inexact)
		return b.err
	})
}

// afterLine returns the offset of the line after the given one.
func afterLine(r io.ReaderAt, size, line int64) (int64, error) {
	in := bufio.NewReaderSize(io.NewSectionReader(r, 0, size), lines.MaxLine+2)
	var at int64
	for range line {
		b, err := in.ReadSlice('\n')
		at += int64(len(b))
		if err != nil && err != io.EOF {
			return 0, err
		}
	}
	return at, nil
}

// lineStart returns the offset of the first line that begins at or after the offset at.
func lineStart(r io.ReaderAt, at, size int64) (int64, error) {
	in := bufio.NewReader(io.NewSectionReader(r, at-1, size-at+1))
	for at--; ; {
		b, err := in.ReadSlice('\n')
		at += int64(len(b))
		if err == nil || err == io.EOF {
			return at, nil
		}
		if err != bufio.ErrBufferFull {
			return 0, err
		}
	}
}

// countLines counts the line ends before end.
func countLines(r io.ReaderAt, end int64) (n int64, err error) {
	buf := make([]byte, 1<<16)
	in := io.NewSectionReader(r, 0, end)
	for {
		k, err := in.Read(buf)
		for _, c := range buf[:k] {
			if c == '\n' {
				n++
			}
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}
