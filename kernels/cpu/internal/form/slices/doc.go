// Package slices has slices of rows (SELL-C-sigma).
//
// Files whose names end in _loop have the inner loops in plain Go, _asm and _neon the tables of the
// same loops in assembly for amd64 and arm64, and _amd64 and _arm64 the assembly itself, which
// kernels/cpu/internal/gen/slices generates.
package slices
