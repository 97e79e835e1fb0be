package plot

// Page is a whole report.
type Page struct {
	Title    string
	Intro    []string    // paragraphs
	Facts    [][2]string // name and value, about the machine and the run
	Sections []Section
}

// Section is the result of one experiment.
type Section struct {
	Name    string // of the experiment and of its files: msrep-fig6
	Title   string
	Intro   []string
	Tables  []Table
	Figures []Figure
	// Pictures puts the figures before the tables, which say the same in numbers.
	Pictures bool
	Remarks  []string // which results agree with the paper, which do not, and why
}

// Origin is the origin of the figures of a series.
type Origin string

// The origins.
const (
	Measured Origin = "measured here"
	Modelled Origin = "modelled"
	Paper    Origin = "paper"
	// Earlier marks earlier measurements on another machine.
	Earlier Origin = "measured elsewhere"
	// Counted marks counts of the interpreter of GPU code: instructions, sectors of memory. They replace times where
	// no GPU is available, and are not times.
	Counted Origin = "counted, not time"
)

// Figure is a chart of lines or points over a common axis.
type Figure struct {
	Name           string // of the files
	Title          string
	Desc           string // what the figure shows, for readers who cannot see it; may be empty
	Kind           Kind
	XLabel, YLabel string
	// Names, if present, replace the numbers on the x axis, sorted by X. Names that do not fit side by side stand
	// upright and widen the chart as needed.
	Names []Mark
	Log   bool // logarithmic y axis: all y must be positive
	// Level is a y that gets a line, such as 1 for ratios; 0 for none.
	Level  float64
	Marks  []Mark
	Series []Series
	Grid   *Grid    // only of a Density
	Lanes  []string // only of a Timeline
	Spans  []Span   // only of a Timeline
	// Looks, if present, has the names of the spans of all time lines of a page, so that a name looks the same in all.
	Looks []string
}

// Ranked returns names at positions 1, 2, ... of an x axis.
func Ranked(names []string) (marks []Mark) {
	for i, n := range names {
		marks = append(marks, Mark{float64(i + 1), n})
	}
	return marks
}

// Kind is the way in which the series of a figure are drawn.
type Kind string

// The kinds.
const (
	Lines Kind = "" // or points
	// Bars are at integer distances in x. Bars of several series at the same x are stacked, the first series at the
	// bottom.
	Bars Kind = "bars"
	// Heat is a grid of numbers, with a row for each series and a column for each x = 1, 2, .... Numbers above Level
	// are blue, those below it orange. YLabel describes the rows.
	Heat Kind = "heat"
	// Density shows where a matrix has entries: the share of occupied positions of each bin of Figure.Grid.
	Density Kind = "density"
	// Timeline shows Figure.Spans in lanes over time.
	Timeline Kind = "timeline"
)

// Mark is a line at a position of the x axis, with a label.
type Mark struct {
	X     float64
	Label string
}

// Series is one line. Low and High, if present, are intervals of Y.
type Series struct {
	Name      string
	Origin    Origin
	X, Y      []float64
	Low, High []float64
	// Points draws marks without a line, for points between which a line would mean nothing.
	Points bool
}

// Add appends a point.
func (s *Series) Add(x, y float64) { s.X, s.Y = append(s.X, x), append(s.Y, y) }

// Table is a grid of text. The first column names the row.
type Table struct {
	Name   string // of the file
	Title  string
	Origin Origin // "" for a table with several origins
	Header []string
	Rows   [][]string
	Fold   bool // a long table that the page shows on request
	Prose  bool // texts, wrapped and aligned to the left
	// Shade, if present, holds a number in [0, 1] for each cell after the first column: a smaller number gives a
	// darker cell.
	Shade [][]float64
}
