// Package driver lets one binary use the CUDA driver where there is one and start
// where there is none. It is empty without the build tag cuda.
//
// gorgonia.org/cu is linked to libcuda and ends the program when cuInit fails. Here
// every function of libcuda that it calls is defined as a jump through a table
// (entry_amd64.S, entry_arm64.S), which load.c fills with dlopen when the program
// starts; without a driver all of them give an error. So the binary does not need
// libcuda to start, and at build time an empty libcuda.so is enough for the linker.
// MSREP_LIBCUDA names another library to load, such as the one of the tests.
//
// Beside that the package has what gorgonia.org/cu lacks: pinned host memory,
// allocation in the order of streams, and the PCI address of a GPU.
package driver
