package experiment

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/msrep-go/msrep/internal/bench/model"
	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/internal/plot"
)

// verdict is the result of a run for a statement of one of the papers.
type verdict struct {
	Paper   string // MSREP, CPMS or PELLR
	Item    string // Figure 16, Table 2, System
	Says    string // the statement
	Printed string // the paper's value
	Found   string // value of this run, with its origin
	Outcome string // reproduced, notReproduced or notTestable
	Authors string // value of the authors' own times, if known
}

// paperItem is a system, figure or table of a paper with results, and the experiment that covers it.
type paperItem struct {
	paper, item string
	what        string
	command     string // experiment and flags that show the most
	needs       string // what else the command needs
}

// paperItems lists the items of the three papers. It leaves out examples, drawings and notation without results:
// Figures 1 to 5 and 7 to 15 and Table 1 of MSREP, Figures 1 and 2 of CPMS, and Figures 1 to 5 and 7 of PELLR.
var paperItems = []paperItem{
	{"MSREP", "System DGX-1", "8 V100 in pairs on PCIe", "model", "a DGX-1"},
	{"MSREP", "System Summit", "6 V100 on NVLink", "model", "a node of Summit"},
	{"MSREP", "Table 2", "six matrices", "msrep-fig22 --mats DIR", "the matrices"},
	{"MSREP", "Figure 6", "unequal parts", "msrep-fig6 --devices cpu:8", ""},
	{"MSREP", "Figure 16", "time to split", "msrep-fig16 --devices sim:dgx1", ""},
	{"MSREP", "Figure 17", "share of splitting", "msrep-fig17 --devices sim:dgx1", ""},
	{"MSREP", "Figure 18", "time to merge", "msrep-fig18 --devices sim:dgx1", ""},
	{"MSREP", "Figure 19", "share of merging", "msrep-fig19 --devices sim:dgx1", ""},
	{"MSREP", "Figure 20", "NUMA placement", "msrep-fig20 --devices sim:summit", ""},
	{"MSREP", "Figure 21", "speed-up of the strategies", "msrep-fig21 --devices sim:dgx1", ""},
	{"MSREP", "Figure 22", "speed-up on the DGX-1", "msrep-fig22 --devices sim:dgx1", ""},
	{"MSREP", "Figure 23", "speed-up on Summit", "msrep-fig23 --devices sim:summit", ""},
	{"CPMS", "System", "a V100, and two Xeon 8168", "cpms --devices cpu", "these processors"},
	{"CPMS", "Table 1", "ten graphs", "cpms --devices cpu", "the graphs of the collection"},
	{"CPMS", "Table 2", "iterations by precision", "cpms --devices cpu", ""},
	{"CPMS", "Figure 3", "structure of the graphs", "cpms --devices cpu", "the graphs of the collection"},
	{"CPMS", "Figure 4", "products on a GPU", "cpms --devices cuda", "a GPU"},
	{"CPMS", "Figure 5", "time by precision, on a GPU", "cpms --devices cuda", "a GPU"},
	{"CPMS", "Figure 6", "time by tolerance, on a GPU", "cpms --devices cuda", "a GPU"},
	{"CPMS", "Figure 7", "PageRank on a GPU, csr", "cpms --devices cuda", "a GPU"},
	{"CPMS", "Figure 8", "PageRank on a GPU, ell", "cpms --devices cuda", "a GPU"},
	{"CPMS", "Figure 9", "products on CPUs", "cpms --devices cpu", ""},
	{"CPMS", "Figure 10", "PageRank on CPUs, csr", "cpms --devices cpu", ""},
	{"CPMS", "Figure 11", "PageRank on CPUs, ell", "cpms --devices cpu", ""},
	{"PELLR", "System", "a Quadro P600", "pellr --devices cuda", "this GPU"},
	{"PELLR", "Table 1", "twenty matrices", "pellr --mats DIR", "the matrices"},
	{"PELLR", "Figure 6", "PELLR and ELLR", "pellr --devices cuda", ""},
	{"PELLR", "Figure 8", "PELLR and HYB", "pellr --devices cuda", ""},
	{"PELLR", "Figure 9", "PELLR and BiELL", "pellr --devices cuda", ""},
	{"PELLR", "Figure 10", "PELLR and BiJAD", "pellr --devices cuda", ""},
	{"PELLR", "Figures 11, 12", "speed of all formats", "pellr --devices cuda", ""},
}

// outcomes reports which results were reproduced. It is the last experiment and covers those before it in the same
// run.
func outcomes(ctx context.Context, s *Session) error {
	s.steps(1)
	if err := s.step(ctx, "outcomes"); err != nil {
		return err
	}
	s.judgeSystems()
	s.judgeMatrices()
	s.Page.Sections = append(s.Page.Sections, s.outcomeSection())
	return nil
}

// judgeSystems states the error of the model on the authors' runs that did not calibrate it. A run on the machine
// itself is not recognised.
func (s *Session) judgeSystems() {
	for _, name := range model.Names() {
		p, err := model.Load(name)
		if err != nil {
			panic(err) // the platforms are part of the program
		}
		c := model.Find(p.CheckHeld(model.Points(name, true)), "p-opt", model.Total, "")
		s.verdicts = append(s.verdicts,
			verdict{Paper: "MSREP", Item: "System " + platformTitle(name), Says: "products on the machine itself", Printed: fmt.Sprintf("%d GPUs", p.GPUs),
				Found: fmt.Sprintf("%d GPUs in this run", len(s.gpus)), Outcome: notTestable},
			verdict{Paper: "MSREP", Item: "System " + platformTitle(name), Says: fmt.Sprintf("model of it: median error of all phases of p-opt on %d runs that did not calibrate it, %%", c.N), Printed: fmt.Sprintf("<= %.0f", 100*model.Tolerance),
				Found: fmt.Sprintf("%.1f (%s)", 100*c.Median, plot.Modelled), Outcome: outcome(c.Median, func(float64) bool { return c.Good() })})
	}
}

// judgeMatrices states which matrices of Table 2 of the MSREP paper were read from files, and whether they have its
// sizes.
func (s *Session) judgeMatrices() {
	if len(s.loaded) == 0 {
		return
	}
	var files, generated, wrong []string
	for _, m := range paper.Matrices {
		l, ok := s.loaded[m.Name]
		switch {
		case !ok:
			continue
		case !l.file:
			generated = append(generated, m.Name)
			continue
		case l.rows != m.Rows || l.cols != m.Cols || l.nnz != m.NNZ:
			wrong = append(wrong, fmt.Sprintf("%s has %d x %d and %d entries", m.Name, l.rows, l.cols, l.nnz))
		}
		files = append(files, m.Name)
	}
	v := verdict{Paper: "MSREP", Item: "Table 2", Says: "rows, columns and entries of the matrices", Printed: "six matrices", Outcome: notTestable}
	switch {
	case len(wrong) > 0:
		v.Found, v.Outcome = join(wrong), notReproduced
	case len(files) == len(paper.Matrices):
		v.Found, v.Outcome = "the six matrices from files", reproduced
	default:
		v.Found = fmt.Sprintf("%d from files, %d generated like them", len(files), len(generated))
	}
	s.verdicts = append(s.verdicts, v)
}

// outcomeSection lists all statements and counts the outcomes.
func (s *Session) outcomeSection() plot.Section {
	t := plot.Table{
		Name: "outcomes", Title: "Which results of the papers were reproduced", Prose: true,
		Header: []string{"paper, item", "statement", "the paper", "here", "outcome", "by the authors' own times", "command"},
	}
	counts := map[string]int{}
	for _, item := range paperItems {
		var found []verdict
		for _, v := range s.verdicts {
			if v.Paper == item.paper && v.Item == item.item {
				found = append(found, v)
			}
		}
		experiment, flags, _ := strings.Cut(item.command, " ")
		command := fmt.Sprintf("msrep bench %s outcomes %s", experiment, flags)
		if len(found) == 0 {
			why := "not judged in this run"
			if item.needs != "" {
				why += "; it needs " + item.needs
			}
			found = []verdict{{Says: item.what, Found: why, Outcome: notTestable}}
		} else if s.Devices != "" && experiment != "model" && !strings.Contains(flags, "--mats") {
			command = fmt.Sprintf("msrep bench %s outcomes --devices %s", experiment, s.Devices)
		}
		for _, v := range found {
			counts[v.Outcome]++
			t.Rows = append(t.Rows, []string{item.paper + ", " + item.item, v.Says, v.Printed, v.Found, v.Outcome, v.Authors, strings.TrimSpace(command)})
		}
	}
	sec := plot.Section{
		Name: "outcomes", Title: "Reproduced, not reproduced, cannot be tested here",
		Intro: []string{
			"Every system, figure and table with results in the three papers, with each numerical statement, judged by the results of this run. Figures of examples, formats and notation are left out. Modelled times are calibrated on half of the authors' times of the MSREP paper; the section about the model states their error on the other half.",
		},
		Tables:  []plot.Table{t},
		Remarks: []string{fmt.Sprintf("%d reproduced, %d not reproduced, %d cannot be tested here.", counts[reproduced], counts[notReproduced], counts[notTestable])},
	}
	return sec
}

// judgePELLR adds the statements of the PELLR paper. A statement is reproduced if it holds by all measures.
func (s *Session) judgePELLR(v *pellrView) {
	for _, cl := range pellrClaims {
		var found []string
		all, n := true, 0
		for _, c := range v.measures() {
			if x := cl.value(v, c); !math.IsNaN(x) {
				found = append(found, fmt.Sprintf("%s: %s", c.name, short(x)))
				all, n = all && cl.holds(x), n+1
			}
		}
		out := verdict{Paper: "PELLR", Item: "Figure " + cl.figure, Says: cl.says, Printed: cl.paper, Found: strings.Join(found, "; "), Outcome: notTestable}
		if strings.HasPrefix(cl.figure, "11") || cl.figure == "12" {
			out.Item = "Figures 11, 12"
		}
		if n > 0 {
			out.Outcome = map[bool]string{true: reproduced, false: notReproduced}[all]
		}
		s.verdicts = append(s.verdicts, out)
	}
}
