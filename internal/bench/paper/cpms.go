package paper

// CPMSGraph is a graph of Table 1 of the CPMS paper (Grützmacher and others, "Acceleration of PageRank with
// Customized Precision based on Mantissa Segmentation").
type CPMSGraph struct {
	Name     string
	Short    string // abbreviation in the paper's tables and figures
	Nodes    int
	Links    int64
	Dangling int // empty rows
}

// CPMSGraphs is Table 1.
var CPMSGraphs = []CPMSGraph{
	{"adaptive", "Ada", 6_815_744, 27_248_640, 0},
	{"delaunay_n22", "Del", 4_194_304, 25_165_738, 0},
	{"europe_osm", "Eur", 50_912_018, 108_109_320, 0},
	{"hugebubbles-00020", "Bub", 21_198_119, 63_580_358, 0},
	{"rgg_n_2_24_s0", "Rgg", 16_777_216, 265_114_400, 1},
	{"road_usa", "USA", 23_947_347, 57_708_624, 0},
	{"Stanford", "Std", 281_903, 2_312_497, 20_315},
	{"wb-edu", "edu", 9_845_725, 57_156_537, 2_925_419},
	{"web-BerkStan", "Brk", 685_230, 7_600_595, 4_744},
	{"web-Google", "Ggl", 916_428, 5_105_039, 176_974},
}

// CPMSCounts is a row of Table 2: iterations until the difference is below 1e-10.
type CPMSCounts struct {
	FP64  int
	CPMS2 [2]int // with 32 and 64 bits
	CPMS4 [4]int // with 16, 32, 48 and 64 bits
}

// CPMSTable2 is Table 2, in the order of CPMSGraphs.
var CPMSTable2 = []CPMSCounts{
	{65, [2]int{7, 58}, [4]int{1, 1, 81, 1}},
	{64, [2]int{15, 49}, [4]int{1, 21, 64, 2}},
	{118, [2]int{50, 68}, [4]int{1, 50, 65, 3}},
	{77, [2]int{12, 42}, [4]int{1, 1, 77, 3}},
	{89, [2]int{28, 61}, [4]int{1, 1, 89, 2}},
	{117, [2]int{51, 66}, [4]int{1, 50, 54, 2}},
	{118, [2]int{51, 67}, [4]int{1, 50, 64, 3}},
	{114, [2]int{47, 67}, [4]int{1, 46, 65, 3}},
	{119, [2]int{50, 69}, [4]int{1, 49, 1, 68}},
	{116, [2]int{47, 69}, [4]int{1, 46, 67, 2}},
}

// CPMSTable2Totals are the totals of Table 2 as printed, for cpms2 and cpms4. The totals of Bub with cpms2 (54) and
// of USA with cpms4 (107) are not the sums of their parts.
var CPMSTable2Totals = [][2]int{
	{65, 84}, {64, 88}, {118, 119}, {77, 82}, {89, 93}, {117, 117}, {118, 118}, {114, 115}, {119, 119}, {116, 116},
}

// CPMSThresholds are the tolerances of Figures 7, 8, 10 and 11.
var CPMSThresholds = []float64{1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12}

// CPMSFigure7a is the speed-up of PageRank on a V100 with CSR and two segments in banks of 128 bytes, as printed in
// Figure 7 (a), with a row for each of CPMSGraphs and a column for each of CPMSThresholds.
var CPMSFigure7a = [][]float64{
	{0.98, 0.97, 0.98, 0.98, 0.99, 0.99},
	{1.42, 1.43, 1.11, 1.04, 1.03, 1.02},
	{2.22, 2.22, 1.57, 1.26, 1.16, 1.11},
	{1.38, 1.39, 1.27, 1.17, 1.13, 1.10},
	{1.15, 1.16, 1.07, 1.03, 1.02, 1.01},
	{1.43, 1.43, 1.28, 1.15, 1.11, 1.08},
	{1.64, 1.64, 1.44, 1.28, 1.20, 1.16},
	{1.22, 1.22, 1.16, 1.11, 1.08, 1.07},
	{1.26, 1.24, 1.17, 1.11, 1.08, 1.07},
	{1.35, 1.28, 1.19, 1.13, 1.09, 1.08},
}
