package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// ranksReport is the result that msrep spmv prints on several ranks. Its phases are those of the slowest rank.
type ranksReport struct {
	Matrix      matrixName     `json:"matrix"`
	Op          string         `json:"op"`
	Format      sparse.Format  `json:"format"`
	Strategy    string         `json:"strategy"`
	Split       partition.Rule `json:"split"` // of the rows over ranks
	Devices     []rankDevice   `json:"devices"`
	Phases      phases         `json:"phases"`
	GFlops      number         `json:"gflops"`
	BytesPerNNZ number         `json:"bytes_per_nnz"`
	Imbalance   float64        `json:"imbalance"` // largest nnz of a rank over the mean
	Y           norms          `json:"y"`
	Ranks       []rankReport   `json:"ranks"`
}

// rankDevice is a device of a rank; its rows and entries are counted within the rank.
type rankDevice struct {
	Rank int `json:"rank"`
	deviceReport
}

// rankPart is the data that a rank sends to rank 0.
type rankPart struct {
	rankReport
	Devices []rankDevice
	Bytes   int64 // bytes that a product moves on this rank
}

// runOverRanks does the work of run on several ranks.
func (s *spmv) runOverRanks(ctx context.Context) error {
	if s.renumber {
		return s.agree(sparse.Inputf("--renumber", "applies to edge lists, which several ranks cannot read: leave it out"))
	}
	m, _, read, err := s.onRanks(ctx, s.out, msrep.Config{NUMA: msrep.NUMA(s.numa)}, 1)
	if err != nil {
		return err
	}
	if s.value == "fp32" {
		if err := s.agree(checkSingle(s.args[0], m.Part, m.First())); err != nil {
			return err
		}
		return multiplyOverRanks(ctx, s, cluster.Convert[float32](m), read)
	}
	return multiplyOverRanks(ctx, s, m, read)
}

func multiplyOverRanks[V sparse.Value](ctx context.Context, s *spmv, m *cluster.Matrix[V], read time.Duration) error {
	t := s.team
	rank := t.comm.Rank()
	op, xCut, yCut := msrep.NoTrans, m.ColCut, m.RowCut
	if s.transpose {
		op, xCut, yCut = msrep.Trans, m.RowCut, m.ColCut
	}
	x, err := pieceOf[V](ctx, s.call, t.comm, "--x", s.x, xCut)
	var y0, y []V
	if err == nil {
		y0, err = pieceOf[V](ctx, s.call, t.comm, "--y", s.y, yCut)
	}
	if err == nil {
		y, err = newVector[V]("--y", len(y0))
	}
	if err := s.agree(err); err != nil {
		return err
	}
	plan, err := place(ctx, t, m, s.planOptions(), read)
	if err != nil {
		return s.unsuited(err)
	}
	defer plan.Close()
	times := make([]msrep.Timing, s.repeat)
	var failed error
	for i := range times { // a failed rank continues, because the others wait for it
		copy(y, y0)
		if err := plan.SpMV(ctx, op, V(s.alpha), x, V(s.beta), y); err != nil && failed == nil {
			failed = err
		}
		times[i] = plan.LastTiming()
	}
	if err := s.agree(failed); err != nil {
		return err
	}
	whole, err := cluster.Gather(t.comm, y)
	if err != nil {
		return err
	}
	if err := s.agree(writeOutput(t, s.out, whole)); err != nil {
		return err
	}
	part := rankPart{rankReport: plan.report(), Bytes: bytesHere(plan.Plan, op, s.beta != 0)}
	part.Devices = devicesOf(rank, t.sys.Local(), plan.Local(op), op && !msrep.Transpose(s.deterministic), times)
	parts, err := collect(t, part)
	if err != nil || rank != 0 {
		return err
	}
	r := s.overall(plan.Local(op).Format(), parts)
	rows, cols, entries := plan.Whole()
	r.Matrix = matrixName{shortName(s.args[0]), rows, cols, entries}
	r.GFlops = number(2 * float64(entries) / r.Phases.Product / 1e9)
	r.BytesPerNNZ = number(sumOf(parts, func(p rankPart) float64 { return float64(p.Bytes) }) / float64(entries))
	r.Y = normsOf(whole)
	if s.json {
		return s.printJSON(r)
	}
	return r.print(s.stdout)
}

// pieceOf returns this rank's piece of a vector: elements cut[rank] to cut[rank+1].
func pieceOf[V sparse.Value](ctx context.Context, c *call, comm cluster.Comm, flag, spec string, cut []int) ([]V, error) {
	rank := comm.Rank()
	v, err := c.readPiece(ctx, flag, spec, cut[comm.Size()], cut[rank], cut[rank+1])
	if err != nil {
		return nil, err
	}
	return convert[V](flag, v)
}

// devicesOf describes the devices of one rank.
func devicesOf[V sparse.Value](rank int, sys *msrep.System, plan *msrep.Plan[V], op msrep.Transpose, times []msrep.Timing) (out []rankDevice) {
	for _, d := range deviceReports(sys, plan, op, times) {
		out = append(out, rankDevice{rank, d})
	}
	return out
}

// bytesHere returns the least number of bytes that a product moves on this rank, messages included.
func bytesHere[V sparse.Value](p *cluster.Plan[V], op msrep.Transpose, readsY bool) int64 {
	rows, cols := p.Local(op).Dims()
	b := productBytes(p.Local(op), rows, cols, readsY)
	if r := p.Remote(); r != nil {
		m, n := r.Dims()
		b += productBytes(r, m, n, false)
	}
	return b
}

func sumOf[T any](all []T, f func(T) float64) (sum float64) {
	for _, v := range all {
		sum += f(v)
	}
	return sum
}

// overall combines the reports of all ranks.
func (s *spmv) overall(format sparse.Format, parts []rankPart) ranksReport {
	r := ranksReport{Op: "A", Format: format, Strategy: s.strategy, Split: partition.RuleWhole}
	if s.format != "auto" {
		r.Format = sparse.Format(s.format)
	}
	if s.transpose {
		r.Op = "A'"
	}
	var most, all int64
	for _, p := range parts {
		r.Devices, r.Ranks = append(r.Devices, p.Devices...), append(r.Ranks, p.rankReport)
		most, all = max(most, p.NNZ), all+p.NNZ
		q, t := &r.Phases, p.Phases
		q.Read, q.Partition = max(q.Read, t.Read), max(q.Partition, t.Plan)
		q.Distribute = max(q.Distribute, t.Pack+t.Wait)
		q.Kernel, q.Product = max(q.Kernel, t.Local+t.Remote), max(q.Product, t.Product)
	}
	r.Phases.Total = r.Phases.Read + r.Phases.Partition + r.Phases.Product
	r.Imbalance = 1
	if all > 0 {
		r.Imbalance = float64(most) * float64(len(parts)) / float64(all)
	}
	return r
}

func (r ranksReport) print(w io.Writer) error {
	fmt.Fprintf(w, "%s  %d x %d, %d nonzeros\n", r.Matrix.Name, r.Matrix.Rows, r.Matrix.Cols, r.Matrix.NNZ)
	fmt.Fprintf(w, "y = alpha*%s*x + beta*y  %s, strategy %s, ranks %d, imbalance %.4f\n", r.Op, r.Format, r.Strategy, len(r.Ranks), r.Imbalance)
	printRanks(w, r.Ranks)
	p := r.Phases
	fmt.Fprintf(w, "phases  read %s  plan %s  exchange %s  kernel %s  total %s (of the slowest rank)\n",
		seconds(p.Read), seconds(p.Partition), seconds(p.Distribute), seconds(p.Kernel), seconds(p.Total))
	return printProduct(w, r.Matrix.NNZ, p.Product, r.BytesPerNNZ, slices.ContainsFunc(r.Devices, rankDevice.packed), r.Y)
}

// printRanks prints a line for each rank.
func printRanks(w io.Writer, ranks []rankReport) {
	for _, k := range ranks {
		p := k.Phases
		fmt.Fprintf(w, "  rank %-4d %-12s %s, %d nonzeros, halo %d; sent %d bytes in %d messages; local %s, remote %s, waited %s of %s\n",
			k.Rank, k.Host, span("rows", k.FirstRow, k.LastRow), k.NNZ, k.Halo, k.Sent, k.Messages,
			seconds(p.Local), seconds(p.Remote), seconds(p.Wait), seconds(p.Exchange))
	}
}
