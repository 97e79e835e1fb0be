package main

import (
	"context"
	"encoding/json"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

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
