// Package diagonals has diagonals of slices.
//
// Files whose names end in _loop have the inner loops in plain Go, _asm the tables of the same loops
// in assembly, and _amd64 the assembly itself, which kernels/cpu/internal/gen/diagonals generates.
package diagonals
