package given

import (
	"bytes"
	"context"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func TestNilIsFoundInInterfacesAndPointers(t *testing.T) {
	var none io.Writer
	var file *os.File
	require.NoError(t, Check("a", io.Discard, "b", &bytes.Buffer{}, "c", 0))
	for _, v := range []any{none, file, (*bytes.Buffer)(nil), nil} {
		err := Check("a", io.Discard, "b", v)
		require.EqualError(t, err, "b: is nil")
		require.True(t, sparse.IsInput(err))
	}
	var missing context.Context
	require.EqualError(t, Input(missing, file), "ctx: is nil: use context.Background()")
	require.EqualError(t, Input(t.Context(), file), "reader: is nil")
}
