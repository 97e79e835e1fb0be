// Package paper holds results of the papers for comparison: of the MSREP paper, the table of its Figure 6 and the
// phase times of its authors; of the CPMS paper, its Tables 1 and 2 and the numbers printed in its Figure 7; of the
// PELLR paper, its Table 1 and the ratios in its text.
//
// The phase times are the authors' own runs behind Figures 16 to 23, in seconds: all runs on the six matrices of
// Table 2 and on two others. Known facts about them:
//
//   - Only the stored half of the four symmetric matrices was multiplied:
//     Matrix.Stored, not the paper's count, fits the times.
//   - On Summit the times of five of the six matrices imply about four times the
//     speed of the links and memories; see Time.Correction.
//   - On Summit the rows of wb-edu with 2 GPUs have, digit for digit, the partition
//     times of the DGX-1, and for CSR and COO those of compute and merge as well.
//   - Runs of version p with all optimisations leave out the copy between NUMA
//     nodes, and their pCSC merge time ends before the vectors are added.
package paper
