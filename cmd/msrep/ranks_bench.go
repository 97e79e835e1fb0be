package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// benchRanks is the name of the experiment that runs on several ranks.
const benchRanks = "ranks"

// rankCase is one matrix and operation of bench ranks. Each time is the largest of all ranks.
type rankCase struct {
	Matrix   matrixName `json:"matrix"`
	Op       string     `json:"op"`
	Ranks    int        `json:"ranks"`
	Products int        `json:"products"`
	Bytes    int64      `json:"bytes"`    // sent by all ranks in one product
	Messages int64      `json:"messages"` // sent by all ranks in one product
	Product  float64    `json:"product_s"`
	Local    float64    `json:"local_s"`
	Remote   float64    `json:"remote_s"`
	Exchange float64    `json:"exchange_s"`
	Wait     float64    `json:"wait_s"`  // part of exchange_s that no product overlapped
	Overlap  float64    `json:"overlap"` // fraction of exchange_s that a product overlapped
	GFlops   number     `json:"gflops"`
}

// runOverRanks measures products of the matrices named after "ranks".
func (b *benchmark) runOverRanks(ctx context.Context) error {
	var err error
	switch {
	case len(b.args) < 2 || b.args[0] != benchRanks:
		err = usageError("on several ranks use msrep bench ranks MATRIX...")
	case b.samples < 1 || b.samples > maxRepeat:
		err = sparse.Inputf("--samples", "%d: use 1 to %d", b.samples, maxRepeat)
	}
	if err := b.agree(err); err != nil {
		return err
	}
	t := b.team
	if err := t.open(ctx, msrep.Config{Devices: b.devices, Threads: b.threads, Warn: b.warn}); err != nil {
		return err
	}
	var cases []rankCase
	for _, path := range b.args[1:] {
		for _, op := range []msrep.Transpose{msrep.NoTrans, msrep.Trans} {
			c, err := b.measureRanks(ctx, path, op)
			if err != nil {
				return err
			}
			cases = append(cases, c)
		}
	}
	if t.comm.Rank() != 0 {
		return nil
	}
	if b.json {
		return b.printJSON(struct {
			Cases []rankCase `json:"cases"`
		}{cases})
	}
	fmt.Fprintf(b.stdout, "matrix                   op  ranks        bytes  messages     product       local      remote    exchange  hidden  GFLOP/s\n")
	for _, c := range cases {
		_, err = fmt.Fprintf(b.stdout, "%-24s %-3s %5d %12d %9d %11s %11s %11s %11s  %4.0f %%  %7.3f\n", c.Matrix.Name, c.Op, c.Ranks, c.Bytes, c.Messages,
			seconds(c.Product), seconds(c.Local), seconds(c.Remote), seconds(c.Exchange), 100*c.Overlap, float64(c.GFlops))
	}
	return err
}

// measureRanks times the products of one matrix after one untimed product.
func (b *benchmark) measureRanks(ctx context.Context, path string, op msrep.Transpose) (c rankCase, err error) {
	t := b.team
	begin := time.Now()
	m, _, err := cluster.Read(ctx, t.sys, path, 1)
	if err != nil {
		return c, err
	}
	read := time.Since(begin)
	rank := t.comm.Rank()
	xCut, yCut := m.ColCut, m.RowCut
	opt := msrep.PlanOptions{Expected: msrep.Expected{Products: b.expected}}
	c = rankCase{Matrix: matrixName{shortName(path), m.Rows, m.Cols, m.NNZ}, Op: "A", Ranks: t.comm.Size(), Products: b.samples}
	if op == msrep.Trans {
		xCut, yCut, c.Op = yCut, xCut, "A'"
		opt.Expected.Transposed = max(b.expected, 100)
	}
	plan, err := place(ctx, t, m, opt, read)
	if err != nil {
		return c, err
	}
	defer plan.Close()
	product, done, failed := productOf(ctx, plan.Plan, op, xCut[rank+1]-xCut[rank], yCut[rank+1]-yCut[rank])
	defer done()
	multiply := func() {
		if err := product(); err != nil && failed == nil {
			failed = err
		}
	}
	multiply()
	before := plan.report()
	plan.ResetTimes()
	for range b.samples {
		multiply()
	}
	if err := b.agree(failed); err != nil {
		return c, err
	}
	ranks, err := collect(t, plan.report())
	if err != nil {
		return c, err
	}
	firsts, err := collect(t, before)
	if err != nil || rank != 0 {
		return c, err
	}
	var hidden, all float64
	for r, k := range ranks {
		p := k.Phases
		c.Bytes += firsts[r].Sent
		c.Messages += firsts[r].Messages
		c.Product, c.Local, c.Remote = max(c.Product, p.Product), max(c.Local, p.Local), max(c.Remote, p.Remote)
		c.Exchange, c.Wait = max(c.Exchange, p.Exchange), max(c.Wait, p.Wait)
		hidden, all = hidden+max(p.Exchange-p.Wait, 0), all+p.Exchange
	}
	if all > 0 {
		c.Overlap = hidden / all
	}
	c.GFlops = number(2 * float64(c.Matrix.NNZ) / c.Product / 1e9)
	return c, nil
}

// productOf returns product, which multiplies a vector of ones and waits for the result, and done, which frees the
// vectors. The vectors stay on the devices if the plan's devices keep them.
func productOf(ctx context.Context, plan *cluster.Plan[float64], op msrep.Transpose, cols, rows int) (product func() error, done func() error, err error) {
	if !plan.Resident(op) {
		x, y := make([]float64, cols), make([]float64, rows)
		ones(x)
		return func() error {
			err := plan.SpMV(ctx, op, 1, x, 0, y)
			return err
		}, func() error { return nil }, nil
	}
	x, y := plan.ColumnVector, plan.RowVector
	if op == msrep.Trans {
		x, y = y, x
	}
	xv, err := x()
	if err == nil {
		err = xv.Fill(1)
	}
	yv, e := y()
	return func() error { return errors.Join(plan.Apply(ctx, op, 1, xv, 0, yv), yv.Wait()) },
		func() error { return errors.Join(xv.Close(), yv.Close()) }, errors.Join(err, e)
}

// rankReport is what each rank reports.
type rankReport struct {
	Rank     int    `json:"rank"`
	Host     string `json:"host"`
	FirstRow int    `json:"first_row"`
	LastRow  int    `json:"last_row"`
	NNZ      int64  `json:"nnz"`
	Halo     int    `json:"halo"`          // elements of x that a product with A receives from other ranks
	Sent     int64  `json:"bytes_sent"`    // vector elements to other ranks, in all products
	Messages int64  `json:"messages_sent"` // messages with these elements
	Memory   string `json:"messages_in"`   // memory that holds messages: host, pinned or device
	Products int64  `json:"products"`
	Peak     int64  `json:"peak_bytes"` // peak memory of the process; 0 where the system does not report it

	Phases rankPhases `json:"phases"`
}

// rankPhases are times in seconds: the file and the plan once, the others means over the products.
type rankPhases struct {
	Read     float64 `json:"read_s"`
	Plan     float64 `json:"plan_s"`
	Pack     float64 `json:"pack_s"`     // copying elements into and out of messages
	Exchange float64 `json:"exchange_s"` // from the first message to the last
	Wait     float64 `json:"wait_s"`     // part of Exchange that no product overlapped
	Local    float64 `json:"local_s"`    // product with the columns of this rank
	Remote   float64 `json:"remote_s"`   // product with the columns of other ranks
	Product  float64 `json:"product_s"`  // one whole product
}

// rankPlan is a plan over ranks with the data that a rank reports about it.
type rankPlan[V sparse.Value] struct {
	*cluster.Plan[V]
	team        *team
	first, rows int // rows of this rank
	nnz         int64
	read, took  time.Duration // times of the file and of the plan
}

// place makes a plan of m. read is the time that reading m took.
func place[V sparse.Value](ctx context.Context, t *team, m *cluster.Matrix[V], opt msrep.PlanOptions, read time.Duration) (*rankPlan[V], error) {
	p := &rankPlan[V]{team: t, first: m.First(), rows: m.Part.Rows, nnz: m.Part.NNZ(), read: read}
	begin := time.Now()
	debug.FreeOSMemory() // return the memory that reading used
	var err error
	p.Plan, err = cluster.NewPlan(ctx, t.sys, m, opt)
	p.took = time.Since(begin)
	return p, err
}

// report returns the times and counts of the plan on this rank.
func (p *rankPlan[V]) report() rankReport {
	times, n := p.Times()
	mean := func(d time.Duration) float64 { return d.Seconds() / float64(max(n, 1)) }
	out := rankReport{
		Rank: p.team.comm.Rank(), Host: p.team.host, FirstRow: p.first, LastRow: p.first + p.rows - 1, NNZ: p.nnz,
		Halo: p.Halo(), Memory: p.Messages(), Products: n, Peak: peakMemory(),
		Phases: rankPhases{
			Read: p.read.Seconds(), Plan: p.took.Seconds(), Pack: mean(times.Pack), Exchange: mean(times.Exchange), Wait: mean(times.Wait),
			Local: mean(times.Local), Remote: mean(times.Remote), Product: mean(times.Total),
		},
	}
	out.Sent, out.Messages = p.Sent()
	return out
}

// collect returns the reports of all ranks on rank 0, and nil on the others.
func collect[T any](t *team, own T) ([]T, error) {
	b, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	send := make([][]byte, t.comm.Size())
	send[0] = b
	received, err := t.comm.Swap(send)
	if err != nil || t.comm.Rank() != 0 {
		return nil, err
	}
	all := make([]T, len(received))
	for r, b := range received {
		if err := json.Unmarshal(b, &all[r]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// peakMemory returns the peak memory of this process in bytes, as Linux reports it; 0 elsewhere.
func peakMemory() int64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(kb), "kB")), 10, 64)
			return n << 10
		}
	}
	return 0
}
