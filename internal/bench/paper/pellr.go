package paper

import (
	"fmt"
	"math"
	"slices"
)

// PELLRRatio is a number in the text of the PELLR paper (Wang and Gu, 2020): the factor by which PELLR is faster than
// another format, on one matrix or on average over a range of sigma. The paper prints no other values of its figures.
type PELLRRatio struct {
	Figure    int
	Over      string  // the other format
	Matrix    string  // "" for an average
	Low, High float64 // range of sigma of an average: Low < sigma <= High
	Ratio     float64
}

// PELLRRatios are the ratios of section 4, in its order.
var PELLRRatios = []PELLRRatio{
	{Figure: 6, Over: "ellr", Low: 10, High: math.Inf(1), Ratio: 1.5},
	{Figure: 6, Over: "ellr", Matrix: "memplus", Ratio: 1.1},
	{Figure: 6, Over: "ellr", Matrix: "lnsp3937", Ratio: 4.5},
	{Figure: 8, Over: "hyb", Low: -1, High: 10, Ratio: 4},
	{Figure: 8, Over: "hyb", Low: 10, High: math.Inf(1), Ratio: 1.6},
	{Figure: 8, Over: "hyb", Matrix: "msc23052", Ratio: 1.2},
	{Figure: 8, Over: "hyb", Matrix: "bcsstk36", Ratio: 1.2},
	{Figure: 8, Over: "hyb", Matrix: "memplus", Ratio: 0.7},
	{Figure: 9, Over: "biell", Matrix: "memplus", Ratio: 0.8172},
}

// PELLRMatrix is a matrix of the paper's Table 1. The text names 12 of the 20; the table itself is an image without
// text in the available copies.
type PELLRMatrix struct {
	Name string
	N    int64
	NNZ  int64 // from the SuiteSparse collection, which the paper uses
	// Says is the text's statement about the lengths of the rows.
	Says string
	// Like is a generator spec of a matrix with N rows, NNZ entries and row lengths as in the text, in random order.
	// Properties that Says does not state are assumed.
	Like string
}

// PELLRMatrices are the matrices of Table 1 that the text names, sorted by name.
var PELLRMatrices = []PELLRMatrix{
	pellrMatrix("bcsstk24", 3562, 159_910, "sigma > 10", 11.5, 15, 57),
	pellrMatrix("bcsstk36", 23_052, 1_143_140, "max-min 170", 15, 8, 178),
	pellrMatrix("boneS01", 127_224, 5_516_602, "ave > 16", 10, 12, 81),
	pellrMatrix("cavity25", 4562, 131_735, "sigma > 10", 14, 4, 62),
	pellrMatrix("dw2048", 2048, 10_114, "sigma < 3", 1, 2, 8),
	pellrMatrix("e40r5000", 17_281, 553_956, "sigma > 10", 15, 8, 62),
	pellrMatrix("lnsp3937", 3937, 25_407, "sigma 3.1, max-min 10", 3.1, 1, 11),
	pellrMatrix("memplus", 17_758, 126_150, "sigma 22, ave 7.1, max-min 572", 22, 2, 574),
	pellrMatrix("mhd4800b", 4800, 27_520, "sigma 2, max-min 9", 2, 1, 10),
	pellrMatrix("msc23052", 23_052, 1_142_686, "max-min 166", 15, 12, 178),
	pellrMatrix("qh1484", 1484, 6110, "sigma < 3", 1.6, 2, 13),
	pellrMatrix("s3dkt3m2", 90_449, 3_686_223, "sigma < 3", 2, 30, 48),
}

func pellrMatrix(name string, n, nnz int64, says string, sigma float64, least, most int) PELLRMatrix {
	return PELLRMatrix{name, n, nnz, says, fmt.Sprintf("gen:rows:n=%d,nnz=%d,sigma=%g,min=%d,max=%d", n, nnz, sigma, least, most)}
}

// FindPELLR returns the matrix of Table 1 with a name.
func FindPELLR(name string) (PELLRMatrix, bool) {
	i := slices.IndexFunc(PELLRMatrices, func(m PELLRMatrix) bool { return m.Name == name })
	if i < 0 {
		return PELLRMatrix{}, false
	}
	return PELLRMatrices[i], true
}
