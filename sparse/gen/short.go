package gen

// short is a short name for a generator with some parameters fixed.
type short struct {
	name, summary, example string
	of                     generator
	fixed                  map[string]string
	defaults               map[string]string // of parameters that are not fixed
}

// shorts are short names for common kinds of matrices.
var shorts = []short{
	{name: "delaunay", summary: "triangulated points in the plane, 6 neighbours on average: planar with kind=delaunay", example: "delaunay:n=1000",
		of: generator{planarInfo, planar}, fixed: map[string]string{"kind": "delaunay"}},
	{name: "rgg", summary: "random geometric graph, 16 neighbours on average: planar with kind=rgg", example: "rgg:n=1000",
		of: generator{planarInfo, planar}, fixed: map[string]string{"kind": "rgg"}},
	{name: "road", summary: "road map, 2.4 neighbours on average: planar with kind=road", example: "road:n=1000",
		of: generator{planarInfo, planar}, fixed: map[string]string{"kind": "road"}},
	{name: "web", summary: "web-like: a power law, with most links near the diagonal: chunglu with local=0.7", example: "web:n=1M,nnz=6M",
		of: generator{chungluInfo, chunglu}, fixed: map[string]string{"local": "0.7"}},
	{name: "gene", summary: "gene-like: rows of very different lengths, with columns all over the matrix: chunglu with r=0.9, longest=100", example: "gene:n=45k,nnz=29M",
		of: generator{chungluInfo, chunglu}, fixed: map[string]string{"local": "0"}, defaults: map[string]string{"r": "0.9", "longest": "100"}},
}

// generator returns the generator that the short name stands for.
func (s short) generator() generator {
	g := generator{Info: Info{Name: s.name, Summary: s.summary, Example: s.example}}
	for _, p := range s.of.Params {
		if _, ok := s.fixed[p.Name]; ok {
			continue
		}
		if d, ok := s.defaults[p.Name]; ok {
			p.Default = d
		}
		g.Params = append(g.Params, p)
	}
	g.plan = func(p *params) *plan {
		for key, value := range s.fixed {
			p.value[key] = value
		}
		return s.of.plan(p)
	}
	return g
}

// withShorts adds the short names to a list of generators.
func withShorts(list []generator) []generator {
	for _, s := range shorts {
		list = append(list, s.generator())
	}
	return list
}
