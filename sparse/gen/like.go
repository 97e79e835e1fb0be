package gen

import "math"

var likeInfo = Info{
	Name:    "like",
	Summary: "the numbers of rows and entries of a matrix in the MSREP paper's Table 2, scaled, and columns with a power law of about its exponent; short: like=HV15R,scale=0.1",
	Example: "like:name=HV15R,scale=0.02",
	Params: []Param{
		{"name", "mouse_gene", "mouse_gene, wb-edu, com-LiveJournal, hollywood-2009, com-Orkut or HV15R"},
		{"scale", "0.01", "ratio of rows and of entries to those of the matrix, above 0 to 1"},
		valueParam, seedParam,
	},
}

// models are the parameters of chunglu for the matrices of Table 2. Exponents and longest
// rows were chosen such that internal/stats finds about the paper's R with a few million
// entries. mouse_gene has so few rows that its R depends on the scale.
var models = []struct {
	name    string
	n, nnz  int64
	r       float64
	longest int64
	local   float64
}{
	{"mouse_gene", 45_101, 28_967_291, 0.9, 100, 0},
	{"wb-edu", 9_845_725, 57_156_537, 3, 1000, 0.8},
	{"com-LiveJournal", 3_997_962, 69_362_378, 4.5, 1000, 0.3},
	{"hollywood-2009", 1_139_905, 113_891_327, 3, 100, 0.5},
	{"com-Orkut", 3_072_441, 234_370_166, 3.3, 1000, 0.2},
	{"HV15R", 2_017_169, 283_073_458, 5.2, 30, 1},
}

func like(p *params) *plan {
	scale := p.number("scale", 1e-9, 1)
	for _, m := range models {
		if m.name != p.value["name"] {
			continue
		}
		n := max(int64(math.Round(float64(m.n)*scale)), 1)
		nnz := min(max(int64(math.Round(float64(m.nnz)*scale)), 1), n*n)
		q := &params{arg: p.arg, value: map[string]string{"value": p.value["value"], "seed": p.value["seed"], "dangling": "0", "closed": "0"}}
		q.set("n", n)
		q.set("nnz", nnz)
		q.set("width", max(n/64, 1))
		q.set("longest", m.longest)
		q.value["r"], q.value["local"] = formatNumber(m.r), formatNumber(m.local)
		pl := chunglu(q)
		if p.err == nil { // otherwise the scale is wrong
			p.err = q.err
		}
		return pl
	}
	p.fail("name=%s must be one of mouse_gene, wb-edu, com-LiveJournal, hollywood-2009, com-Orkut, HV15R", clip(p.value["name"]))
	return &plan{}
}
