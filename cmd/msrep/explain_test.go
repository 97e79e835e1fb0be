package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
)

func TestInfoSaysWhichNumbersAreOfAModelAndWhichAreMeasured(t *testing.T) {
	out := runOK(t, "info", "gen:stencil:dims=2,n=100", "--devices", "cpu:1", "--threads", "1", "--explain")
	model, measured, found := strings.Cut(out, "forms that a plan would use, with measured times:\n")
	require.True(t, found)
	require.Contains(t, model, "formats, nothing measured (warp iterations and work: PELLR paper, equations 1 and 2; docs/formats.md)\n  format ")
	require.Contains(t, model, "recommended by the model: sell, which devices call slices: ")
	require.Contains(t, model, "\n  for a GPU: ell, ")
	require.Regexp(t, `csr +product \S+, made in 0s, in place`, measured)
	require.Contains(t, measured, "at most 0.2 bytes for each entry, by a sample", "one value for each diagonal")
}

func TestTheFormsThatWereTriedStandInColumns(t *testing.T) {
	var b bytes.Buffer
	printExplanation(&call{stdout: &b}, []explanation{{Device: "cpu:0", Form: "diagonals", Bytes: 8,
		Tried: []tried{{Form: kernels.FormCSR}, {Form: "diagonals", Bytes: 8}, {Form: "tiles", Skipped: "x"}}}})
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Len(t, lines, 5)
	require.Contains(t, lines[1], "; 8 bytes, found in ")
	at := strings.Index(lines[2], "product ")
	require.Contains(t, lines[2], ", in place (")
	require.Contains(t, lines[3], ", 8 bytes (")
	require.Equal(t, at, strings.Index(lines[3], "product "))
	require.Equal(t, at, strings.Index(lines[4], "not timed: x"))
}

func TestSpmvSaysThatBytesAreThoseOfCSRWhereAFormStoresOthers(t *testing.T) {
	spmv := []string{"spmv", "gen:stencil:dims=2,n=20", "--devices", "cpu:1", "--format"}
	require.Regexp(t, `GFLOP/s  \S+ GB/s of 17\.0 bytes per nonzero\n`, runOK(t, append(spmv, "csr")...))
	require.Regexp(t, `GFLOP/s  \S+ GB/s if it were in CSR \(17\.0 bytes per nonzero\)\n`, runOK(t, append(spmv, "diagonals")...))
}
