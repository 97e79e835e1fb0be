package gen

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShortNamesGiveTheirGenerators(t *testing.T) {
	for name, long := range map[string]string{
		"delaunay:n=30":           "planar:kind=delaunay,n=30",
		"rgg:n=30,seed=5":         "planar:kind=rgg,n=30,seed=5",
		"road:nx=20,ny=10":        "planar:kind=road,nx=20,ny=10",
		"web:n=500,nnz=3k":        "chunglu:n=500,nnz=3k,local=0.7",
		"gene:n=300,nnz=9k":       "chunglu:n=300,nnz=9k,r=0.9,longest=100",
		"gene:n=300,nnz=9k,r=2":   "chunglu:n=300,nnz=9k,r=2,longest=100",
		"delaunay:n=9,value=ones": "planar:n=9,value=ones",
	} {
		a, _, err := Generate(name)
		require.NoError(t, err)
		b, _, err := Generate(long)
		require.NoError(t, err)
		require.Equal(t, b, a, name)
	}
	_, _, err := Generate("delaunay:kind=rgg")
	require.ErrorContains(t, err, "no parameter")
}
