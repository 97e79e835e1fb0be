// Package corpus finds the real matrices that tests use: a few in testdata/, which are
// always present, and the large collection in a folder named shared beside the project
// (or in the folder MSREP_SHARED), which may be absent.
package corpus

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Root returns the folder of the project: the first with go.mod in or above the folder in
// which a test begins. It is right even if the tests were built elsewhere.
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

// Shared returns the path of a file below the shared folder. It skips the test if the
// file is absent.
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

// Testdata returns the path of a file in testdata/.
func Testdata(elem ...string) string {
	return filepath.Join(append([]string{Root(), "testdata"}, elem...)...)
}

// Table reads a tab-separated file with a header line. It returns one map per row, with
// the column names as keys.
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
