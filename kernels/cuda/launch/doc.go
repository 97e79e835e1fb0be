// Package launch says which kernels of package cuda make an operation of package
// kernels, in which order, on which arguments. It launches nothing itself: the
// devices of kernels/sim and kernels/nvidia run the same Program, so that what is
// checked on the interpreter is what a GPU gets.
//
// Plan checks the arrays of an operation and gives the Program: calls of kernels,
// and the memory that they need in between. Pack brings a part of a matrix to a
// device in a form that one of the kernels likes.
package launch
