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

// Read reads an .msr file from a stream into memory, for content that is gzipped or comes
// through a pipe. It compares checksums while it reads, and checks the indices at the
// end.
//
// Memory grows with the bytes that arrive, whatever size the header declares. Its peak is
// at most 1.5 times the matrix. A file that needs more memory than is available is
// refused, in most cases before its arrays are read. lim limits the dimensions. name
// stands for the file in errors, which are *sparse.InputError if the content is wrong.
// Other errors of r are returned unchanged, and so is the error of ctx if it ends first.
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

// stream reads the parts of a file in order and compares the payload with its checksums.
// After an error it reads nothing.
type stream struct {
	ctx    context.Context
	r      io.Reader
	name   string
	length int64 // length of the file according to the header
	at     int64 // bytes read
	err    error

	table []byte // checksums; nil before the payload
	size  int64  // size of the payload
	done  int64  // bytes of payload read
	crc   uint32 // checksum of the current chunk up to done
}

// begin starts the payload of size bytes.
func (s *stream) begin(table []byte, size int64) { s.table, s.size = table, size }

// end checks that the file ends here.
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
		// A read ends at the end of a chunk of the payload.
		n := int(min(int64(len(b)), chunkSize-s.done%chunkSize))
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

// check adds b, which is within one chunk, to the checksum, and compares it at the end of
// the chunk.
func (s *stream) check(b []byte) {
	s.crc = crc32.Update(s.crc, castagnoli, b)
	s.done += int64(len(b))
	if s.done%chunkSize != 0 && s.done != s.size {
		return
	}
	chunk := (s.done - 1) / chunkSize
	if s.crc != binary.LittleEndian.Uint32(s.table[4*chunk:]) {
		s.err = chunkError(s.name, chunk, s.size)
	}
	s.crc = 0
}

// perRead is the number of elements that are read at a time: at most 1 MiB.
const perRead = 1 << 17

// readArray reads n elements and the padding after them.
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
