package cuda

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed *.ptx
var files embed.FS

// Families is the names of the kernel families, sorted: one PTX module each.
func Families() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil // an embedded folder can be read
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".ptx"))
	}
	slices.Sort(names)
	return names
}

// PTX is the text of a family. It fails for a name that Families does not give.
func PTX(family string) (string, error) {
	b, err := files.ReadFile(family + ".ptx")
	if err != nil {
		return "", fmt.Errorf("kernels: there is no family %q, but %q", family, Families())
	}
	return string(b), nil
}
