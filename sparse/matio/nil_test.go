package matio

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/internal/bincsr"
	"github.com/msrep-go/msrep/sparse/internal/hb"
	"github.com/msrep-go/msrep/sparse/internal/npz"
	"github.com/msrep-go/msrep/sparse/internal/snap"
	"github.com/msrep-go/msrep/sparse/msr"
	"github.com/msrep-go/msrep/sparse/mtx"
)

func TestNilContextsReadersAndWritersAreRefused(t *testing.T) {
	m, src, err := gen.Generate("diag:n=3")
	require.NoError(t, err)
	var none context.Context
	var lim sparse.Limits
	type matrix = *sparse.CSR[float64]
	for _, read := range []func(ctx context.Context, r *os.File) (matrix, sparse.Source, error){
		func(ctx context.Context, r *os.File) (matrix, sparse.Source, error) {
			return bincsr.Read(ctx, r, "f", lim)
		},
		func(ctx context.Context, r *os.File) (matrix, sparse.Source, error) { return hb.Read(ctx, r, "f", lim) },
		func(ctx context.Context, r *os.File) (matrix, sparse.Source, error) {
			return msr.Read[float64](ctx, r, "f", lim)
		},
		func(ctx context.Context, r *os.File) (matrix, sparse.Source, error) {
			return mtx.Read(ctx, r, "f", lim)
		},
		func(ctx context.Context, r *os.File) (matrix, sparse.Source, error) {
			return npz.Read(ctx, r, 9, "f", "", lim)
		},
		func(ctx context.Context, r *os.File) (matrix, sparse.Source, error) {
			return snap.Read(ctx, r, "f", lim)
		},
	} {
		f, err := os.Open(os.DevNull)
		require.NoError(t, err)
		_, _, err = read(none, f)
		requireInput(t, err, "ctx: is nil")
		require.NoError(t, f.Close())
		_, _, err = read(ctx, nil)
		requireInput(t, err, "reader: is nil")
	}
	_, err = mtx.ReadVector(ctx, nil, "f")
	requireInput(t, err, "reader: is nil")
	_, err = msr.ReadHeader(nil, "f")
	requireInput(t, err, "reader: is nil")
	_, err = npz.Groups(nil, 9)
	requireInput(t, err, "reader: is nil")
	for _, write := range []func(w io.Writer) error{
		func(w io.Writer) error { return bincsr.Write(w, m) },
		func(w io.Writer) error { return hb.Write(w, m, src) },
		func(w io.Writer) error { return msr.Write(w, m, src) },
		func(w io.Writer) error { return mtx.Write(w, m, src) },
		func(w io.Writer) error { return mtx.WriteVector(w, m.Val) },
		func(w io.Writer) error { return npz.Write(w, m) },
		func(w io.Writer) error { return snap.Write(w, m, src) },
	} {
		requireInput(t, write(nil), "writer: is nil")
		requireInput(t, write((*os.File)(nil)), "writer: is nil")
	}

	path := filepath.Join(t.TempDir(), "m.msr")
	require.NoError(t, Write(path, m, src))
	_, err = Read(none, path)
	requireInput(t, err, "ctx: is nil")
	_, err = msr.Open[float64](none, path)
	requireInput(t, err, "ctx: is nil")
	requireInput(t, msr.VerifyPart(none, path, 0, 1), "ctx: is nil")
	_, err = mtx.ReadPart(none, path, 0, 1, lim)
	requireInput(t, err, "ctx: is nil")
	_, _, err = gen.GenerateContext(none, "diag:n=3", 0)
	requireInput(t, err, "ctx: is nil")
}

func TestCloseOfNilDoesNothing(t *testing.T) {
	require.NoError(t, (*Matrix)(nil).Close())
	require.NoError(t, (*Output)(nil).Close())
	require.NoError(t, (*msr.File[float64])(nil).Close())
	requireInput(t, (*Output)(nil).Write(nil, sparse.Source{}), "was not made by Create")
}
