package docs

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
)

// TestPatternsOfTestNamesMatchTests looks at the patterns after -run and -skip in the documents, and in the scripts of .ci:
// every alternative must match the name of a test, so that a renamed test is not skipped or forgotten silently.
func TestPatternsOfTestNamesMatchTests(t *testing.T) {
	var names []string
	function := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)\w*)`)
	err := filepath.WalkDir(corpus.Root(), func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			for _, m := range function.FindAllStringSubmatch(readFile(t, path), -1) {
				names = append(names, m[1])
			}
		}
		return err
	})
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(corpus.Root(), "docs", "*.md"))
	require.NoError(t, err)
	scripts, err := filepath.Glob(filepath.Join(corpus.Root(), ".ci", "*"))
	require.NoError(t, err)
	files = append(append(files, scripts...), filepath.Join(corpus.Root(), "README.md"))
	patterns := regexp.MustCompile(` (?:-run|-skip|-bench) '?([\w|^$]+)|(?m:^(?:computing|simulated)\+?='\|?([\w|]+)')`)
	checked := 0
	for _, path := range files {
		for _, m := range patterns.FindAllStringSubmatch(readFile(t, path), -1) {
			for _, word := range strings.Split(m[1]+m[2], "|") {
				if word = strings.Trim(word, "^$"); word == "" {
					continue
				}
				found := false
				for _, n := range names {
					found = found || strings.Contains(n, word)
				}
				require.True(t, found, "%s: no test has %q in its name", filepath.Base(path), word)
				checked++
			}
		}
	}
	require.Greater(t, checked, 30)
}
