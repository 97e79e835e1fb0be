// Package numatest provides sysfs trees of other machines for tests.
//
// Each tree is stored in one text file numa/testdata/NAME.txt, because the names of PCI
// folders hold colons, which module zips and some file systems refuse. A line is one of
//
//	path = content
//	path -> target of a symbolic link
//	# comment
//
// In a path, {0-3,8} stands for each of 0, 1, 2, 3 and 8, and {06,0a} for each of the
// words. A link creates the folder that it leads to, so later lines can write through the
// link.
package numatest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/msrep-go/msrep/internal/corpus"
)

// Machines lists the names of the trees.
var Machines = []string{"amd-4node", "cloud-vm", "dgx1", "memory-only-node", "node-unknown", "summit", "uneven"}

// Tree writes the tree of a machine into a temporary folder and returns that folder, the
// root for numa.Discover.
func Tree(t testing.TB, machine string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(corpus.Root(), "numa", "testdata", machine+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return Write(t, string(text))
}

// Write writes a tree given as text into a temporary folder and returns that folder.
func Write(t testing.TB, text string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("PCI folders have colons in their names")
	}
	root := t.TempDir()
	for i, line := range strings.Split(text, "\n") {
		if err := writeLine(root, strings.TrimSpace(line)); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
	}
	return root
}

func writeLine(root, line string) error {
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	if path, target, ok := strings.Cut(line, " -> "); ok {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Join(filepath.Dir(path), target), 0o755); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.Symlink(target, path)
	}
	pattern, content, ok := strings.Cut(line, " =")
	if !ok {
		return fmt.Errorf("%q is neither path = content nor path -> target", line)
	}
	for _, path := range expand(pattern) {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(strings.TrimSpace(content)+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// expand expands the braces of a path, from left to right, and returns every path that
// results.
func expand(path string) []string {
	before, rest, ok := strings.Cut(path, "{")
	words, after, closed := strings.Cut(rest, "}")
	if !ok || !closed {
		return []string{path}
	}
	var out []string
	for _, word := range strings.Split(words, ",") {
		for _, w := range numbers(word) {
			out = append(out, expand(before+w+after)...)
		}
	}
	return out
}

// numbers returns 0, 1, 2, 3 for 0-3, and any other word as it is.
func numbers(word string) []string {
	lo, hi, _ := strings.Cut(word, "-")
	first, err1 := strconv.Atoi(lo)
	last, err2 := strconv.Atoi(hi)
	if err1 != nil || err2 != nil {
		return []string{word}
	}
	var out []string
	for n := first; n <= last; n++ {
		out = append(out, strconv.Itoa(n))
	}
	return out
}
