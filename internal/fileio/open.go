// Package fileio opens input files, plain, compressed by gzip or zstd, or in tar archives,
// and writes output files that appear under their name only when they are complete.
package fileio

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/msrep-go/msrep/sparse"
)

// These are the values of File.Packing.
const (
	Gzip = "gzip"
	Zstd = "zstd"
)

// File is an open input file. Reads return its decompressed content.
type File struct {
	Name    string // as passed to Open
	Size    int64  // bytes on disk
	Packing string // how the content is compressed, according to its first bytes: Gzip, Zstd or "" for plain content
	Entry   string // file within the tar archive whose content is read; "" if it is not an archive

	r      io.Reader
	f      *os.File
	packed *counter      // counts the bytes read from f
	zstd   *zstd.Decoder // nil unless Packing is Zstd
}

// Open opens a regular file or a pipe for reading. The content of a tar archive, which
// may be compressed, is that of the matrix in it (see enterTar). Errors are
// *sparse.InputError.
func Open(path string) (*File, error) {
	if path == "" {
		return nil, sparse.Inputf("path", "is empty: name a file")
	}
	f, err := os.Open(path)
	if path == "-" && errors.Is(err, fs.ErrNotExist) {
		return nil, sparse.Inputf(path, "no such file or directory: standard input is /dev/stdin")
	}
	if err != nil {
		return nil, openError(path, err)
	}
	st, err := f.Stat()
	if err == nil && st.IsDir() {
		err = sparse.Inputf(path, "is a directory; a file is needed")
	}
	if err != nil {
		f.Close()
		if sparse.IsInput(err) {
			return nil, err
		}
		return nil, openError(path, err)
	}
	file := &File{Name: path, Size: st.Size(), f: f}
	if err = file.start(); err == nil && (file.Packing != "" || st.Mode().IsRegular()) {
		err = file.enterTar()
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// start starts decompression at the current position of the underlying file.
func (f *File) start() error {
	f.packed = &counter{Reader: f.f}
	in := bufio.NewReaderSize(f.packed, 1<<16)
	magic, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return openError(f.Name, err)
	}
	f.closeZstd()
	switch f.r = in; {
	case isGzip(magic):
		z, err := newMembers(in)
		if err != nil {
			return sparse.Inputf(f.Name, "damaged gzip header: %v", err)
		}
		f.Packing, f.r = Gzip, &unpacked{Reader: z, name: f.Name, packed: f.packed}
	case isZstd(magic):
		if f.zstd, err = newZstd(in, f.Size); err != nil {
			return zstdError(f.Name, err)
		}
		f.Packing, f.r = Zstd, &unpacked{Reader: f.zstd, name: f.Name, packed: f.packed}
	}
	return nil
}

// Read reads decompressed bytes. Damaged or truncated compressed content gives an
// *sparse.InputError, and so does content that unpacks to more than UnpackRatio and
// UnpackFree allow.
func (f *File) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && err != io.EOF {
		err = f.readError(err)
	}
	return n, err
}

// readError returns err, the error of a read, as an *sparse.InputError.
func (f *File) readError(err error) error {
	gzipped := f.Packing == Gzip
	switch {
	case sparse.IsInput(err):
		return err
	case gzipped && errors.Is(err, io.ErrUnexpectedEOF):
		return sparse.Inputf(f.Name, "gzip content ends early: the file is truncated")
	case gzipped && errors.Is(err, gzip.ErrHeader):
		return sparse.Inputf(f.Name, "other bytes follow the end of the gzip content: unpack the file with gzip, which ignores them")
	case f.Packing == Zstd && !errors.Is(err, tar.ErrHeader):
		return zstdError(f.Name, err)
	case isTarError(err):
		return sparse.Inputf(f.Name, "the tar archive is damaged or ends early: %v", err)
	case gzipped:
		return sparse.Inputf(f.Name, "damaged gzip content: %v", err)
	}
	return openError(f.Name, err)
}

// Title returns the name of the content for errors: the file, and the file within it if
// it is an archive.
func (f *File) Title() string {
	if f.Entry == "" {
		return f.Name
	}
	return f.Name + " (" + f.Entry + ")"
}

// Plain reports whether the file on disk is the content itself: a regular file, neither
// compressed nor an archive.
func (f *File) Plain() bool {
	st, err := f.f.Stat()
	return err == nil && st.Mode().IsRegular() && f.Packing == "" && f.Entry == ""
}

// Packed returns the number of bytes of the file on disk that were read so far.
func (f *File) Packed() int64 { return f.packed.n }

// OS returns the underlying file, for readers that map it. Use it only if Plain.
func (f *File) OS() *os.File { return f.f }

// Close closes the file.
func (f *File) Close() error {
	f.closeZstd()
	return f.f.Close()
}

func (f *File) closeZstd() {
	if f.zstd != nil {
		f.zstd.Close()
	}
}

func openError(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &sparse.InputError{Subject: path, Err: err}
}
