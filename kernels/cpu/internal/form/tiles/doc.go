// Package tiles has tiles of 65,536 rows and columns at most, whose entries have positions of 4 bytes.
//
// Files whose names end in _loop have the inner loops in plain Go, _asm the tables of the same loops
// in assembly, and _amd64 the assembly itself, which kernels/cpu/internal/gen/tiles generates.
package tiles
