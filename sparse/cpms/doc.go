// Package cpms keeps float64 arrays in segments of 32 or 16 bits, so that a reader
// who needs less precision fetches fewer bytes (customized precision by mantissa
// segmentation, Grützmacher, Cojean, Flegar, Anzt, Quintana-Ortí: "Acceleration of
// PageRank with Customized Precision based on Mantissa Segmentation", section 4.1).
//
// A value of 64 bits is cut into S = 2 or 4 segments of 64/S bits. Segment 0 has
// the sign, the exponent and the first mantissa bits. Reading the first k segments
// gives the value with the bits of the others zero:
//
//	S  k  bits  mantissa  |read - v| below
//	2  1   32     20      2^-20 |v|
//	4  1   16      4      2^-4  |v|
//	4  2   32     20      2^-20 |v|
//	4  3   48     36      2^-36 |v|
//
// The exponent is always whole: nothing overflows, and -0, infinities and normal
// numbers stay what they are; a subnormal loses low bits and may become 0.
//
// An Array holds 8 bytes a value, whatever is read of it: nothing is stored twice.
// Its Layout is interleaved (CPMS-i: a bank of segments 0, a bank of segments 1,
// and so on, then the next values) or separated (CPMS-s: all segments 0, then all
// segments 1). Interleaved arrays are converted in place, both ways.
//
// Heads is a vector of which only the first 2, 4, 6 or 8 bytes of each value are
// kept, without gaps: for vectors that are written anew before more of them is
// read, and that are read at random.
package cpms
