// Package ptx runs GPU kernels without a GPU: it reads PTX text, the assembly
// language that NVIDIA drivers take, and executes it in plain Go.
//
// Parse reads a module, Module.Kernel finds a kernel in it, Memory is the
// memory of a device, and Kernel.Launch runs a grid of blocks on it. What is not
// known is an error with its line, never skipped.
//
// # Faults
//
// A launch stops with a *Fault, which names kernel, line, block, thread and
// address, at what a real device would suffer from silently or much later:
//
//   - an access outside of every allocation, to freed memory, or misaligned;
//   - a read of bytes that nobody wrote;
//   - a write to constant memory, and a .nc load of memory that the same launch
//     writes;
//   - a race: two warps on the same byte of shared memory with no bar.sync in
//     between, or two blocks on the same byte of global memory, at least one of
//     them writing, not both by atomics;
//   - bar.sync that only some lanes of a warp reach, or only some warps of a
//     block;
//   - shfl.sync, vote.sync, match.sync and bar.warp.sync whose mask names lanes
//     that are elsewhere, or leaves out the lane that executes it.
//
// Blocks that pass data on by a fence and an atomic, as "the last block sums up"
// does, are not racing. Volatile accesses count as atomic.
//
// # How lanes diverge
//
// A warp is 32 lanes with one program counter each. The blocks of instructions
// are laid out anew when a kernel is read, in a weak topological order of the
// control flow (Bourdoncle): apart from the jumps back in a loop, all jumps go
// forward, and a loop is contiguous. The lanes with the least program counter
// run first, so lanes that left a loop wait for those still in it, and lanes that
// took different ways meet again where the ways join, no later than at the
// immediate post-dominator of the branch. This needs no stack and no analysis
// of post-dominators. A lane that waits in a loop for a lane of the same warp
// that has left the loop waits for ever: MaxInstructions ends that.
//
// # What it does not show
//
// Timing, the weak memory model (an access takes effect at once, in order), and
// faults of the driver's own compiler. An arithmetic result is that of the
// hardware bit by bit, but for the payload of a NaN. Approximate instructions
// (.approx, .full) are errors, because no bit pattern is promised for them.
//
// Counters report what does not depend on a machine's mood: instructions,
// divergent branches, 32-byte sectors.
package ptx
