package fileio

import (
	"os"
	"path/filepath"
)

// target returns the path of the file that path refers to, with symbolic links at its end
// resolved. The system resolves the folders of the path, so ".." after a link to a folder
// is the parent of the linked folder; path/filepath would remove both names.
func target(path string) string {
	for range 40 {
		link, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(link) {
			link = folder(path) + link
		}
		path = link
	}
	return path
}

// folder returns path without its last name: "" or a text that ends in a separator.
func folder(path string) string {
	dir, _ := filepath.Split(path)
	return dir
}

// Inside returns the path of name in the folder dir. Unlike filepath.Join, it does not
// resolve ".." in dir, because the name before it may be a link.
func Inside(dir, name string) string {
	if dir == "" || os.IsPathSeparator(dir[len(dir)-1]) {
		return dir + name
	}
	return dir + string(filepath.Separator) + name
}
