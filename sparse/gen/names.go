package gen

// Info describes a generator for help texts.
type Info struct {
	Name    string
	Summary string // one line
	Example string // a whole spec
	Params  []Param
}

// Param describes one parameter of a generator.
type Param struct {
	Name    string
	Default string // "" if Doc states the default
	Doc     string
}

// generator is a named generator of matrices.
type generator struct {
	Info
	plan func(p *params) *plan // allocates nothing large; sets p.err if a parameter is wrong
}

// Parameters of several generators.
var (
	valueParam = Param{"value", "random", "random (uniform in [-1, 1)) or ones"}
	seedParam  = Param{"seed", "1", "seed of all random numbers, any whole number"}
	colsParam  = Param{"cols", "", "columns; as many as rows unless given"}
)

// generators lists all generators in the order of the help text.
var generators = withShorts([]generator{
	{stencilInfo, stencil},
	{bandedInfo, banded},
	{randomInfo, random},
	{rmatInfo, rmat},
	{powerlawInfo, powerlaw},
	{chungluInfo, chunglu},
	{cfdInfo, cfd},
	{mycielskianInfo, mycielskian},
	{planarInfo, planar},
	{likeInfo, like},
	{rowsInfo, rows},
	{lowhighInfo, lowhigh},
	{arrowInfo, arrow},
	{diagInfo, diag},
	{denseInfo, dense},
	{emptyInfo, empty},
})

// Names returns a description of every generator.
func Names() []Info {
	infos := make([]Info, len(generators))
	for i, g := range generators {
		infos[i] = g.Info
		infos[i].Params = append([]Param(nil), g.Params...)
	}
	return infos
}
