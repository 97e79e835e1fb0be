// Package ptx runs GPU kernels without a GPU: it reads PTX text, the assembly
// language that NVIDIA drivers accept, and executes it in Go.
//
// Parse reads a module, Module.Kernel finds a kernel in it, Memory is the
// memory of a device, and Kernel.Launch runs a grid of blocks on it. Unsupported
// PTX is an error with its line; nothing is skipped.
//
// # Faults
//
// A launch stops with a *Fault, which names kernel, line, block, thread and
// address, at errors that a device reports late or never:
//
//   - an access outside of every allocation, to freed memory, or misaligned;
//   - a read of unwritten bytes;
//   - a write to constant memory, and a .nc load of memory that the same launch
//     writes;
//   - a race: two warps access the same byte of shared memory with no bar.sync
//     in between, or two blocks access the same byte of global memory; at least
//     one access is a write, and at least one is not atomic;
//   - bar.sync that only some lanes of a warp reach, or only some warps of a
//     block;
//   - a mask of shfl.sync, vote.sync, match.sync or bar.warp.sync that names lanes
//     which do not execute the instruction, or leaves out a lane that does;
//   - a deadlock: all warps of all blocks that have begun repeat strong loads (volatile,
//     relaxed, acquire) or atomics, and none has written since each made 256 of them.
//
// Blocks that pass data by a fence and an atomic do not race. An example is a
// reduction in which the last block adds the results of all blocks. Volatile accesses
// count as atomic.
//
// # How lanes diverge
//
// A warp is 32 lanes with one program counter each. Parse puts the basic blocks
// of a kernel into a weak topological order of the control flow (Bourdoncle):
// all jumps go forward, except those back to the head of a loop, and every loop
// is contiguous. The lanes with the least program counter run first. Lanes that
// have left a loop therefore wait for those still in it, and lanes that diverged
// reconverge where their paths join, no later than at the immediate
// post-dominator of the branch. This needs no stack and no analysis of
// post-dominators. A lane that waits in a loop for a lane of the same warp that
// has left the loop waits forever, which is a deadlock.
//
// # Turns
//
// A warp runs until it ends, reaches a barrier, or repeats strong loads for as long as
// for a deadlock; then the next warp of its block goes on. So a block may wait for
// another one that runs on another worker (Launch.Workers), or that began earlier. It
// must not wait for one that begins later: a device need not begin it before this one
// ends. Launch.Turn makes the turns short and their order random, to find kernels that
// need a certain order.
//
// # Limits
//
// The interpreter does not model timing, the weak memory model (an access takes
// effect immediately, in order) or faults of the driver's compiler. Arithmetic
// results equal those of the hardware bit by bit, except for the payload of a
// NaN. Approximate instructions (.approx, .full) are errors, because their bit
// patterns are not specified.
//
// Counters report what is the same on every machine: instructions, divergent
// branches, 32-byte sectors.
package ptx
