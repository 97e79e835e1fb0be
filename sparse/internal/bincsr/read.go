package bincsr

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// Read reads a matrix from r. Entries keep the order of the file, so the columns of a row
// may be unsorted. Zeros are kept.
//
// Memory grows with the bytes that arrive, whatever sizes the file declares; lim limits
// the dimensions. name stands for the file in errors. Content that is truncated, too long
// or not a matrix gives an *sparse.InputError. Other errors of r are returned unchanged,
// and so is the error of ctx if it ends first.
func Read(ctx context.Context, r io.Reader, name string, lim sparse.Limits) (*sparse.CSR[float64], sparse.Source, error) {
	if err := given.Input(ctx, r); err != nil {
		return nil, sparse.Source{}, err
	}
	f := &file{ctx: ctx, r: r, name: name}
	head := readArray[int64](f, 3)
	if f.err != nil {
		return nil, sparse.Source{}, f.err
	}
	rows, cols, nnz := head[0], head[1], head[2]
	if err := lim.CheckDims(name, 0, rows, cols, nnz); err != nil {
		return nil, sparse.Source{}, err
	}
	if nnz < 0 || nnz > maxEntries {
		return nil, sparse.Source{}, sparse.Inputf(name, "%d nonzeros: must be 0 to %d (the file begins with rows, columns and nonzeros, 8 bytes each)", nnz, int64(maxEntries))
	}
	if err := lim.CheckMemory(name, 0, rows, nnz, sparse.EntryBytes); err != nil {
		return nil, sparse.Source{}, err
	}
	f.length = fileSize(rows, nnz)
	m := &sparse.CSR[float64]{Rows: int(rows), Cols: int(cols)}
	m.RowPtr = readArray[int64](f, rows+1)
	m.ColIdx = readArray[int32](f, nnz)
	m.Val = readArray[float64](f, nnz)
	f.end()
	if f.err != nil {
		return nil, sparse.Source{}, f.err
	}
	if err := m.Validate(); err != nil {
		var in *sparse.InputError
		if errors.As(err, &in) {
			in.Subject = name
		}
		return nil, sparse.Source{}, err
	}
	return m, sparse.Source{Field: sparse.Real, Symmetry: sparse.General, Stored: nnz}, nil
}

const (
	headSize   = 3 * 8
	maxEntries = math.MaxInt64 / 32 // keeps every size below 2^63
)

// fileSize returns the length of a file in bytes.
func fileSize(rows, nnz int64) int64 { return headSize + 8*(rows+1) + (4+8)*nnz }

// file reads the arrays of a file in order. After an error it reads nothing.
type file struct {
	ctx    context.Context
	r      io.Reader
	name   string
	length int64 // length of the file in bytes, 0 until it is known
	at     int64 // bytes read
	err    error
}

// fill reads all of b.
func (f *file) fill(b []byte) {
	if f.err = f.ctx.Err(); f.err != nil {
		return
	}
	n, err := io.ReadFull(f.r, b)
	f.at += int64(n)
	switch short := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); {
	case short && f.length == 0:
		f.err = sparse.Inputf(f.name, "ends after %d bytes: binary CSR begins with rows, columns and nonzeros, 8 bytes each", f.at)
	case short:
		f.err = sparse.Inputf(f.name, "ends after %d bytes, its first numbers ask for %d: the file is truncated, or no binary CSR", f.at, f.length)
	default:
		f.err = err
	}
}

// end checks that the file ends here.
func (f *file) end() {
	if f.err != nil {
		return
	}
	switch _, err := io.ReadFull(f.r, make([]byte, 1)); {
	case err == nil:
		f.err = sparse.Inputf(f.name, "goes on after %d bytes, where its first numbers say that it ends", f.length)
	case !errors.Is(err, io.EOF):
		f.err = err
	}
}

// piece is the number of items that are read at a time: at most 512 KiB.
const piece = 1 << 16

// readArray reads n numbers.
func readArray[T int64 | int32 | float64](f *file, n int64) []T {
	a, size := []T{}, mem.Size[T]()
	buf := make([]byte, size*min(n, piece))
	for have := int64(0); have < n && f.err == nil; have = int64(len(a)) {
		b := buf[:size*min(n-have, piece)]
		if f.fill(b); f.err != nil {
			return nil
		}
		var err error
		if a, err = mem.Grow(a, have+int64(len(b))/size, n); err != nil {
			f.err = &sparse.InputError{Subject: f.name, Err: err}
			return nil
		}
		_, f.err = binary.Decode(b, binary.LittleEndian, a[have:])
	}
	return a
}
