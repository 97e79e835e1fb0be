// Package devicetest checks the products of any device that works on memory of its
// own against kernels/reference. It is for tests.
package devicetest
