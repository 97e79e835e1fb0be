package simd

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChooseTakesOnlyLevelsOfTheProcessor(t *testing.T) {
	amd64, arm64 := []Level{Generic, AVX2}, []Level{Generic, NEON}
	for _, c := range []struct {
		name   string
		levels []Level
		want   Level
		err    string
	}{
		{"", amd64, AVX2, ""},
		{"generic", amd64, Generic, ""},
		{"avx2", amd64, AVX2, ""},
		{"avx512", amd64, AVX2, "MSREP_CPU=avx512: this processor has generic and avx2"},
		{"neon", amd64, AVX2, "MSREP_CPU=neon: this processor has generic and avx2"},
		{"", arm64, NEON, ""},
		{"neon", arm64, NEON, ""},
		{"avx2", arm64, NEON, "MSREP_CPU=avx2: this processor has generic and neon"},
		{"neon", []Level{Generic}, Generic, "MSREP_CPU=neon: this processor has generic"},
		{"sse", amd64, AVX2, "MSREP_CPU=sse: use generic, neon, avx2 or avx512"},
	} {
		got, err := choose(c.name, c.levels)
		require.Equal(t, c.want, got, c.name)
		if c.err == "" {
			require.NoError(t, err, c.name)
		} else {
			require.EqualError(t, err, c.err)
		}
	}
}

func TestLevelsAscendFromGeneric(t *testing.T) {
	levels := Levels()
	require.Equal(t, Generic, levels[0])
	require.IsIncreasing(t, append([]Level{-1}, levels...))
	require.Equal(t, levels[len(levels)-1], Best())
}
