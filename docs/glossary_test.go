package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
)

// TestTheOperationsInTheGlossaryAreInTheCode looks for every name of the table of operations in the files of its layer.
func TestTheOperationsInTheGlossaryAreInTheCode(t *testing.T) {
	text := readFile(t, filepath.Join(corpus.Root(), "docs", "glossary.md"))
	_, table, found := strings.Cut(text, "| operation |")
	require.True(t, found)
	layers := []string{"", "solver", "msrep", "kernels", "", "kernels/internal/cuda"} // of the columns
	code := map[string]string{}
	for _, dir := range []string{"solver", "solver/internal/space", "msrep", "kernels", "kernels/internal/cuda", "kernels/cpu/internal/form/csr", "internal/vec"} {
		files, err := filepath.Glob(filepath.Join(corpus.Root(), filepath.FromSlash(dir), "*"))
		require.NoError(t, err)
		for _, f := range files {
			if strings.HasSuffix(f, ".go") || strings.HasSuffix(f, ".ptx") {
				code[strings.TrimSuffix(dir, "/internal/space")] += readFile(t, f)
			}
		}
	}
	names := 0
	for _, row := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(strings.Trim(row, "| "), " |")
		if len(cells) != len(layers) {
			continue
		}
		for i, cell := range cells[1:] {
			pkg := ""
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
				dir, name := layers[i+1], m[1]
				if p, rest, ok := strings.Cut(name, "."); ok && dir == "" {
					pkg, name = p, rest
				}
				if dir == "" {
					dir = map[string]string{"csr": "kernels/cpu/internal/form/csr", "vec": "internal/vec"}[pkg]
				}
				_, method, ok := strings.Cut(name, ".")
				if ok {
					name = method
				}
				pattern := `\b` + strings.ReplaceAll(regexp.QuoteMeta(name), `\*`, `\w+`) + `(_f64)?\b`
				require.True(t, regexp.MustCompile(pattern).MatchString(code[dir]), "%s in %s", name, dir)
				names++
			}
		}
	}
	require.Greater(t, names, 40)
}
