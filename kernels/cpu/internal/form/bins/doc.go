// Package bins has bins, which copy x in the order of the entries before they multiply.
//
// Files whose names end in _loop have the inner loops in plain Go, _asm the tables of the same loops
// in assembly, and _amd64 the assembly itself, which kernels/cpu/internal/gen/bins generates.
package bins
