// Package driver lets one binary use the CUDA driver if there is one, and start if
// there is none. It is empty without the build tag cuda.
//
// gorgonia.org/cu links libcuda, and ends the program if cuInit fails. This package
// defines every libcuda function that gorgonia.org/cu calls as a jump through a table
// (entry_amd64.S, entry_arm64.S). When the program first asks for a GPU, load.c fills the
// table with dlopen and calls cuInit, which may take a second; before that and without a
// driver, all functions return an error. So the binary starts without
// libcuda, and the linker needs only an empty libcuda.so at build time. MSREP_LIBCUDA
// names another library to load, for example that of the tests.
//
// The package also has functions that gorgonia.org/cu lacks: pinned host memory,
// allocation in stream order, and the PCI address of a GPU.
package driver
