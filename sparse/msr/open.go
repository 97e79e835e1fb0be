package msr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// File is an open .msr file whose arrays are used in place.
//
// The file must not change while it is open. As with every mapped file, if a program
// shortens it, later reads of the arrays end the process, except in plans and products
// (they return a *sparse.InputError). Replacing the file by renaming another one to its name is safe.
type File[V sparse.Value] struct {
	m   *sparse.CSR[V]
	src sparse.Source

	mu    sync.Mutex
	unmap func() error // nil after Close
}

// Open maps the file at path into memory, read-only, and checks its checksums and indices
// (see SkipChecksums, SkipIndexCheck). On systems without mapping it reads the file into
// memory.
//
// V must be the type of the file's values, which Peek returns. A file that is damaged, of
// another value type, gzipped, or not a regular file gives an *sparse.InputError. If ctx
// ends first, Open returns its error.
func Open[V sparse.Value](ctx context.Context, path string, opts ...Option) (*File[V], error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	if err := checkByteOrder(path); err != nil {
		return nil, err
	}
	f, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // the mapping remains valid
	h, tableSum, err := readHeader(io.NewSectionReader(f, 0, HeaderSize), path)
	if err != nil {
		return nil, nameError(path, err)
	}
	if err := checkType[V](h, path); err != nil {
		return nil, err
	}
	if err := checkLength(h, size, path); err != nil {
		return nil, err
	}
	data, unmap, err := mapFile(f, size)
	if err != nil {
		return nil, nameError(path, err)
	}
	m, err := load[V](ctx, h, tableSum, data, path, o)
	if err != nil {
		unmap()
		return nil, err
	}
	return &File[V]{m: m, src: h.Source, unmap: unmap}, nil
}

// Matrix returns the matrix. Its arrays are in the mapped file, each at a multiple of 64
// bytes. They must not be written, and not be used after Close.
func (f *File[V]) Matrix() *sparse.CSR[V] { return f.m }

// Source returns the origin of the matrix.
func (f *File[V]) Source() sparse.Source { return f.src }

// Close unmaps the file. Further calls do nothing.
func (f *File[V]) Close() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unmap == nil {
		return nil
	}
	err := f.unmap()
	f.unmap = nil
	return err
}

// load checks the whole content of a file, whose length is that in h, and returns a
// matrix that uses its arrays.
func load[V sparse.Value](ctx context.Context, h Header, tableSum uint32, data []byte, name string, o options) (*sparse.CSR[V], error) {
	l := layoutOf(h)
	if !o.skipChecksums {
		table := data[HeaderSize:l.payload]
		if err := verifyTable(table, tableSum, name); err != nil {
			return nil, err
		}
		if err := (payload{data[l.payload:]}).verify(ctx, table, name); err != nil {
			return nil, err
		}
	}
	at := l.payload
	next := func(n int64) []byte {
		b := data[at : at+n : at+n]
		at += padded(n)
		return b
	}
	ptr, ok1 := mem.Slice[int64](next(l.ptr), int64(h.Rows)+1)
	idx, ok2 := mem.Slice[int32](next(l.idx), h.NNZ)
	val, ok3 := mem.Slice[V](next(l.val), h.NNZ)
	if !ok1 || !ok2 || !ok3 { // cannot happen: systems map whole pages
		return nil, fmt.Errorf("%s: mapped at an address that is not a multiple of %d", name, align)
	}
	m := &sparse.CSR[V]{Rows: h.Rows, Cols: h.Cols, RowPtr: ptr, ColIdx: idx, Val: val}
	if !o.skipIndices {
		if err := m.Validate(); err != nil {
			return nil, nameError(name, err)
		}
	}
	return m, ctx.Err()
}

func checkType[V sparse.Value](h Header, name string) error {
	if want := valueType[V](); h.ValueType != want {
		return sparse.Inputf(name, "holds %s values, not %s", h.ValueType, want)
	}
	return nil
}

func checkLength(h Header, size int64, name string) error {
	switch {
	case size < h.Length:
		return sparse.Inputf(name, "is %d bytes long, its header says %d: the file is truncated", size, h.Length)
	case size > h.Length:
		return sparse.Inputf(name, "is %d bytes long, its header says %d: there are bytes after its end", size, h.Length)
	}
	return nil
}

// openRegular opens a regular file. It refuses other kinds of files before opening them,
// because opening a pipe waits for its writer.
func openRegular(path string) (*os.File, int64, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, 0, nameError(path, err)
	}
	switch {
	case st.IsDir():
		return nil, 0, sparse.Inputf(path, "is a directory; an .msr file is needed")
	case !st.Mode().IsRegular():
		return nil, 0, sparse.Inputf(path, "is not a regular file: it cannot be mapped, but it can be read as a stream")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, nameError(path, err)
	}
	if st, err = f.Stat(); err != nil {
		f.Close()
		return nil, 0, nameError(path, err)
	}
	return f, st.Size(), nil
}

// nameError returns err as an *sparse.InputError that names the file.
func nameError(name string, err error) error {
	var in *sparse.InputError
	if errors.As(err, &in) {
		return &sparse.InputError{Subject: name, Line: in.Line, Msg: in.Msg, Err: in.Err}
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &sparse.InputError{Subject: name, Err: err}
}
