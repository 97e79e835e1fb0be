// Package cpms stores float64 arrays in segments of 32 or 16 bits. A reader that needs
// less precision reads fewer segments and so moves fewer bytes (customized precision by
// mantissa segmentation, Grützmacher, Cojean, Flegar, Anzt, Quintana-Ortí: "Acceleration
// of PageRank with Customized Precision based on Mantissa Segmentation", section 4.1).
//
// A value of 64 bits is split into S = 2 or 4 segments of 64/S bits. Segment 0 has the
// sign, the exponent and the first mantissa bits. Reading the first k segments gives the
// value with the bits of the other segments zero:
//
//	S  k  bits  mantissa  |read - v| below
//	2  1   32     20      2^-20 |v|
//	4  1   16      4      2^-4  |v|
//	4  2   32     20      2^-20 |v|
//	4  3   48     36      2^-36 |v|
//
// The exponent is always complete, so nothing overflows. Signs, -0 and infinities are
// exact, and normal numbers stay normal. A subnormal number loses low bits and may become
// 0.
//
// An Array takes 8 bytes per value, regardless of how much of it is read: nothing is
// stored twice. Its Layout is interleaved (CPMS-i: a bank of segments 0, a bank of
// segments 1, and so on, then the next values) or separated (CPMS-s: all segments 0, then
// all segments 1). Interleaved arrays are converted in place, in both directions.
//
// Heads is a vector that keeps only the first 2, 4, 6 or 8 bytes of each value, without
// gaps. It suits vectors that are accessed at random and rewritten before they are read
// with more precision.
package cpms
