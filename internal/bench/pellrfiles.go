package bench

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/sparse"
)

// PELLRFiles lists the files in dir that may be matrices for the comparison, sorted by name: files of a known format
// with at most maxBytes. Larger files would be read only to be left out.
func PELLRFiles(dir string, maxBytes int64) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, &sparse.InputError{Subject: dir, Err: err}
	}
	var paths []string
	for _, e := range entries {
		known := slices.ContainsFunc([]string{".mtx", ".rb", ".rua", ".rsa", ".msr"}, func(ext string) bool {
			return strings.HasSuffix(strings.TrimSuffix(e.Name(), ".gz"), ext)
		})
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path) // follows links
		if err == nil && known && info.Mode().IsRegular() && info.Size() <= maxBytes {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// MatrixName returns a file name without its folder and without everything from the first dot on. A generator spec is
// returned unchanged.
func MatrixName(path string) string {
	if strings.HasPrefix(path, "gen:") {
		return path
	}
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return name
}
