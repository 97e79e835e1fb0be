package msr

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// Read reads an .msr file from a stream, for content that is gzipped or comes
// through a pipe, into memory of its own. Checksums are compared as the bytes
// pass, and the indices are checked at the end.
//
// Memory grows with the bytes that really arrive, whatever the header says; its
// peak is at most 1.5 times the matrix. Where there is not so much the file is
// refused, as a rule before its arrays are read. lim bounds the dimensions. name goes
// into errors, which are *sparse.InputError where the content is at fault;
// other errors of r are passed on, and so is that of ctx when it ends first.
func Read[V sparse.Value](ctx context.Context, r io.Reader, name string, lim sparse.Limits) (*sparse.CSR[V], sparse.Source, error) {
	if err := given.Input(ctx, r); err != nil {
		return nil, sparse.Source{}, err
	}
	m, src, err := read[V](ctx, r, name, lim)
	if err != nil {
		return nil, sparse.Source{}, err
	}
	return m, src, nil
}

func read[V sparse.Value](ctx context.Context, r io.Reader, name string, lim sparse.Limits) (*sparse.CSR[V], sparse.Source, error) {
	if err := checkByteOrder(name); err != nil {
		return nil, sparse.Source{}, err
	}
	h, tableSum, err := readHeader(r, name)
	if err != nil {
		return nil, h.Source, err
	}
	if err := checkType[V](h, name); err != nil {
		return nil, h.Source, err
	}
	if err := lim.CheckDims(name, 0, int64(h.Rows), int64(h.Cols), h.NNZ); err != nil {
		return nil, h.Source, err
	}
	if err := lim.CheckMemory(name, 0, int64(h.Rows), h.NNZ, 4+mem.Size[V]()); err != nil {
		return nil, h.Source, err
	}
	l := layoutOf(h)
	s := &stream{ctx: ctx, r: r, name: name, length: l.length, at: HeaderSize}
	words := readArray[int32](s, (l.payload-HeaderSize)/4)
	if s.err == nil {
		s.err = verifyTable(mem.Bytes(words), tableSum, name)
	}
	s.begin(mem.Bytes(words), l.length-l.payload)
	m := &sparse.CSR[V]{Rows: h.Rows, Cols: h.Cols}
	m.RowPtr = readArray[int64](s, int64(h.Rows)+1)
	m.ColIdx = readArray[int32](s, h.NNZ)
	m.Val = readArray[V](s, h.NNZ)
	s.end()
	if s.err != nil {
		return nil, h.Source, s.err
	}
	if err := m.Validate(); err != nil {
		return nil, h.Source, nameError(name, err)
	}
	return m, h.Source, nil
}

// stream reads the parts of a file in order and compares the payload with its
// checksums. After an error it reads nothing more.
type stream struct {
	ctx    context.Context
	r      io.Reader
	name   string
	length int64 // of the file, as the header says
	at     int64 // bytes read
	err    error

	table []byte // checksums, once the payload has begun
	size  int64  // of the payload
	done  int64  // bytes of payload read
	crc   uint32 // of the block that done lies in
}

// begin says that the payload, of size bytes, comes next.
func (s *stream) begin(table []byte, size int64) { s.table, s.size = table, size }

// end checks that nothing follows.
func (s *stream) end() {
	if s.err != nil {
		return
	}
	switch _, err := io.ReadFull(s.r, make([]byte, 1)); {
	case err == nil:
		s.err = sparse.Inputf(s.name, "goes on after %d bytes, where its header says that it ends", s.length)
	case !errors.Is(err, io.EOF):
		s.err = err
	}
}

// fill reads all of b.
func (s *stream) fill(b []byte) {
	for len(b) > 0 && s.err == nil {
		if s.err = s.ctx.Err(); s.err != nil {
			return
		}
		// A piece ends where a block of the payload does.
		n := int(min(int64(len(b)), blockSize-s.done%blockSize))
		got, err := io.ReadFull(s.r, b[:n])
		s.at += int64(got)
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			s.err = sparse.Inputf(s.name, "ends after %d bytes, its header says %d: the file is truncated", s.at, s.length)
		case err != nil:
			s.err = err
		case s.table != nil:
			s.check(b[:n])
		}
		b = b[n:]
	}
}

// check adds b, which lies in one block, to the payload read.
func (s *stream) check(b []byte) {
	s.crc = crc32.Update(s.crc, castagnoli, b)
	s.done += int64(len(b))
	if s.done%blockSize != 0 && s.done != s.size {
		return
	}
	block := (s.done - 1) / blockSize
	if s.crc != binary.LittleEndian.Uint32(s.table[4*block:]) {
		s.err = blockError(s.name, block, s.size)
	}
	s.crc = 0
}

// perRead is how many elements are read at a time: 1 MiB at most.
const perRead = 1 << 17

// readArray reads n elements and the padding behind them.
func readArray[T mem.Elem](s *stream, n int64) []T {
	a := []T{}
	for have := int64(0); have < n && s.err == nil; have = int64(len(a)) {
		var err error
		if a, err = mem.Grow(a, min(n, have+perRead), n); err != nil {
			s.err = &sparse.InputError{Subject: s.name, Err: err}
			return nil
		}
		s.fill(mem.Bytes(a[have:]))
	}
	var padding [align]byte
	size := n * mem.Size[T]()
	s.fill(padding[:padded(size)-size])
	return a
}
