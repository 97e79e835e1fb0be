package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInfoCountsWhatPartsExchange(t *testing.T) {
	// A band of three: each border between parts is crossed by one element each way.
	v := object(t, "info", "gen:banded:n=1000,band=1,density=1", "--partition", "4")
	p := v["partition"].(map[string]any)
	require.Equal(t, 4.0, p["parts"])
	orders := p["orders"].([]any)
	require.Len(t, orders, 3)
	for i, name := range []string{"file", "rcm", "partition"} {
		o := orders[i].(map[string]any)
		require.Equal(t, name, o["order"])
		require.Equal(t, 6.0, o["total"], name)
		require.Equal(t, 2.0, o["largest"], name)
		require.Equal(t, 1.0, o["ratio"], name)
		require.InDelta(t, 1, o["imbalance"], 0.03)
		var rows, nnz, sends, gets float64
		for _, q := range o["parts"].([]any) {
			part := q.(map[string]any)
			rows += part["rows"].(float64)
			nnz += part["nnz"].(float64)
			sends += part["sends"].(float64)
			gets += part["gets"].(float64)
		}
		require.Equal(t, []float64{1000, v["nnz"].(float64), 6, 6}, []float64{rows, nnz, sends, gets}, name)
	}
	require.NotContains(t, object(t, "info", "gen:diag:n=3"), "partition")

	text := runOK(t, "info", "gen:rmat:scale=8,edges=4", "--partition", "2")
	require.Contains(t, text, "elements of x that 2 devices receive in a product (computed)")
	require.Regexp(t, `\n   file +\d+ +\d+ +1\.0000 +\d\.\d{4}\n   rcm +\d+ +\d+ +\d\.\d{4} +\d\.\d{4}\n   partition +\d+ +\d+ +0\.\d{4} +\d\.\d{4}\n`, text)
}

func TestInfoRefusesBadNumbersOfParts(t *testing.T) {
	for _, c := range [][]string{{"info", "gen:diag:n=9", "--partition", "0"}, {"info", "gen:diag:n=9", "--partition", "-1"}, {"info", "gen:diag:n=9", "--partition", "1048577"}, {"info", "gen:diag:n=9", "--partition", "x"}} {
		code, _, stderr := runArgs(c...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, "partition")
	}
	code, _, stderr := runArgs("info", "gen:random:rows=3,cols=4,nnz=5", "--partition", "2")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "a square matrix is needed")
}
