package paper

import "math"

// PELLRRatio is a number that the text of the PELLR paper gives (Wang and Gu, 2020): by
// which factor PELLR is faster than another format, on one matrix, or on average over
// those with a sigma in a range. The other points of the paper's figures are not
// printed, and so are not here.
type PELLRRatio struct {
	Figure    int
	Over      string  // the other format
	Matrix    string  // "" for an average
	Low, High float64 // the range of sigma of an average: Low < sigma <= High
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

// PELLRMatrices are those of the paper's 20 matrices that its text names.
var PELLRMatrices = []string{
	"bcsstk24", "bcsstk36", "boneS01", "cavity25", "dw2048", "e40r5000", "lnsp3937", "memplus", "mhd4800b", "msc23052", "qh1484", "s3dkt3m2",
}
