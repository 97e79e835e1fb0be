package matio

import (
	"context"
	"io"
	"strings"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/npz"
	"github.com/msrep-go/msrep/sparse/mtx"
)

// ReadVector reads the vector at path: a Matrix Market file (see mtx.ReadVector), or an .npy file as numpy.save writes it,
// of one dimension, one column or one row. The content tells which it is. Either may be compressed by gzip.
//
// Errors are those of Read.
func ReadVector(ctx context.Context, path string) ([]float64, sparse.Source, error) {
	if err := given.Context(ctx); err != nil {
		return nil, sparse.Source{}, err
	}
	f, err := fileio.Open(path)
	if err != nil {
		return nil, sparse.Source{}, err
	}
	defer f.Close()
	in, head, err := peek(f, "a vector")
	if err != nil {
		return nil, sparse.Source{}, err
	}
	if err := checkPacking(head, path); err != nil {
		return nil, sparse.Source{}, err
	}
	inner := path
	if f.Entry != "" {
		inner = f.Entry
	}
	switch {
	case strings.HasPrefix(string(head), npz.Magic), IsNPY(inner) && !mtx.HasBanner(head):
		return npz.ReadVector(ctx, in, f.Title())
	case byContent(head, inner) == NPZ:
		return nil, sparse.Source{}, sparse.Inputf(f.Title(), "is an .npz archive: a vector is read from a .mtx or .npy file")
	}
	return mtx.ReadVectorSource(ctx, in, f.Title())
}

// IsNPY reports whether the name of a file ends in .npy, with or without .gz or .zst.
func IsNPY(path string) bool { return extension(path) == ".npy" }

// WriteVector writes v to w: as an .npy file of float64 if IsNPY(path), else as a Matrix Market array. Errors are those of
// w. WriteVector does not compress.
func WriteVector(w io.Writer, path string, v []float64) error {
	if IsNPY(path) {
		return npz.WriteVector(w, v)
	}
	return mtx.WriteVector(w, v)
}
