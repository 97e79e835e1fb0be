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

// Families returns the sorted names of the kernel families. Each family is one PTX
// module.
func Families() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil // reading an embedded folder cannot fail
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".ptx"))
	}
	slices.Sort(names)
	return names
}

// PTX returns the PTX text of a family. It fails for a name that Families does not
// return.
func PTX(family string) (string, error) {
	b, err := files.ReadFile(family + ".ptx")
	if err != nil {
		return "", fmt.Errorf("kernels: there is no family %q; the families are %q", family, Families())
	}
	return string(b), nil
}

// PTXFor returns the PTX for GPUs of a compute capability, for example 9.0. Kernels
// take more registers on GPUs before 8.6: with the number of resident blocks of newer
// GPUs, some registers would spill to memory.
func PTXFor(family string, capability float64) (string, error) {
	text, err := PTX(family)
	if capability < 8.6 && (family == "csr_vector" || family == "csr_merge") {
		text = resident.ReplaceAllString(text, "${1}5")
	}
	return text, err
}

// resident matches the number of resident blocks that a kernel requests for each
// multiprocessor.
var resident = regexp.MustCompile(`(?m)^(\.minnctapersm )\d+`)
