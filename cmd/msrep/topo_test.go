package main

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/numa"
)

func TestTheLinksBetweenGPUsArePrintedAsAMatrix(t *testing.T) {
	var out bytes.Buffer
	printPeers(&out, nil)
	require.Empty(t, out.String())
	printPeers(&out, []msrep.PeerLink{
		{From: "cuda:1", To: "cuda:0", Kind: "nvlink", Copies: "direct", Reads: true},
		{From: "cuda:2", To: "cuda:0", Kind: "none", Copies: "driver", Via: "cuda:1", Why: "no access"},
		{From: "cuda:0", To: "cuda:1", Kind: "pcie", Rank: 1, Copies: "host", Why: "copies lose data"},
		{From: "cuda:2", To: "cuda:1", Kind: "nvlink", Copies: "direct"},
		{From: "cuda:0", To: "cuda:2", Kind: "none", Copies: "driver", Why: "no access"},
		{From: "cuda:1", To: "cuda:2", Kind: "none", Copies: "driver", Why: "no access"},
	})
	require.Equal(t, `peers      from cuda:0   cuda:1            cuda:2
to cuda:0  -             nvlink(0) direct  none driver or via cuda:1
to cuda:1  pcie(1) host  -                 nvlink(0) copies only
to cuda:2  none driver   none driver       -
to cuda:0: no access (from cuda:2)
to cuda:1: copies lose data (from cuda:0)
to cuda:2: no access (from cuda:0, cuda:1)
`, out.String())
}

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

func TestSharesOfUnequalGPUsAreReported(t *testing.T) {
	topo := &numa.Topology{Nodes: []numa.Node{{ID: 0}}}
	r := topology{Topology: topo, bandwidth: map[string]float64{"cuda:0": 3e12, "cuda:2": 1e12}, CUDA: &nvidia.Status{
		GPUs: []nvidia.GPU{{}, {Ordinal: 2}}, Unusable: []nvidia.Unusable{{Ordinal: 1, Why: "too old"}}}}
	r.addShares([]numa.DevicePlace{{ID: "cuda:0", Weight: 32}, {ID: "cuda:2", Weight: 11}})
	var b bytes.Buffer
	require.NoError(t, r.print(&b))
	require.Contains(t, b.String(), "device cuda:0  node 0  share 32/43 of the nonzeros, memory 3000 GB/s\n")
	require.Contains(t, b.String(), "device cuda:2  node 0  share 11/43 of the nonzeros, memory 1000 GB/s\n")
	require.Contains(t, b.String(), "cuda:1  cannot be used: too old\n")
	out, err := json.Marshal(r)
	require.NoError(t, err)
	require.Contains(t, string(out), `{"id":"cuda:2","node":0,"share":"11/43","detail":{"device":1,"node":0,"first":32,"num":11,"den":43,"node_first":0,"node_num":43},"bandwidth":1000000000000}`)
}
