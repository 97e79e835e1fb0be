package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
)

// object runs a command and returns its JSON as a map.
func object(t *testing.T, args ...string) map[string]any {
	t.Helper()
	var v map[string]any
	require.NoError(t, json.Unmarshal([]byte(runOK(t, append(args, "--json")...)), &v))
	return v
}

func requireKeys(t *testing.T, v any, keys string) {
	t.Helper()
	for _, k := range strings.Split(keys, ",") {
		require.Contains(t, v, k)
	}
}

func TestSpmvKeepsTheNamesOfItsJSONAndWhatTheyMean(t *testing.T) {
	// The matrix is 3 x 3 with rows of 2, 0 and 2 entries. Each of 2 devices gets two entries; 4 devices split rows.
	path := filepath.Join(t.TempDir(), "tiny.mtx")
	require.NoError(t, os.WriteFile(path, []byte(head+"3 3 4\n1 1 1\n1 2 2\n3 1 3\n3 3 4\n"), 0o600))
	v := object(t, "spmv", path, "--devices", "cpu:4", "--repeat", "3")
	requireKeys(t, v, "matrix,format,strategy,devices,phases,gflops,bytes_per_nnz,imbalance,y")
	require.Equal(t, map[string]any{"name": "tiny", "rows": 3.0, "cols": 3.0, "nnz": 4.0}, v["matrix"])
	require.Equal(t, "csr", v["format"])
	require.Equal(t, "p-opt", v["strategy"])
	require.Equal(t, 1.0, v["imbalance"])
	require.Equal(t, (4*12.0+4*8+6*8)/4, v["bytes_per_nnz"], "12 nnz + 8 (m+1) + 8 n + 8 m")
	requireKeys(t, v["y"], "norm1,norm2,sum")
	require.Equal(t, 10.0, v["y"].(map[string]any)["norm1"])
	want := []struct {
		first, last, idx float64
		flag             bool
	}{{0, 0, 0, false}, {0, 0, 1, true}, {1, 2, 2, false}, {2, 2, 3, true}}
	kernel := 0.0
	for i, d := range v["devices"].([]any) {
		d := d.(map[string]any)
		requireKeys(t, d, "id,kind,name,threads,numa_node,nnz,first_row,last_row,start_idx,end_idx,start_flag,kernel_s")
		require.Equal(t, []any{"cpu:" + string(rune('0'+i)), "cpu", 1.0, want[i].first, want[i].last, want[i].idx, want[i].idx, want[i].flag},
			[]any{d["id"], d["kind"], d["nnz"], d["first_row"], d["last_row"], d["start_idx"], d["end_idx"], d["start_flag"]}, "device %d", i)
		kernel = max(kernel, d["kernel_s"].(float64))
	}
	require.Len(t, v["devices"], 4)
	requireKeys(t, v["phases"], "read_s,partition_s,distribute_s,kernel_s,merge_s,total_s")
	p := v["phases"].(map[string]any)
	require.Greater(t, kernel, 0.0)
	require.Greater(t, p["read_s"], 0.0)
	require.Greater(t, p["total_s"], p["read_s"])
	sum := p["product_s"].(float64)
	for _, once := range []string{"read_s", "convert_s", "partition_s", "pack_s"} {
		sum += p[once].(float64)
	}
	require.InDelta(t, sum+p["distribute_s"].(float64)/2, p["total_s"], p["distribute_s"].(float64)/2+1e-12, "including the copy of the matrix to the devices")
	require.InEpsilon(t, 2*4/p["product_s"].(float64)/1e9, v["gflops"], 1e-9)
}

func TestInfoKeepsTheNamesOfItsJSON(t *testing.T) {
	v := object(t, "info", corpus.Testdata("memplus.mtx.gz"))
	requireKeys(t, v, "rows,cols,nnz,stored,field,symmetry,row,empty_rows,empty_cols,power_law_R,bandwidth,formats,recommended")
	requireKeys(t, v["row"], "min,max,mean,stddev")
	requireKeys(t, v["recommended"], "format,why")
	requireKeys(t, v["formats"], "csr,csc,coo,ell,ellr,pellr")
	requireKeys(t, v["formats"].(map[string]any)["ellr"], "bytes,padding,warp_iterations,work")
	require.Equal(t, "real", v["field"])
	require.Equal(t, "general", v["symmetry"])
}

func TestValuesThatAreNotNumbersAreNullInJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inf.mtx")
	require.NoError(t, os.WriteFile(path, []byte(head+"1 1 1\n1 1 inf\n"), 0o600))
	require.Nil(t, object(t, "spmv", path)["y"].(map[string]any)["norm1"])
}

func TestListsWithoutElementsAreEmptyInJSON(t *testing.T) {
	run, root := writeRecord(t, 1), t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "sys/devices/system/cpu"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, "sys/devices/system/cpu/online"), []byte("0\n"), 0o600))
	for _, c := range []struct {
		lists string
		args  []string
	}{
		{"gpus,links", []string{"topo", "--sysfs", root}},
		{"only_before,only_after", []string{"bench", "compare", run, run}},
	} {
		v := object(t, c.args...)
		for _, name := range strings.Split(c.lists, ",") {
			require.Equal(t, []any{}, v[name], "%s of %v", name, c.args)
		}
	}
	v := object(t, "info", "gen:diag:n=3", "--explain", "--devices", "cpu:1")
	require.Equal(t, []any{}, v["explain"].([]any)[0].(map[string]any)["tried"])
}

func TestThreadsAreSharedByTheDevices(t *testing.T) {
	defer restoreProcs()()
	for _, command := range []string{"spmv", "solve", "pagerank"} {
		v := object(t, command, "gen:stencil:n=3", "--devices", "cpu:2", "--threads", "3")
		var threads []any
		for _, d := range v["devices"].([]any) {
			threads = append(threads, d.(map[string]any)["threads"])
		}
		require.ElementsMatch(t, []any{1.0, 2.0}, threads, command)
	}
}

func TestNormsOfLongVectorsLoseNothing(t *testing.T) {
	y := slices.Repeat([]float64{1e16, 1, -1e16, 1}, 1000)
	require.Equal(t, number(2000), normsOf(y).Sum)
	require.InEpsilon(t, 5e300, float64(normsOf([]float64{3e300, 4e300}).Norm2), 1e-15)
	require.InEpsilon(t, 5e-300, float64(normsOf([]float64{3e-300, -4e-300}).Norm2), 1e-15)
	tiny := math.SmallestNonzeroFloat64
	require.Equal(t, norms{7 * number(tiny), 5 * number(tiny), number(-tiny)}, normsOf([]float64{3 * tiny, -4 * tiny}))
	require.Equal(t, norms{}, normsOf([]float64{}))
}
