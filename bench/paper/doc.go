// Package paper has the figures of the MSREP paper that reports set beside ours:
// the table of its Figure 6, and the phase times that its authors measured; and of
// the CPMS paper, its Tables 1 and 2 and the numbers printed in its Figure 7.
//
// The times are those of the authors' own runs behind Figures 16 to 23, in seconds:
// all that they measured, on the six matrices of Table 2 and on two others. What is
// known about them:
//
//   - Only the stored half of the four symmetric matrices was multiplied, so that
//     Matrix.Stored, not the paper's count, fits the times.
//   - On Summit the times of five of the six matrices exceed what the links and
//     memories can do about fourfold; see Time.Correction.
//   - On Summit the rows of wb-edu with 2 GPUs have, digit for digit, the partition
//     times of the DGX-1, and for CSR and COO those of compute and merge as well.
//   - Runs of version p with all optimisations leave out the copy between NUMA
//     nodes, and their pCSC merge ends before the vectors are added.
package paper
