package cuda

import (
	"embed"
	"fmt"
	"regexp"
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

// PTXFor is PTX for GPUs of a compute capability, such as 9.0. Before 8.6 kernels take more
// registers: as many blocks as newer GPUs have at work would keep some of them in memory.
func PTXFor(family string, capability float64) (string, error) {
	text, err := PTX(family)
	if capability < 8.6 && (family == "csr_vector" || family == "csr_merge") {
		text = resident.ReplaceAllString(text, "${1}5")
	}
	return text, err
}

// resident is how many blocks a kernel wants at work on a multiprocessor.
var resident = regexp.MustCompile(`(?m)^(\.minnctapersm )\d+`)
