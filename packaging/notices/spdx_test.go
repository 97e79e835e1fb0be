package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheBillOfMaterialsNamesWhatABinaryContains(t *testing.T) {
	folder := t.TempDir()
	source, binary := filepath.Join(folder, "main.go"), filepath.Join(folder, "program")
	require.NoError(t, os.WriteFile(source, []byte(`package main

import "github.com/klauspost/cpuid/v2"

func main() { println(cpuid.CPU.BrandName) }
`), 0o600))
	_, err := output("go", "build", "-o", binary, source)
	require.NoError(t, err)
	data := filepath.Join(folder, "msrep_1.2.3.tar.gz")
	require.NoError(t, os.WriteFile(data, []byte("abc"), 0o600))
	write := func(name string) []byte {
		file := filepath.Join(folder, name)
		require.NoError(t, run([]string{"-sbom", file, "-version", "1.2.3", "-time", strconv.Itoa(86400), data + "=" + binary + "," + binary}))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return text
	}
	text := write("first.json")
	require.Equal(t, text, write("second.json"))

	var d spdxDocument
	require.NoError(t, json.Unmarshal(text, &d))
	require.Equal(t, "1970-01-02T00:00:00Z", d.Creation.Created)
	licences := map[string]string{}
	for _, p := range d.Packages {
		require.NotContains(t, licences, p.Name, "twice")
		licences[p.Name] = p.Declared
	}
	require.Equal(t, "Apache-2.0", licences["msrep_1.2.3.tar.gz"])
	require.Equal(t, "BSD-3-Clause", licences["go"])
	require.Equal(t, "MIT", licences["github.com/klauspost/cpuid/v2"])
	require.Equal(t, "SHA256", d.Packages[0].Checksums[0].Algorithm)
	require.Equal(t, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", d.Packages[0].Checksums[0].Value)
	require.Len(t, d.Relationships, len(d.Packages), "one describes the artefact, the others its components")
}

func TestWrongCommandLinesAreErrors(t *testing.T) {
	for _, args := range [][]string{nil, {"-licences", "x"}, {"-sbom", "x", "-licences", "y", "z"}, {"-sbom", "x", "no binary"},
		{"-sbom", "x", "spdx.go=spdx.go"}, {"-sbom", "x", "missing=spdx.go"}} {
		require.Error(t, run(args), args)
	}
}
