// Package launch plans operations of package kernels: which kernels of package cuda to
// call, in which order, with which arguments. It launches nothing itself. The devices
// of kernels/sim and kernels/nvidia run the same Program, so tests on the interpreter
// check the calls that a GPU receives.
//
// Plan checks the arrays of an operation and returns the Program: the kernel calls and
// their scratch memory. Pack copies a part of a matrix to a device in a form that one
// of the kernels multiplies by.
package launch
