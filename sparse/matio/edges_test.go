package matio

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func TestEdgeListsAreReadWithTheirIDs(t *testing.T) {
	csv, tsv := "source,target\nb,a\na,\"c,d\"\n", "source\ttarget\nb\ta\na\tc,d\n"
	for path, content := range map[string][]byte{
		"g.csv": []byte(csv), "g.csv.gz": gzipped(t, []byte(csv)), "g.CSV.zst": zstandard(t, []byte(csv)),
		"g.tsv": []byte(tsv), "g.tsv.zst": zstandard(t, []byte(tsv)),
	} {
		path := write(t, path, content)
		m, err := Read(ctx, path)
		require.NoError(t, err, path)
		require.Equal(t, EdgeList, m.FileFormat)
		require.Equal(t, []string{"b", "a", "c,d"}, m.Names)
		require.Nil(t, m.IDs)
		e, err := ReadEdges(ctx, path, EdgeOptions{})
		require.NoError(t, err, path)
		require.Equal(t, m.Names, e.IDs)
		require.Equal(t, m.CSR, e.Matrix)
		require.Equal(t, m.Source, e.Source)
	}
}

func TestReadEdgesReadsAnyName(t *testing.T) {
	for name, content := range map[string]string{
		"list":     "x y 2\ny z 3\n",
		"list.txt": "# Nodes: 3 Edges: 2\nx\ty\t2\ny\tz\t3\n",
		"list.ssv": "x;y;2\ny;z;3\n",
	} {
		e, err := ReadEdges(ctx, write(t, name, []byte(content)), EdgeOptions{Weighted: true})
		require.NoError(t, err, name)
		require.Equal(t, []string{"x", "y", "z"}, e.IDs, name)
		require.Equal(t, []float64{2, 3}, e.Matrix.Val, name)
		require.Equal(t, sparse.Real, e.Source.Field)
	}
}

func TestOptionsOfEdgeListsReachThem(t *testing.T) {
	path := write(t, "g.csv", []byte("source|target|2\na|b|3\n"))
	opt := EdgeOptions{Separator: '|', Header: HeaderAbsent, Weighted: true}
	m, err := Read(ctx, path, WithEdges(opt))
	require.NoError(t, err)
	require.Equal(t, []string{"source", "target", "a", "b"}, m.Names)
	require.Equal(t, []float64{2, 3}, m.Val)
	e, err := ReadEdges(ctx, path, opt)
	require.NoError(t, err)
	require.Equal(t, m.CSR, e.Matrix)
}

func TestReadEdgesRefusesOtherFiles(t *testing.T) {
	for _, ext := range []string{".mtx", ".msr", ".npz", ".rb", ".bin"} {
		path := write(t, "m"+ext, content(t, ext))
		_, err := ReadEdges(ctx, path, EdgeOptions{})
		requireInput(t, err, path, "not an edge list: read it with Read")
	}
	for name, text := range map[string]string{"g.csv": "a,b\nc\n", "cut.csv.gz": string(gzipped(t, []byte("a,b\nb,c\n"))[:20]), "empty.csv": "", "one.csv": "a\n"} {
		path := write(t, name, []byte(text))
		_, err := ReadEdges(ctx, path, EdgeOptions{})
		requireInput(t, err, path, "")
		_, err = Read(ctx, path)
		requireInput(t, err, path, "")
	}
	_, err := ReadEdges(ctx, "", EdgeOptions{})
	require.True(t, sparse.IsInput(err))
	var none context.Context
	_, err = ReadEdges(none, "g.csv", EdgeOptions{})
	require.True(t, sparse.IsInput(err))
	_, err = ReadEdges(ctx, write(t, "g.csv", []byte("a,b\n")), EdgeOptions{Separator: '#'})
	require.True(t, sparse.IsInput(err))
	done, cancel := context.WithCancel(ctx)
	cancel()
	_, err = ReadEdges(done, write(t, "g.csv", []byte("a,b\n")), EdgeOptions{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestEdgeListsWithIDsAreNotWritten(t *testing.T) {
	for _, name := range []string{"g.csv", "g.tsv.gz"} {
		_, err := Create(name)
		requireInput(t, err, name, "are only read: write an edge list to a file .txt")
	}
}
