package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/internal/stats"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
	"github.com/msrep-go/msrep/sparse/matio"
	"github.com/msrep-go/msrep/sparse/order"
)

var infoCommand = &command{
	name: "info", args: "MATRIX",
	summary:   "describe a matrix: shape, row lengths, what each format would cost",
	details:   matrixHelp,
	example:   "msrep info matrix.mtx.gz --json",
	opensNone: true,
	setup: func(c *call) func(context.Context) error {
		explain := c.flags.Bool("explain", false, "pack the matrix as a plan would, and show the forms that the devices tried, with their times and sizes")
		picture := c.flags.String("plot", "", "draw the matrix, its forms (as --explain) and what parts of it exchange into `FILE`: .html, or .png or .svg for one picture")
		ranks := c.flags.String("ranks", "", "estimate what a product sends over `N,N,...` MPI processes")
		parts := c.flags.Int("partition", 0, "count the elements of x that `P` devices exchange in a product, for some orders of the rows")
		return func(ctx context.Context) error {
			if err := c.want(1); err != nil {
				return err
			}
			if c.given("partition") && (*parts < 1 || *parts > partition.MaxParts) {
				return sparse.Inputf("--partition", "%d: use 1 to %d", *parts, partition.MaxParts)
			}
			counts, err := rankCounts(*ranks)
			if err != nil {
				return err
			}
			if err := checkPicture("--plot", *picture, plot.Extensions, namedFile{c.args[0], "the matrix"}); err != nil {
				return err
			}
			drawn, err := openPicture("--plot", *picture)
			if err != nil {
				return err
			}
			defer drawn.close()
			m, err := c.readMatrix(ctx, c.args[0])
			if err != nil {
				return err
			}
			c.progress.doing("counting", nil)
			d, err := c.describe(ctx, m, *explain || drawn != nil && !hugeVectors(m.CSR), counts)
			if err == nil && *parts > 0 {
				d.Partition, err = c.partitioned(ctx, m.CSR, *parts)
			}
			if err == nil && drawn != nil {
				err = c.draw(d, drawn, *picture, m)
			}
			if !*explain {
				d.Explain = nil
			}
			if err == nil {
				err = c.printDescription(d)
			}
			return errors.Join(err, m.Close())
		}
	},
}

// description is the result that msrep info prints.
type description struct {
	Name     string          `json:"name"`
	Stored   int64           `json:"stored"` // entries in the file
	Field    sparse.Field    `json:"field"`
	Symmetry sparse.Symmetry `json:"symmetry"`
	stats.Stats
	Recommended stats.Recommendation `json:"recommended"` // for one CPU core
	ForGPU      stats.Recommendation `json:"recommended_gpu"`
	Explain     []explanation        `json:"explain,omitempty"`
	Ranks       []cluster.Exchange   `json:"ranks,omitempty"`
	Partition   *partitionReport     `json:"partition,omitempty"`
}

// describe computes the description; with explained also which forms the devices try.
func (c *call) describe(ctx context.Context, m *matio.Matrix, explained bool, ranks []int) (d description, err error) {
	d = description{Name: shortName(m.Name), Stored: m.Source.Stored, Field: m.Source.Field, Symmetry: m.Source.Symmetry, Stats: stats.Of(m.CSR)}
	d.Recommended, d.ForGPU = d.Stats.Recommend(), d.Stats.RecommendGPU()
	if explained {
		if d.Explain, err = explain(ctx, c, m.CSR); err != nil {
			return d, err
		}
	}
	for _, n := range ranks {
		c.progress.doing(fmt.Sprintf("splitting over %d ranks", n), nil)
		e, err := cluster.Model(m.CSR, n, 1, 8)
		if err != nil {
			return d, err
		}
		d.Ranks = append(d.Ranks, e)
	}
	return d, nil
}

// printDescription prints the description as text or JSON.
func (c *call) printDescription(d description) error {
	if c.json {
		return c.printJSON(d)
	}
	err := d.print(c.stdout)
	printExplanation(c, d.Explain)
	printExchanges(c.stdout, d.Ranks)
	d.Partition.print(c.stdout)
	return err
}

func (d description) print(w io.Writer) error {
	r := "undefined"
	if d.PowerLawR != nil {
		r = fmt.Sprintf("%.3f", *d.PowerLawR)
	}
	fmt.Fprintf(w, `%s
  size          %d x %d, %d nonzeros
  in the file   %d entries, %s, %s
  row lengths   %d to %d, mean %.6g, standard deviation %.6g
  empty         %d rows, %d columns
  bandwidth     %d (below the diagonal %d, above %d)
  power law R   %s
  formats, nothing measured (warp iterations and work: PELLR paper, equations 1 and 2; docs/formats.md)
  format               bytes         padding   warp iterations   work
`, d.Name, d.Rows, d.Cols, d.NNZ, d.Stored, d.Field, d.Symmetry, d.Row.Min, d.Row.Max, d.Row.Mean, d.Row.StdDev,
		d.EmptyRows, d.EmptyCols, d.Bandwidth, d.Lower, d.Upper, r)
	for _, name := range append([]sparse.Format{sparse.FormatCSR, sparse.FormatCSC, sparse.FormatCOO}, ellpack.Formats()...) {
		f, ok := d.Formats[string(name)]
		if !ok {
			continue
		}
		fmt.Fprintf(w, "  %-10s %15d %15d   %-15s   %s\n", name, f.Bytes, f.Padding, orDash(f.WarpIterations), orDash(f.Work))
	}
	_, err := fmt.Fprintf(w, "  recommended by the model: %s, %s%s\n  for a GPU: %s, %s\n",
		d.Recommended.Format, alias(d.Recommended.Format), d.Recommended.Why, d.ForGPU.Format, d.ForGPU.Why)
	return err
}

// alias says which form of devices corresponds to a format of another name.
func alias(f sparse.Format) string {
	if f == ellpack.FormatSELL {
		return "which devices call slices: "
	}
	return ""
}

func orDash(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

// rankCounts parses the value of --ranks.
func rankCounts(s string) (counts []int, err error) {
	if s == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || n > partition.MaxParts {
			return nil, sparse.Inputf("--ranks", "%q: use numbers from 1 to %d with commas between them", s, partition.MaxParts)
		}
		counts = append(counts, n)
	}
	return counts, nil
}

// printExchanges prints the messages that products over ranks would send.
func printExchanges(w io.Writer, all []cluster.Exchange) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "  one product over ranks (computed)\n   ranks  imbalance  local       bytes, all   most of one   messages, all   most of one   largest halo\n")
	for _, e := range all {
		fmt.Fprintf(w, "  %6d %10.4f %5.1f %% %16d %13d %15d %13d %14d\n", e.Ranks, e.Imbalance, 100*e.Local, e.Bytes, e.MaxBytes, e.Messages, e.MaxPeers, e.MaxHalo)
	}
}

// partitionReport describes what devices exchange in a product y = A*x if each has a range of the rows and of the elements of x.
type partitionReport struct {
	Parts  int           `json:"parts"`
	Orders []orderReport `json:"orders"`
}

// orderReport is the exchange for one order of the rows.
type orderReport struct {
	Order     string       `json:"order"`     // "file", "rcm" or "partition", that of msrep.PlanOptions.Reorder
	Total     int64        `json:"total"`     // elements that all parts receive
	Largest   int64        `json:"largest"`   // the most that one receives
	Ratio     float64      `json:"ratio"`     // Total over that of the file; 1 if both are 0
	Imbalance float64      `json:"imbalance"` // the most entries of a part over the mean
	Parts     []partReport `json:"parts"`
}

// partReport is the exchange of one part.
type partReport struct {
	Rows  int   `json:"rows"`
	NNZ   int64 `json:"nnz"`
	Sends int64 `json:"sends"` // elements, to all parts
	Gets  int64 `json:"gets"`
}

// partitioned returns what parts of a square matrix exchange in the order of the file, in reverse Cuthill-McKee order and in that
// of order.Partition.
func (c *call) partitioned(ctx context.Context, a *sparse.CSR[float64], parts int) (*partitionReport, error) {
	c.progress.doing(fmt.Sprintf("dividing into %d parts", parts), nil)
	best, bestCuts, err := order.Partition(ctx, a, parts)
	if err != nil {
		return nil, err
	}
	rcm, err := order.RCM(a)
	if err != nil {
		return nil, err
	}
	r := &partitionReport{Parts: parts}
	for _, o := range []struct {
		name string
		p    []int32
		cuts []int
	}{{"file", nil, nil}, {"rcm", rcm, nil}, {"partition", best, bestCuts}} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ptr := make([]int64, a.Rows+1) // of the permuted matrix
		for k := range a.Rows {
			i := k
			if o.p != nil {
				i = int(o.p[k])
			}
			ptr[k+1] = ptr[k] + a.RowPtr[i+1] - a.RowPtr[i]
		}
		if o.cuts == nil {
			split, _, err := partition.Split(ptr, parts, partition.RuleWhole)
			if err != nil {
				return nil, err
			}
			o.cuts = []int{0}
			for _, q := range split {
				o.cuts = append(o.cuts, q.OwnEnd)
			}
		}
		h, err := order.Halo(a, o.p, o.cuts)
		if err != nil {
			return nil, err
		}
		r.add(o.name, h, ptr, o.cuts)
	}
	return r, nil
}

// add adds an order with the row pointers of the matrix in this order.
func (r *partitionReport) add(name string, h order.HaloSize, ptr []int64, cuts []int) {
	o := orderReport{Order: name, Total: h.Total, Largest: h.Largest, Ratio: 1, Imbalance: 1}
	if len(r.Orders) > 0 && h.Total != r.Orders[0].Total {
		o.Ratio = float64(h.Total) / float64(max(r.Orders[0].Total, 1))
	}
	most := int64(0)
	for k := range r.Parts {
		q := partReport{Rows: cuts[k+1] - cuts[k], NNZ: ptr[cuts[k+1]] - ptr[cuts[k]], Sends: h.Sent[k], Gets: h.Received[k]}
		most = max(most, q.NNZ)
		o.Parts = append(o.Parts, q)
	}
	if nnz := ptr[len(ptr)-1]; nnz > 0 {
		o.Imbalance = float64(most) * float64(r.Parts) / float64(nnz)
	}
	r.Orders = append(r.Orders, o)
}

// print prints the report as text. r may be nil.
func (r *partitionReport) print(w io.Writer) {
	if r == nil {
		return
	}
	fmt.Fprintf(w, "  elements of x that %d devices receive in a product (computed)\n   order          received   most by one   over file order   imbalance\n", r.Parts)
	for _, o := range r.Orders {
		fmt.Fprintf(w, "   %-10s %12d %13d %17.4f %11.4f\n", o.Order, o.Total, o.Largest, o.Ratio, o.Imbalance)
	}
}

// explanation is the form in which a device would keep its part, and the reason.
type explanation struct {
	Device string       `json:"device"`
	Form   kernels.Form `json:"form"`
	Why    string       `json:"why"`
	Bytes  int64        `json:"bytes"`
	TookS  float64      `json:"took_s"`
	Doubt  float64      `json:"doubt"` // kernels.PackInfo.Doubt
	Tried  []tried      `json:"tried"`
}

// tried is a form that a device considered.
type tried struct {
	Form     kernels.Form `json:"form"`
	Why      string       `json:"why"`
	ProductS float64      `json:"product_s,omitempty"`
	BuildS   float64      `json:"build_s,omitempty"`
	Bytes    int64        `json:"bytes,omitempty"`
	Skipped  string       `json:"skipped,omitempty"`
}

// explain packs the matrix as a plan does and returns which forms each device considered.
func explain(ctx context.Context, c *call, a *sparse.CSR[float64]) (out []explanation, err error) {
	c.progress.doing("trying forms", nil)
	sys, err := msrep.Open(msrep.Config{Devices: c.devices, Threads: c.threads, Warn: c.warn})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sys.Close()) }()
	plan, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{SkipValidation: true})
	if err != nil {
		return nil, err
	}
	for i, p := range plan.Packed(msrep.NoTrans) {
		e := explanation{Device: sys.Devices()[i].ID, Form: p.Form, Why: p.Why, Bytes: p.Bytes, TookS: p.Took.Seconds(), Doubt: p.Doubt, Tried: []tried{}}
		for _, t := range p.Tried {
			e.Tried = append(e.Tried, tried{t.Form, t.Why, t.Product.Seconds(), t.Build.Seconds(), t.Bytes, t.Skipped})
		}
		out = append(out, e)
	}
	return out, nil
}

// printExplanation prints explanations as text.
func printExplanation(c *call, all []explanation) {
	if len(all) > 0 {
		fmt.Fprintln(c.stdout, "forms that a plan would use, with measured times:")
	}
	for _, e := range all {
		if e.Form == "" {
			fmt.Fprintf(c.stdout, "%-8s keeps its part as it is\n", e.Device)
			continue
		}
		fmt.Fprintf(c.stdout, "%-8s form %s: %s; %s, found in %s\n", e.Device, e.Form, e.Why, memoryOf(e.Bytes), seconds(e.TookS))
		for _, t := range e.Tried {
			if t.Skipped != "" {
				fmt.Fprintf(c.stdout, "  %-19s not timed: %s (%s)\n", t.Form, t.Skipped, t.Why)
				continue
			}
			fmt.Fprintf(c.stdout, "  %-19s product %s, made in %s, %s (%s)\n", t.Form, seconds(t.ProductS),
				time.Duration(t.BuildS*1e9).Round(time.Microsecond), memoryOf(t.Bytes), t.Why)
		}
	}
}

// memoryOf returns the memory of a form as text. A form with 0 bytes uses the matrix in place.
func memoryOf(bytes int64) string {
	if bytes == 0 {
		return "in place"
	}
	return fmt.Sprintf("%d bytes", bytes)
}
