package mem

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree writes files below a new folder.
func tree(t *testing.T, files map[string]string) string {
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return root
}

func TestTheLeastRoomOfAllControlGroupsCounts(t *testing.T) {
	const v1, v2 = "sys/fs/cgroup/memory", "sys/fs/cgroup"
	for name, c := range map[string]struct {
		files map[string]string
		want  []int64
	}{
		"version 2, inner and outer": {map[string]string{
			"proc/self/cgroup":          "0::/job/step\n",
			v2 + "/job/step/memory.max": "max\n", v2 + "/job/step/memory.current": "5\n",
			v2 + "/job/memory.max": "1000000\n", v2 + "/job/memory.current": "400000\n",
			v2 + "/job/memory.stat": "anon 300000\ninactive_anon 7\ninactive_file 90000\nactive_file 10000\n",
		}, []int64{700000 - 125000}},
		"version 2, limits at each level": {map[string]string{
			"proc/self/cgroup":          "1:name=systemd:/other\n0::/job/step\n",
			v2 + "/job/step/memory.max": "3000\n", v2 + "/job/step/memory.current": "1000\n",
			v2 + "/job/memory.max": "5000\n", v2 + "/job/memory.current": "9000\n",
		}, []int64{2000 - 375, 0}},
		"version 2, in a container": {map[string]string{
			"proc/self/cgroup": "0::/\n",
			v2 + "/memory.max": "4096\n", v2 + "/memory.current": "96\n",
		}, []int64{4000 - 512}},
		"version 1, path of the host": {map[string]string{
			"proc/self/cgroup":             "9:cpu,cpuacct:/docker/a\n4:memory:/docker/a\n",
			v1 + "/memory.limit_in_bytes":  "8000\n",
			v1 + "/memory.usage_in_bytes":  "6000\n",
			v1 + "/memory.stat":            "inactive_file 1\ntotal_inactive_file 300\ntotal_active_file 200\ntotal_cache 7000\n",
			v2 + "/docker/a/memory.max":    "1\n",
			v2 + "/docker/memory.max":      "1\n",
			v1 + "/other/memory.max":       "1\n",
			v1 + "/docker/b/memory.max":    "1\n",
			v1 + "/docker/b/memory.limits": "1\n",
		}, []int64{2500 - 1000}},
		"version 2, an eighth is kept back": {map[string]string{
			"proc/self/cgroup":         "0::/a/b/c\n",
			v2 + "/a/memory.max":       "2147483648\n", // 2 GiB
			v2 + "/a/b/memory.max":     "1099511627776\n",
			v2 + "/a/b/memory.current": "1099000000000\n",
			v2 + "/a/b/c/memory.max":   "800\n", v2 + "/a/b/c/memory.current": "701\n",
		}, []int64{0, 1<<40 - 1099e9 - 256<<20, 2<<30 - 256<<20}},
		"version 1, no limit": {map[string]string{
			"proc/self/cgroup":            "4:memory:/a\n",
			v1 + "/memory.limit_in_bytes": "9223372036854771712\n", v1 + "/a/memory.limit_in_bytes": "9223372036854771712\n",
		}, nil},
		"none":    {nil, nil},
		"strange": {map[string]string{"proc/self/cgroup": "\n0\n0::/a\n", v2 + "/a/memory.max": "much\n", v2 + "/memory.max": "-1"}, nil},
	} {
		var got []int64
		for _, g := range groupsIn(tree(t, c.files)) {
			got = append(got, g.room())
		}
		require.Equal(t, c.want, got, name)
	}
}
