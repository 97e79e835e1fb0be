package matio

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/source"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/npz"
)

// readNPZ reads a zip file, which needs random access: gzipped content and the content of
// a pipe are copied to a temporary file first.
func (m *Matrix) readNPZ(ctx context.Context, f *fileio.File, in io.Reader, group string, o options) (err error) {
	defer func() {
		if err == nil {
			m.noteLargeIntegers()
		}
	}()
	if f.Plain() {
		m.CSR, m.Source, err = npz.Read(ctx, f.OS(), f.Size, f.Name, group, o.limits)
		return err
	}
	tmp, err := os.CreateTemp("", "msrep-*.npz")
	if err != nil {
		return fmt.Errorf("%s: cannot be unpacked: %w", f.Name, err)
	}
	os.Remove(tmp.Name()) // an open file needs no name, except on Windows
	defer func() {
		tmp.Close()
		os.Remove(tmp.Name())
	}()
	size, err := unpack(ctx, tmp, in, f)
	if err == nil && f.Packing == fileio.Gzip {
		err = checkMembers(tmp, size, f)
	}
	if err != nil {
		return err
	}
	m.CSR, m.Source, err = npz.Read(ctx, tmp, size, f.Title(), group, o.limits)
	return err
}

// noteLargeIntegers sets the field to real if integers may have been rounded: from 2^53
// on float64 does not hold all integers.
func (m *Matrix) noteLargeIntegers() {
	large := func(v float64) bool { return math.Abs(v) >= 1<<53 }
	if m.Source.Field == sparse.Integer && slices.ContainsFunc(m.Val, large) {
		m.Source.Field = sparse.Real
		source.AddNote(&m.Source, "integers from 2^53 on are rounded to the nearest float64: the field is real")
	}
}

// unpack copies all content to w.
func unpack(ctx context.Context, w io.Writer, in io.Reader, f *fileio.File) (size int64, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return size, err
		}
		n, err := io.CopyN(w, in, 4<<20)
		size += n
		switch {
		case err == io.EOF:
			return size, nil
		case err != nil && !sparse.IsInput(err):
			return size, fmt.Errorf("%s: cannot be unpacked: %w", f.Name, err)
		case err != nil:
			return size, err
		}
	}
}

// checkMembers refuses an archive from within f that would unpack beyond the limits on
// memory.
func checkMembers(archive io.ReaderAt, size int64, f *fileio.File) error {
	z, err := zip.NewReader(archive, size)
	if err != nil {
		return nil // npz.Read reports the error
	}
	var all uint64
	for _, m := range z.File {
		all = min(all+min(m.UncompressedSize64, math.MaxInt64/2), math.MaxInt64/2)
	}
	if fileio.UnpacksTooFar(int64(all), f.Packed()) {
		return sparse.Inputf(f.Name, "holds an archive that unpacks to more than %d times its size and %d MiB: unpack it by hand if it is right", fileio.UnpackRatio, fileio.UnpackFree>>20)
	}
	return nil
}
