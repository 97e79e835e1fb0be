package experiment

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/msrep-go/msrep/internal/bench/model"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
	"github.com/msrep-go/msrep/sparse/order"
)

// applyReport models Plan.Apply on three nodes, before and after each step that makes it scale. It measures nothing.
func applyReport(ctx context.Context, s *Session) error {
	works := model.Workloads()
	nodes, err := loadNodes()
	if err != nil {
		return err
	}
	s.steps(len(works) + len(nodes[0].Products))
	sent := plot.Table{Name: "apply-sent", Title: "Elements of x that GPUs receive of others, millions; what one GPU receives at most", Origin: plot.Modelled,
		Header: []string{"matrix", "order", "entries counted", "8 GPUs", "one of 8", "6 GPUs", "one of 6"}}
	tables := make([]nodeTables, len(nodes))
	for k, n := range nodes {
		tables[k] = newNodeTables(n)
	}
	for _, w := range works {
		if err := s.step(ctx, "apply: "+w.Name); err != nil {
			return err
		}
		c, err := s.count(ctx, w, nodes)
		if err != nil {
			return err
		}
		for k, n := range nodes {
			tables[k].add(s, n, w.Name, c)
		}
		sent.Rows = append(sent.Rows, sentRow(w.Name, "as it is", c.entries, c.whole))
		for _, name := range slices.Sorted(maps.Keys(c.reordered)) {
			sent.Rows = append(sent.Rows, sentRow(w.Name, name, c.entries, c.reordered[name]))
		}
	}
	sec := plot.Section{Name: "apply", Title: "Products of vectors that stay on several GPUs, modelled",
		Intro: []string{
			"Speed-up of Plan.Apply in float64 over one GPU, for one of many products in a row. Before: GPU i copies the range of x that it needs from GPU 0, 1 and so on, its own part too; the split is the default, by nonzeros. 1: it begins with GPU i+1. 2: one kernel reads the needed elements of all GPUs; GPUs wait along a tree; calls are few. Packed elements are copied where GPUs cannot read each other. Whole: split at whole rows; neighbours wait only until x is read, not multiplied. 4: neighbours in the split lie on GPUs with a link, and GPUs without one copy through a third. 8: rows and columns in the order whose products are fastest. Not built: overlap: rows that need no other GPU are multiplied during the exchange.",
			"Links, copies, waits and calls are parameters of the node, below with their sources. Stencils and bands are counted in full. Random matrices are counted on a generated one with at most the entries of --entries: each part then needs the same fraction of the elements of each other part, and lookups and misses for each entry stay, with a cache that is smaller in proportion.",
			"No several GPUs were used. The products of one H100 are beside its measured ones below; for V100 only the bandwidth of the memory limits a product, so that its products are shorter and its speed-ups lower than with the limits of its L2.",
		}}
	for k, n := range nodes {
		sec.Tables = append(sec.Tables, tables[k].speedups, tables[k].phases, nodeParameters(n))
	}
	products, worst, err := s.productTable(ctx, nodes[0])
	if err != nil {
		return err
	}
	sec.Tables = append(sec.Tables, sent, products, partialsTable(nodes))
	sec.Remarks = append(aims(tables), worst)
	s.Page.Sections = append(s.Page.Sections, sec)
	return nil
}

func loadNodes() (nodes []*model.Node, err error) {
	for _, name := range model.NodeNames() {
		n, err := model.LoadNode(name)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// counted is a workload, counted for one GPU and for as many as the nodes have, which are the keys.
type counted struct {
	entries   int64                              // of the matrix that was counted
	whole     map[int]model.Structure            // split at whole rows
	byNNZ     map[int]model.Structure            // split by nonzeros
	reordered map[string]map[int]model.Structure // in other orders; none for local patterns
}

// count counts a workload. Misses are counted for the caches of the nodes, in their order.
func (s *Session) count(ctx context.Context, w model.Workload, nodes []*model.Node) (c counted, err error) {
	gpus := []int{1}
	for _, n := range nodes {
		if !slices.Contains(gpus, n.GPUs) {
			gpus = append(gpus, n.GPUs)
		}
	}
	if w.Local != nil {
		c.whole = map[int]model.Structure{}
		for k, of := range w.Local.Count(gpus...) {
			c.whole[gpus[k]], c.entries = of, of.Entries
		}
		c.byNNZ = c.whole // its rows have nearly equal lengths: a carry more or less
		return c, nil
	}
	file, err := matio.Read(ctx, "gen:"+w.Spec(s.Entries))
	if err != nil {
		return c, err
	}
	return countMatrix(ctx, w, file.CSR, gpus, nodes)
}

// countMatrix counts a matrix that resembles a workload, or is it, for numbers of GPUs, of which the first is 1.
func countMatrix(ctx context.Context, w model.Workload, a *sparse.CSR[float64], gpus []int, nodes []*model.Node) (c counted, err error) {
	c.entries = a.NNZ()
	split := func(rule partition.Rule) func(a *sparse.CSR[float64], gpus int) ([]partition.Part, error) {
		return func(a *sparse.CSR[float64], gpus int) ([]partition.Part, error) {
			parts, _, err := partition.Split(a.RowPtr, gpus, rule)
			return parts, err
		}
	}
	if c.whole, err = countSplit(w, a, gpus, nodes, split(partition.RuleWhole)); err != nil {
		return c, err
	}
	if c.byNNZ, err = countSplit(w, a, gpus, nodes, split(partition.RuleNNZ)); err != nil {
		return c, err
	}
	c.reordered = map[string]map[int]model.Structure{}
	for _, o := range orders() {
		of := map[int]model.Structure{}
		for _, n := range gpus[1:] { // an order of one part changes nothing that is modelled here
			p, cuts, err := o.order(ctx, a, n)
			if err != nil {
				return c, err
			}
			b, err := sparse.Permute(a, p, p)
			if err != nil {
				return c, err
			}
			got, err := countSplit(w, b, []int{n}, nodes, func(b *sparse.CSR[float64], n int) ([]partition.Part, error) {
				if cuts == nil {
					return split(partition.RuleWhole)(b, n)
				}
				return cutAt(b.RowPtr, cuts), nil
			})
			if err != nil {
				return c, err
			}
			of[n] = got[n]
		}
		c.reordered[o.name] = of
	}
	return c, nil
}

// ordering computes an order of rows and columns for several GPUs, and where the parts begin and end; nil where equal
// numbers of entries begin.
type ordering struct {
	name  string
	order func(ctx context.Context, a *sparse.CSR[float64], gpus int) (p []int32, cuts []int, err error)
}

func orders() []ordering {
	return []ordering{
		{"partition", order.Partition[float64]},
		{"spread", func(_ context.Context, a *sparse.CSR[float64], gpus int) ([]int32, []int, error) {
			return order.Spread(a, gpus)
		}},
	}
}

// cutAt returns the parts between the given rows.
func cutAt(ptr []int64, cuts []int) (parts []partition.Part) {
	for k, first := range cuts[:len(cuts)-1] {
		end := cuts[k+1]
		parts = append(parts, partition.Part{StartIdx: ptr[first], EndIdx: ptr[end] - 1, StartMajor: first, EndMajor: end - 1, OwnFirst: first, OwnEnd: end})
	}
	return parts
}

// countSplit counts a generated matrix, split for each number of GPUs, and scales the counts to the workload.
func countSplit(w model.Workload, a *sparse.CSR[float64], gpus []int, nodes []*model.Node, split func(a *sparse.CSR[float64], gpus int) ([]partition.Part, error)) (map[int]model.Structure, error) {
	var caches []model.Cache
	for _, n := range nodes {
		caches = append(caches, n.Cache(float64(a.Rows)/float64(w.Rows)))
	}
	out := map[int]model.Structure{}
	for _, n := range gpus {
		parts, err := split(a, n)
		if err != nil {
			return nil, err
		}
		out[n] = model.Count(a.RowPtr, a.ColIdx, parts, caches).Resized(w.Rows, w.Entries)
	}
	return out, nil
}

// built are the steps without an order.
var built = model.Steps{Rotated: true, Pull: true, Placed: true, Early: true}

// fastest returns the structures in the order whose products are fastest, and its name.
func (c counted) fastest(n *model.Node, cache int) (map[int]model.Structure, string) {
	last, in := c.whole, "as it is"
	for _, name := range slices.Sorted(maps.Keys(c.reordered)) {
		if of := c.reordered[name]; n.Apply(of[n.GPUs], built, cache).Total() < n.Apply(last[n.GPUs], built, cache).Total() {
			last, in = of, name
		}
	}
	return last, in
}

// nodeTables are the tables of a node.
type nodeTables struct {
	node             *model.Node
	cache            int // its number among the nodes
	speedups, phases plot.Table
}

func newNodeTables(n *model.Node) nodeTables {
	t := nodeTables{node: n, cache: slices.Index(model.NodeNames(), n.Name)}
	t.speedups = plot.Table{Name: "apply-" + n.Name, Title: n.Title + ": speed-up over one GPU", Origin: plot.Modelled,
		Header: []string{"matrix", "one GPU, us", "before", "1 rotated", "2 one kernel, few calls", "whole rows", "4 placed", "8 reordered", "overlap", "order"}}
	t.phases = plot.Table{Name: "apply-" + n.Name + "-phases", Title: n.Title + ": microseconds of a product, and calls of the driver", Origin: plot.Modelled,
		Header: []string{"matrix", "steps", "waits", "exchange", "product", "merge", "all", "host", "calls", "calls of one GPU"}}
	return t
}

// add models a workload.
func (t *nodeTables) add(s *Session, n *model.Node, name string, c counted) {
	one := n.Apply(c.whole[1], model.Steps{}, t.cache).Total()
	row := []string{name, fmt.Sprintf("%.1f", 1e6*one)}
	last, in := c.fastest(n, t.cache)
	overlapped := built
	overlapped.Overlap = true
	for _, v := range []struct {
		name  string
		of    map[int]model.Structure
		steps model.Steps
	}{
		{"before", c.byNNZ, model.Steps{}},
		{"1", c.byNNZ, model.Steps{Rotated: true}},
		{"1, 2", c.byNNZ, model.Steps{Rotated: true, Pull: true}},
		{"whole rows", c.whole, model.Steps{Rotated: true, Pull: true, Early: true}},
		{"4", c.whole, built},
		{"8", last, built},
		{"overlap", last, overlapped},
	} {
		a := n.Apply(v.of[n.GPUs], v.steps, t.cache)
		row = append(row, fmt.Sprintf("%.2f", one/a.Total()))
		s.Record.AddModelled("apply", n.Name+" "+name, v.name, a.Total())
		us := func(v float64) string { return fmt.Sprintf("%.1f", 1e6*v) }
		t.phases.Rows = append(t.phases.Rows, []string{name, v.name, us(a.Wait), us(a.Exchange), us(a.Compute), us(a.Merge), us(a.Total()), us(a.Host), fmt.Sprint(a.Calls), fmt.Sprint(a.Most)})
	}
	t.speedups.Rows = append(t.speedups.Rows, append(row, in))
}

// aims states which aims the nodes reach.
func aims(tables []nodeTables) (out []string) {
	for _, t := range tables {
		for _, aim := range []struct {
			name string
			gpus int
			less float64
		}{{"27-point stencil, 224 a side", 8, 7.2}, {"27-point stencil, 224 a side", 6, 5.5}, {"rmat, 8 M nodes, 131 M entries", 8, 4}} {
			if aim.gpus != t.node.GPUs {
				continue
			}
			at := slices.IndexFunc(t.speedups.Rows, func(r []string) bool { return r[0] == aim.name })
			row := t.speedups.Rows[at]
			out = append(out, fmt.Sprintf("%s, %s: aim %.1f; steps 1, 2 and 4 give %s, with 8 %s, overlap %s.", t.node.Title, aim.name, aim.less, row[6], row[7], row[8]))
		}
	}
	return out
}

func sentRow(name, order string, entries int64, of map[int]model.Structure) []string {
	row := []string{name, order, fmt.Sprint(entries)}
	for _, n := range []int{8, 6} {
		all, most := of[n].Sent()
		row = append(row, fmt.Sprintf("%.3f", float64(all)/1e6), fmt.Sprintf("%.3f", float64(most)/1e6))
	}
	return row
}

// productTable compares the modelled products of one H100 with those that were measured.
func (s *Session) productTable(ctx context.Context, n *model.Node) (t plot.Table, remark string, err error) {
	t = plot.Table{Name: "apply-products", Title: "Products of one H100 in float64, microseconds", Origin: plot.Modelled,
		Header: []string{"matrix", "form", "entries counted", "measured", "modelled", "difference, %"}}
	within := 0
	for _, m := range n.Products {
		if err := s.step(ctx, "apply: "+m.Matrix); err != nil {
			return t, "", err
		}
		var of model.Structure
		entries := m.Entries
		if w := m.Workload(); w.Spec != nil {
			file, err := matio.Read(ctx, "gen:"+w.Spec(s.Entries))
			if err != nil {
				return t, "", err
			}
			a := file.CSR
			all := []partition.Part{{EndIdx: int64(a.NNZ()) - 1, EndMajor: a.Rows - 1, OwnEnd: a.Rows}}
			counts, err := countSplit(w, a, []int{1}, []*model.Node{n}, func(*sparse.CSR[float64], int) ([]partition.Part, error) { return all, nil })
			if err != nil {
				return t, "", err
			}
			of, entries = counts[1], file.NNZ()
		}
		p := n.Predict(m, of)
		off := 100 * (p/m.Seconds - 1)
		if off >= -20 && off <= 20 {
			within++
		}
		t.Rows = append(t.Rows, []string{m.Matrix, m.Form, fmt.Sprint(entries), fmt.Sprintf("%.1f", 1e6*m.Seconds), fmt.Sprintf("%.1f", 1e6*p), fmt.Sprintf("%+.0f", off)})
	}
	return t, fmt.Sprintf("Products of one H100: %d of %d are modelled within 20 %%.", within, len(n.Products)), nil
}

// partialsTable models the sums of partial vectors that end a minor product, as in CSC.
func partialsTable(nodes []*model.Node) plot.Table {
	t := plot.Table{Name: "apply-partials", Title: "Sum of the partial vectors of a product in CSC, microseconds", Origin: plot.Modelled,
		Header: []string{"node", "rows of y", "before", "1 rotated", "2 one kernel", "4 placed", "2, without peer access"}}
	for _, n := range nodes {
		for _, rows := range []int64{1e6, 10e6} {
			row := []string{n.Title, fmt.Sprint(rows)}
			for _, steps := range []model.Steps{{}, {Rotated: true}, {Rotated: true, Pull: true}, {Rotated: true, Pull: true, Placed: true}} {
				row = append(row, fmt.Sprintf("%.0f", 1e6*n.Partials(rows, n.GPUs, steps)))
			}
			row = append(row, fmt.Sprintf("%.0f", 1e6*n.WithoutPeers().Partials(rows, n.GPUs, model.Steps{Rotated: true, Pull: true})))
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func nodeParameters(n *model.Node) plot.Table {
	t := plot.Table{Name: "apply-" + n.Name + "-parameters", Title: n.Title + ": parameters", Origin: plot.Modelled, Prose: true,
		Header: []string{"parameter", "value", "unit", "source"}}
	names, params := n.Params()
	for i, name := range names {
		t.Rows = append(t.Rows, []string{name, fmt.Sprintf("%.7g", params[i].Value), params[i].Unit, params[i].Source})
	}
	return t
}
