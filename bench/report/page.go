package report

// Page is a whole report.
type Page struct {
	Title    string
	Intro    []string    // paragraphs
	Facts    [][2]string // about the machine and the run: name and value
	Sections []Section
}

// Section is what one experiment found.
type Section struct {
	Name    string // of the experiment, which is also that of its files: msrep-fig6
	Title   string
	Intro   []string
	Tables  []Table
	Figures []Figure
	Remarks []string // what agrees with the paper, what does not, and why
}

// Origin says where the figures of a series come from.
type Origin string

// The origins.
const (
	Measured Origin = "measured here"
	Modelled Origin = "modelled"
	Paper    Origin = "paper"
)

// Figure is a chart of lines over a common axis.
type Figure struct {
	Name           string // of its files
	Title          string
	XLabel, YLabel string
	Log            bool // a logarithmic y axis: all y must be positive
	Series         []Series
}

// Series is one line. Low and High, where present, are intervals of Y.
type Series struct {
	Name      string
	Origin    Origin
	X, Y      []float64
	Low, High []float64
}

// Table is a grid of text. The first column names the row.
type Table struct {
	Name   string // of its file
	Title  string
	Origin Origin // "" where a table has several
	Header []string
	Rows   [][]string
	// Shade, where present, has a number in [0, 1] for each cell beside the first
	// column: the cell is the darker the smaller it is.
	Shade [][]float64
}
