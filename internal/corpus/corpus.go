// Package corpus finds the real matrices that tests use: a few in testdata/,
// which always run, and the large collection in a folder named shared beside
// the project (or where MSREP_SHARED points), which may be absent.
package corpus

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Root is the project's own folder, also where its tests were built elsewhere: the first
// with go.mod above the one in which a test begins.
func Root() string { return root }

var root = func() string {
	dir, _ := os.Getwd()
	for {
		up := filepath.Dir(dir)
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || up == dir {
			return dir
		}
		dir = up
	}
}()

// Shared is the path of a file below the shared folder; the test is skipped
// where it is absent.
func Shared(t testing.TB, elem ...string) string {
	t.Helper()
	dir := os.Getenv("MSREP_SHARED")
	if dir == "" {
		dir = filepath.Join(filepath.Dir(Root()), "shared")
	}
	path := filepath.Join(append([]string{dir}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the shared matrices are not here: %v", err)
	}
	return path
}

// Testdata is the path of a file in testdata/.
func Testdata(elem ...string) string {
	return filepath.Join(append([]string{Root(), "testdata"}, elem...)...)
}

// Table reads a tab-separated file with a header line: one map a row, by column name.
func Table(t testing.TB, path string) []map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 2 {
		t.Fatalf("%s has no rows", path)
	}
	var out []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, name := range rows[0] {
			if i < len(row) {
				m[strings.TrimSpace(name)] = row[i]
			}
		}
		out = append(out, m)
	}
	return out
}
