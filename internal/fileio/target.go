package fileio

import (
	"os"
	"path/filepath"
)

// target is the path of the file that path stands for, symbolic links at its end followed. The
// system resolves what stands before the last name, so that ".." behind a link to a folder means
// the parent of that folder: path/filepath would drop both names.
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

// folder is all of path up to its last name: "" or a text that ends in a separator.
func folder(path string) string {
	dir, _ := filepath.Split(path)
	return dir
}

// Inside is the path of name in the folder dir. Unlike filepath.Join it leaves ".." in dir to the
// system, which may find a link before it.
func Inside(dir, name string) string {
	if dir == "" || os.IsPathSeparator(dir[len(dir)-1]) {
		return dir + name
	}
	return dir + string(filepath.Separator) + name
}
