package bench

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/sparse"
)

// PELLRFiles lists the files in dir that may be matrices for the comparison: those of
// a known format and of at most maxBytes, which keeps larger ones from being read only
// to be passed over. They are in the order of their names.
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
		info, err := os.Stat(path) // of what a link points to
		if err == nil && known && info.Mode().IsRegular() && info.Size() <= maxBytes {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// MatrixName is the name of a file without its folder and what follows the first dot,
// or a generator spec as it is.
func MatrixName(path string) string {
	if strings.HasPrefix(path, "gen:") {
		return path
	}
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return name
}
