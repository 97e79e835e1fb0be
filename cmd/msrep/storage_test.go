package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAChoiceIsSavedAndUsed(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "choice")
	const matrix = "gen:stencil:n=40"
	first := object(t, "spmv", matrix, "--repeat", "100", "--devices", "cpu:2", "--threads", "2", "--save-choice", file)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Regexp(t, `^msrep-choice rows=1600 cols=1600 nnz=7840 values=float64 cpu/1=\S+ cpu/1=\S+\n$`, string(text))
	again := filepath.Join(dir, "again")
	second := object(t, "spmv", matrix, "--devices", "cpu:2", "--threads", "2", "--choice", file, "--save-choice", again)
	require.Equal(t, first["y"], second["y"])
	same, err := os.ReadFile(again)
	require.NoError(t, err)
	require.Equal(t, string(text), string(same))

	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	mine := filepath.Join(dir, "mine.mtx")
	require.NoError(t, os.WriteFile(mine, []byte(head+"1 1 1\n1 1 1\n"), 0o600))
	for want, args := range map[string][]string{
		"choice: is for other devices":  {matrix, "--devices", "cpu:1", "--choice", file},
		"choice: is for another matrix": {"gen:stencil:n=41", "--devices", "cpu:2", "--choice", file},
		"choice: names the forms":       {matrix, "--format", "csr", "--choice", file},
		"empty: is empty":               {matrix, "--choice", empty},
		"no such file":                  {matrix, "--choice", filepath.Join(dir, "none")},
		"is the matrix":                 {mine, "--save-choice", mine},
		"is the file of --out":          {matrix, "--out", again, "--save-choice", again},
		"none/choice":                   {matrix, "--save-choice", filepath.Join(dir, "none", "choice")},
	} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, exitUsage, run(context.Background(), append([]string{"spmv"}, args...), &stdout, &stderr), "%v: %s", args, stderr.String())
		require.Contains(t, stderr.String(), want)
		require.Empty(t, stdout.String())
	}
}
