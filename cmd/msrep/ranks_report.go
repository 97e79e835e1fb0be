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

// rankReport is what each rank says of itself.
type rankReport struct {
	Rank     int    `json:"rank"`
	Host     string `json:"host"`
	FirstRow int    `json:"first_row"`
	LastRow  int    `json:"last_row"`
	NNZ      int64  `json:"nnz"`
	Halo     int    `json:"halo"`          // elements of x that a product with A brings here
	Sent     int64  `json:"bytes_sent"`    // vector elements to other ranks, in all products
	Messages int64  `json:"messages_sent"` // that held them
	Memory   string `json:"messages_in"`   // what messages use: host, pinned or device memory
	Products int64  `json:"products"`
	Peak     int64  `json:"peak_bytes"` // of memory, of the process since its start; 0 where the system does not tell

	Phases rankPhases `json:"phases"`
}

// rankPhases in seconds: the file and the plan, then means over the products.
type rankPhases struct {
	Read     float64 `json:"read_s"`
	Plan     float64 `json:"plan_s"`
	Pack     float64 `json:"pack_s"`     // elements into and out of messages
	Exchange float64 `json:"exchange_s"` // from the first message to the last
	Wait     float64 `json:"wait_s"`     // the part of it that no product hid
	Local    float64 `json:"local_s"`    // product of the columns of this rank
	Remote   float64 `json:"remote_s"`   // product of the columns of others
	Product  float64 `json:"product_s"`  // all of one product
}

// rankPlan is a plan over ranks, and what a rank reports of it.
type rankPlan[V sparse.Value] struct {
	*cluster.Plan[V]
	team        *team
	first, rows int // of this rank
	nnz         int64
	read, took  time.Duration // the file, and the plan
}

// place makes a plan of m, which took so long to read.
func place[V sparse.Value](ctx context.Context, t *team, m *cluster.Matrix[V], opt msrep.PlanOptions, read time.Duration) (*rankPlan[V], error) {
	p := &rankPlan[V]{team: t, first: m.First(), rows: m.Part.Rows, nnz: m.Part.NNZ(), read: read}
	begin := time.Now()
	debug.FreeOSMemory() // what reading has left
	var err error
	p.Plan, err = cluster.NewPlan(ctx, t.sys, m, opt)
	p.took = time.Since(begin)
	return p, err
}

// report tells what the plan did on this rank.
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

// collect brings what each rank reports to rank 0; the others get nothing.
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

// peakMemory is the most bytes of memory that this process has had at any time, as
// Linux says; 0 elsewhere.
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
