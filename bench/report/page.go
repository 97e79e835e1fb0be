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
	// Earlier is what was measured before, on another machine.
	Earlier Origin = "measured elsewhere"
	// Counted is what the interpreter of GPU code counted: instructions, sectors of
	// memory. It stands in for time where there is no GPU, and is none.
	Counted Origin = "counted, not time"
)

// Figure is a chart of lines or points over a common axis.
type Figure struct {
	Name           string // of its files
	Title          string
	Kind           Kind
	XLabel, YLabel string
	// Names, where present, stand on the x axis in place of numbers, in rising order of X. Where
	// they do not fit side by side they stand upright, and the chart is as wide as they need.
	Names []Mark
	Log   bool // a logarithmic y axis: all y must be positive
	// Level is a y with a line of its own, such as 1 for ratios; 0 for none.
	Level  float64
	Marks  []Mark
	Series []Series
}

// Ranked are names at the places 1, 2, ... of an x axis.
func Ranked(names []string) (marks []Mark) {
	for i, n := range names {
		marks = append(marks, Mark{float64(i + 1), n})
	}
	return marks
}

// Kind says how the series of a figure are drawn.
type Kind string

// The kinds.
const (
	Lines Kind = "" // or points
	// Bars stand at their x, which is 1 apart from the next. Those of several series at the
	// same x stand on each other, the first series at the bottom.
	Bars Kind = "bars"
	// Heat is a grid of numbers, with a row for each series and a column for each x, which is
	// a whole number from 1 on. Numbers above Level are blue, those below it orange. YLabel
	// says what the rows are.
	Heat Kind = "heat"
)

// Mark is a line at a place of the x axis, with a label.
type Mark struct {
	X     float64
	Label string
}

// Series is one line. Low and High, where present, are intervals of Y.
type Series struct {
	Name      string
	Origin    Origin
	X, Y      []float64
	Low, High []float64
	// Points are marked and not joined, where no line could be read between them.
	Points bool
}

// Add adds a point.
func (s *Series) Add(x, y float64) { s.X, s.Y = append(s.X, x), append(s.Y, y) }

// Table is a grid of text. The first column names the row.
type Table struct {
	Name   string // of its file
	Title  string
	Origin Origin // "" where a table has several
	Header []string
	Rows   [][]string
	Fold   bool // a long table that the page shows when it is asked to
	Prose  bool // of texts, which are wrapped and begin at the left
	// Shade, where present, has a number in [0, 1] for each cell beside the first
	// column: the cell is the darker the smaller it is.
	Shade [][]float64
}
