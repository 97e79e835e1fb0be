package cuda_test

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda"
)

// row matches a kernel in the table of README.md: its name with a description,
// parameters, block, and shared bytes.
var row = regexp.MustCompile("(?m)^\\| `(msrep_\\w+)`[^|]*\\| [^|]* \\| `([^|]*)` \\| (\\d+) \\| [^|]* \\| ([0-9/ ]+) \\|$")

// several matches eight parameters with the same name and numbers behind it.
var several = regexp.MustCompile(`(\w+)0 \.\.\. \w+7`)

func TestTheREADMEListsEveryKernelAsItIs(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	rows := map[string][]string{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		rows[m[1]] = m[2:]
	}
	mods, err := modules()
	require.NoError(t, err)
	used, formulas := map[string]bool{}, map[string]bool{}
	for _, f := range kernels.Formulas() {
		formulas["msrep_"+f.Kernel()] = true
	}
	for _, k := range cuda.Kernels() {
		if formulas[strings.TrimSuffix(k.Name, "_"+k.Value)] {
			require.Contains(t, string(text), "`msrep_FORMULA_V`")
			kernel, err := mods[k.Family].Kernel(k.Name)
			require.NoError(t, err)
			partial := slices.ContainsFunc(k.Params, func(p cuda.Param) bool { return p.Name == "partial" })
			require.Equal(t, map[bool]int64{true: 64, false: 0}[partial], kernel.StaticShared(), k.Name)
			require.Equal(t, 256, k.Block, k.Name)
			continue
		}
		name := regexp.MustCompile(`(vector)\d+`).ReplaceAllString(k.Name, "${1}L")
		name = regexp.MustCompile(`_\dof\d$`).ReplaceAllString(name, "_KofS")
		name = regexp.MustCompile(`_(join|norm1|divide|pick|rank)_\d$`).ReplaceAllString(name, "_${1}_S")
		if k.Value != "" {
			name = strings.TrimSuffix(name, k.Value) + "V"
		}
		r := rows[name]
		require.NotNil(t, r, name)
		used[name] = true
		require.Equal(t, strconv.Itoa(k.Block), r[1], name)

		shared := strings.Split(r[2], " / ")
		if k.Value == "f32" {
			shared = shared[len(shared)-1:]
		}
		kernel, err := mods[k.Family].Kernel(k.Name)
		require.NoError(t, err)
		require.Equal(t, strconv.FormatInt(kernel.StaticShared(), 10), shared[0], k.Name)

		var params []string
		for _, p := range k.Params {
			params = append(params, p.Name)
		}
		listed := several.ReplaceAllString(r[0], "${1}0, ${1}1, ${1}2, ${1}3, ${1}4, ${1}5, ${1}6, ${1}7")
		var names []string
		for p := range strings.SplitSeq(listed, ", ") {
			names = append(names, p[strings.LastIndex(p, " ")+1:])
		}
		require.Equal(t, params, names, k.Name)
	}
	require.Len(t, rows, len(used), "every row is a kernel")
}
