package hb

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
)

// FuzzRead: for any bytes, Read returns a valid matrix, which Write and Read preserve, or
// an InputError.
func FuzzRead(f *testing.F) {
	f.Add([]byte(small().String()))
	f.Add([]byte(with(func(f *file) { f.kind = "rsa 3 3 2 0"; f.body = []string{"   1   2   2   3", "  2  3", " 1.0+1  .5-2"} })))
	f.Add([]byte(with(func(f *file) {
		f.kind = "pza 3 3 1 0"
		f.counts = "2 1 1 0"
		f.body = []string{"   1   2   2   2", "  2"}
	})))
	f.Add([]byte(with(func(f *file) { f.formats = "(4I4) (5I3) (-2P,2(1X,F9.2))" })))
	f.Add([]byte(with(func(f *file) {
		f.counts += " 1"
		f.formats += "(3E10.3)"
		f.body = append([]string{"F 1 0"}, f.body...)
	})))
	f.Fuzz(func(t *testing.T, text []byte) {
		lim := sparse.Limits{EmptyLines: 1 << 12}
		m, src, err := Read(context.Background(), bytes.NewReader(text), "fuzz", lim)
		if err != nil {
			require.True(t, sparse.IsInput(err), "%v", err)
			return
		}
		require.NoError(t, m.Validate())
		var b bytes.Buffer
		require.NoError(t, Write(&b, m, src))
		again, _, err := Read(context.Background(), &b, "written", sparse.Limits{EmptyLines: -1})
		require.NoError(t, err)
		matrixtest.SameText(t, m, again)
	})
}
