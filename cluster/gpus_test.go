package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRanksOfAHostShareItsGPUs(t *testing.T) {
	// gpus returns GPUs 0 to n-1; the rank may use CPUs near GPUs first to last.
	gpus := func(n, first, last int) (out []near) {
		for i := range n {
			out = append(out, near{string(rune('a' + i)), first <= i && i <= last, i})
		}
		return out
	}
	for name, c := range map[string]struct {
		ranks []place
		want  [][]int
	}{
		"one rank per host": {
			[]place{{"h0", "", gpus(4, 0, 3)}, {"h1", "", gpus(4, 0, 3)}},
			[][]int{{0, 1, 2, 3}, {0, 1, 2, 3}},
		},
		"unbound": {
			[]place{{"h0", "", gpus(4, 0, 3)}, {"h0", "", gpus(4, 0, 3)}, {"h0", "", gpus(4, 0, 3)}},
			[][]int{{0}, {1}, {2, 3}},
		},
		"one per NUMA node": {
			[]place{{"h0", "0", gpus(8, 0, 3)}, {"h0", "1", gpus(8, 4, 7)}, {"h1", "0", gpus(8, 0, 3)}},
			[][]int{{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}},
		},
		"two per NUMA node, in turn": {
			[]place{{"h0", "0", gpus(4, 0, 1)}, {"h0", "1", gpus(4, 2, 3)}, {"h0", "0", gpus(4, 0, 1)}, {"h0", "1", gpus(4, 2, 3)}},
			[][]int{{0}, {2}, {1}, {3}},
		},
		"more ranks than GPUs": {
			[]place{{"h0", "", gpus(2, 0, 1)}, {"h0", "", gpus(2, 0, 1)}, {"h0", "", gpus(2, 0, 1)}, {"h0", "", gpus(2, 0, 1)}},
			[][]int{{0}, {1}, {0}, {1}},
		},
		"nodes that are not known, or have none": {
			[]place{{"h0", "", gpus(2, 9, 9)}, {"h0", "", gpus(2, 9, 9)}},
			[][]int{{0}, {1}},
		},
		"one rank, bound to a node that has half of them": {
			[]place{{"h0", "0", gpus(4, 0, 1)}},
			[][]int{{0, 1, 2, 3}},
		},
		"two ranks on one node, GPUs on two": {
			[]place{{"h0", "0", gpus(4, 0, 1)}, {"h0", "0", gpus(4, 0, 1)}},
			[][]int{{0, 1}, {2, 3}},
		},
		"one per NUMA node, GPUs on every other": {
			[]place{{"h0", "0", gpus(4, 9, 9)}, {"h0", "1", gpus(4, 0, 1)}, {"h0", "2", gpus(4, 9, 9)}, {"h0", "3", gpus(4, 2, 3)}},
			[][]int{{1}, {0}, {3}, {2}},
		},
		"each sees its own already": {
			[]place{{"h0", "", []near{{"a", true, 0}}}, {"h0", "", []near{{"b", true, 0}}}},
			[][]int{{0}, {0}},
		},
		"GPU 0 is unusable": {
			[]place{{"h0", "", []near{{"b", true, 1}, {"c", true, 2}}}, {"h0", "", []near{{"b", true, 1}, {"c", true, 2}}}},
			[][]int{{1}, {2}},
		},
		"no GPUs": {[]place{{"h0", "", nil}, {"h0", "", nil}}, [][]int{nil, nil}},
	} {
		for r, want := range c.want {
			require.Equal(t, want, shareOfGPUs(c.ranks, r), "%s, rank %d", name, r)
		}
	}
	require.Equal(t, "cuda:0,2", devicesOf([]int{0, 2}))
	require.Empty(t, visibleGPUs("cuda:1"))
	require.Empty(t, visibleGPUs("sim:2"))
}
