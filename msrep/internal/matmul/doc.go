// Package matmul computes C = A B for sparse matrices on the devices of a System. Each device computes some rows of C.
package matmul
