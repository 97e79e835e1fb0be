package paper

// Figure 6: GFLOP/s of a product on the 8 GPUs of a DGX-1 when the first Low GPUs get Ratio times the nonzeros of the
// others.
var (
	Figure6Low    = []int{0, 1, 2, 3, 4, 5, 6, 7}
	Figure6Ratios = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}
	Figure6       = [][]float64{ // by Low, then Ratio
		{1028, 1028, 1028, 1028, 1028, 1028, 1028, 1028, 1028},
		{908, 916, 935, 950, 953, 969, 969, 986, 1000},
		{783, 810, 845, 871, 894, 912, 939, 962, 997},
		{671, 711, 751, 797, 817, 860, 900, 947, 980},
		{559, 613, 663, 709, 759, 822, 872, 915, 963},
		{447, 510, 575, 637, 687, 762, 823, 888, 957},
		{332, 402, 487, 555, 635, 715, 786, 869, 938},
		{218, 296, 393, 481, 573, 667, 756, 845, 921},
	}
)

// Balance returns the mean load over the largest load when low of parts devices get ratio times the nonzeros of the
// others. If every device waits for the slowest one, the speed falls by this factor. Figure 6 follows it within 7 %.
func Balance(parts, low int, ratio float64) float64 {
	if low == parts {
		return 1
	}
	return (float64(low)*ratio + float64(parts-low)) / float64(parts)
}
