package main

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBytesOfEachNodeAreReported(t *testing.T) {
	for _, c := range []struct {
		args     []string
		on       bool
		nnz      int64
		leastMem int64
		x        string
	}{
		{[]string{"spmv", "gen:stencil:dims=2,n=100", "--devices", "cpu:2", "--numa", "on"}, true, 49600, 12 * 49600, "in place"},
		{[]string{"spmv", "gen:stencil:dims=2,n=100", "--devices", "cpu:2", "--numa", "off"}, false, 0, 2 * 8, "in place"},
		{[]string{"topo", "--devices", "cpu:2", "--numa", "on"}, true, 0, 0, ""},
		{[]string{"topo", "--devices", "cpu:2", "--numa", "off"}, false, 0, 0, ""},
	} {
		var stdout, stderr bytes.Buffer
		require.Zero(t, run(context.Background(), append(c.args, "--json", "--quiet"), &stdout, &stderr), "%s", stderr.String())
		require.Empty(t, stderr.String(), "--quiet also silences warnings")
		var r struct {
			NUMA numaReport `json:"numa"`
		}
		require.NoError(t, json.Unmarshal(stdout.Bytes(), &r))
		if c.on && !r.NUMA.On {
			t.Skip("fewer than one device per node here")
		}
		require.Equal(t, c.on, r.NUMA.On)
		require.Equal(t, c.x, r.NUMA.X)
		var nnz, held int64
		for _, n := range r.NUMA.Nodes {
			require.NotEmpty(t, n.Devices)
			require.LessOrEqual(t, n.PagesOnNode, n.Pages)
			nnz, held = nnz+n.NNZ, held+n.Bytes
		}
		require.Equal(t, c.nnz, nnz)
		require.GreaterOrEqual(t, held, c.leastMem)
	}
}
