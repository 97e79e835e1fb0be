package mtx_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/mtx"
)

func FuzzReadVector(f *testing.F) {
	for _, s := range []string{
		"%%MatrixMarket matrix array real general\n3 1\n1\n-2.5\nnan\n",
		"%%MatrixMarket matrix array integer general\n1 3\n1 2\n3\n",
		"%%MatrixMarket matrix coordinate real general\n5 1 2\n2 1 1e3\n4 1 7\n",
		"%%MatrixMarket matrix array real general\n99999999999 1\n1\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := mtx.ReadVector(context.Background(), bytes.NewReader(b), "x.mtx")
		if err != nil {
			require.True(t, sparse.IsInput(err), "%v", err)
			return
		}
		var out bytes.Buffer
		require.NoError(t, mtx.WriteVector(&out, v))
		again, err := mtx.ReadVector(context.Background(), &out, "y.mtx")
		require.NoError(t, err)
		require.Len(t, again, len(v))
		for i := range v {
			require.True(t, v[i] == again[i] || v[i] != v[i] && again[i] != again[i], "%v and %v", v[i], again[i])
		}
	})
}
