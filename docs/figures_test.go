// Package docs has no code: its tests make the figures of the project's pages again.
package docs

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
)

var update = flag.Bool("update", false, "write figures that are stale into the pages")

// A figure stands between two comments, in a line of text or in lines of its own:
//
//	<!--=NAME-->1.37<!--/-->
//
// NAME is a key of generators.
var marked = regexp.MustCompile(`(?s)<!--=([a-z0-9-]+)-->(.*?)<!--/-->`)

// TestFiguresInThePagesAreNotStale makes each figure that does not depend on time or the
// machine again, and compares. With -update it writes what it made:
//
//	go test ./docs -update
func TestFiguresInThePagesAreNotStale(t *testing.T) {
	used := map[string]bool{}
	for _, page := range pages(t) {
		for _, m := range marked.FindAllStringSubmatch(readFile(t, page), -1) {
			require.Contains(t, generators, m[1], "%s has a figure that nobody makes", page)
			used[m[1]] = true
		}
	}
	names := make([]string, 0, len(generators))
	for name := range generators {
		require.True(t, used[name], "no page has the figure %s", name)
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			made := generators[name](t)
			for _, page := range pages(t) {
				text := readFile(t, page)
				fresh := replaceFigure(text, name, made)
				if fresh == text {
					continue
				}
				if !*update {
					t.Errorf("%s: figure %s is stale: go test ./docs -update writes\n%s", page, name, made)
					continue
				}
				require.NoError(t, os.WriteFile(page, []byte(fresh), 0o644))
			}
		})
	}
}

// replaceFigure puts a figure into a page. A figure of several lines begins and ends with
// a line break.
func replaceFigure(text, name, made string) string {
	if strings.Contains(made, "\n") {
		made = "\n" + strings.TrimSuffix(made, "\n") + "\n"
	}
	return marked.ReplaceAllStringFunc(text, func(whole string) string {
		if m := marked.FindStringSubmatch(whole); m[1] != name {
			return whole
		}
		return "<!--=" + name + "-->" + made + "<!--/-->"
	})
}

func TestAStaleFigureIsReplaced(t *testing.T) {
	text := "It is <!--=a-->1<!--/--> or <!--=b-->2<!--/-->.\n<!--=c-->\n| x |\n<!--/-->\n"
	require.Equal(t, text, replaceFigure(text, "a", "1"))
	require.Equal(t, strings.Replace(text, "->2<", "->3<", 1), replaceFigure(text, "b", "3"))
	require.Equal(t, text, replaceFigure(text, "c", "| x |\n"))
	require.Equal(t, strings.Replace(text, "| x |", "| y |\n| z |", 1), replaceFigure(text, "c", "| y |\n| z |\n"))
}

// pages are the project's pages of text.
func pages(t *testing.T) (all []string) {
	err := filepath.WalkDir(corpus.Root(), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != corpus.Root() && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case filepath.Ext(path) == ".md":
			all = append(all, path)
		}
		return nil
	})
	require.NoError(t, err)
	return all
}

func readFile(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}
