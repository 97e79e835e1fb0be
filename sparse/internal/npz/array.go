package npz

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/saturate"
	"github.com/msrep-go/msrep/sparse"
)

// array is an open array of an archive whose header has been read.
type array struct {
	*header
	file string // name of the archive
	name string // name of the array, with .npy; "" if it is the file
	r    io.ReadCloser
}

// open opens an array, reads its header, and checks that its size is that in the header.
func (a *archive) open(key string) (*array, error) {
	f := a.member[key]
	if f == nil {
		return nil, sparse.Inputf(a.name, "the array %s is missing: it holds %s", clip(key), list(a.arrays))
	}
	x := &array{file: a.name, name: clip(key) + ".npy"}
	if f.Flags&1 != 0 {
		return nil, x.fail(errors.New("is encrypted, which is not supported"))
	}
	r, err := f.Open()
	if err != nil {
		if errors.Is(err, zip.ErrAlgorithm) {
			err = fmt.Errorf("is compressed by method %d: only stored (0) and deflated (8) arrays are supported", f.Method)
		}
		return nil, x.fail(err)
	}
	x.r = r
	if x.header, err = readHeader(r); err != nil {
		r.Close()
		return nil, x.fail(err)
	}
	if want := uint64(x.size) + uint64(x.bytes()); f.UncompressedSize64 != want {
		r.Close()
		return nil, x.fail(fmt.Errorf("holds %d bytes where its header (shape %v, type %s) makes %d", f.UncompressedSize64, x.shape, x.dtype.name, want))
	}
	if a.unpacked = saturate.Add(a.unpacked, x.bytes()); f.Method != zip.Store && fileio.UnpacksTooFar(a.unpacked, a.size) {
		r.Close()
		return nil, x.fail(fmt.Errorf("unpacks to %d bytes, with the arrays before it more than %d MiB and %d times the %d bytes of the archive: save the matrix uncompressed if it is right", x.bytes(), fileio.UnpackFree>>20, fileio.UnpackRatio, a.size))
	}
	return x, nil
}

// fail returns an error that names the array.
func (x *array) fail(err error) error {
	if sparse.IsInput(err) {
		return err
	}
	switch {
	case errors.Is(err, zip.ErrChecksum):
		err = errors.New("does not match its checksum: the file is damaged")
	case errors.Is(err, zip.ErrFormat), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		err = errors.New("ends early: the file is truncated or damaged")
	}
	return &sparse.InputError{Subject: x.file, Msg: x.name, Err: err}
}

func (x *array) failf(format string, args ...any) error {
	return x.fail(fmt.Errorf(format, args...))
}

// read reads all items of x and closes it. decode converts bytes to len(to) items; the
// first is item k of the array.
func read[T mem.Elem](ctx context.Context, x *array, decode func(to []T, b []byte, k int64) error) ([]T, error) {
	defer x.r.Close()
	const bufferSize = 1 << 18
	items, size := x.items(), int64(x.dtype.size)
	buf := make([]byte, min(items*size, bufferSize/size*size))
	all := []T{}
	for done := int64(0); done < items; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(items-done, int64(len(buf))/size)
		if _, err := io.ReadFull(x.r, buf[:n*size]); err != nil {
			return nil, x.fail(err)
		}
		var err error
		if all, err = mem.Grow(all, done+n, items); err != nil {
			return nil, x.fail(err)
		}
		if err := decode(all[done:], buf[:n*size], done); err != nil {
			return nil, x.fail(err)
		}
		done += n
	}
	if err := x.finish(); err != nil {
		return nil, err
	}
	return all, nil
}

// finish checks that no data follow the items. The zip reader verifies the checksum at
// that point.
func (x *array) finish() error {
	n, err := io.Copy(io.Discard, x.r)
	if err == nil && n > 0 {
		err = errors.New("holds more than its header says")
	}
	if err != nil {
		return x.fail(err)
	}
	return nil
}

// indices reads an array of integers in [0, limit). what names them in errors.
func (x *array) indices(ctx context.Context, what string, limit int64) ([]int32, error) {
	d := x.dtype
	return read(ctx, x, func(to []int32, b []byte, k int64) error {
		for i := range to {
			v := d.int(b[i*d.size:])
			if uint64(v) >= uint64(limit) {
				return badIndex(k+int64(i), v, what, limit)
			}
			to[i] = int32(v)
		}
		return nil
	})
}

func badIndex(at, v int64, what string, limit int64) error {
	return fmt.Errorf("item %d is %d: a %s must be from 0 to %d", at, v, what, limit-1)
}

// ints reads an array of any integers.
func (x *array) ints(ctx context.Context) ([]int64, error) {
	return read(ctx, x, func(to []int64, b []byte, _ int64) error {
		for i := range to {
			to[i] = x.dtype.int(b[i*x.dtype.size:])
		}
		return nil
	})
}

// pointers reads an array of integers in ascending order, beginning with 0.
func (x *array) pointers(ctx context.Context) ([]int64, error) {
	d, last := x.dtype, int64(0)
	return read(ctx, x, func(to []int64, b []byte, k int64) error {
		for i := range to {
			v := d.int(b[i*d.size:])
			switch at := k + int64(i); {
			case at == 0 && v != 0:
				return fmt.Errorf("begins with %d: it must begin with 0", v)
			case v < last:
				return fmt.Errorf("item %d falls from %d to %d: pointers must never fall", at, last, v)
			}
			to[i], last = v, v
		}
		return nil
	})
}

// values reads an array of numbers.
func (x *array) values(ctx context.Context) ([]float64, error) {
	return read(ctx, x, func(to []float64, b []byte, _ int64) error {
		x.dtype.floats(to, b)
		return nil
	})
}
