package msrep_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"sync"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// chrome collects events in the format that the trace viewers of browsers read.
type chrome struct {
	mu     sync.Mutex
	Events []chromeEvent `json:"traceEvents"`
}

type chromeEvent struct {
	Name     string `json:"name"`
	Phase    string `json:"ph"`  // X: it has a duration
	Start    int64  `json:"ts"`  // microseconds
	Duration int64  `json:"dur"` // microseconds
	Process  int    `json:"pid"`
	Thread   string `json:"tid"` // one line for each device
	Args     any    `json:"args,omitempty"`
}

func (c *chrome) record(e msrep.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Events = append(c.Events, chromeEvent{
		Name: e.Name, Phase: "X", Start: e.Start.UnixMicro(), Duration: e.Duration.Microseconds(),
		Thread: e.Device, Args: map[string]int64{"bytes": e.Bytes},
	})
}

// Write the operations of all devices as a trace for the trace viewer of a browser.
func ExampleConfig_trace() {
	var trace chrome
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:2", Trace: trace.record})
	if err != nil {
		log.Fatal(err)
	}
	defer sys.Close()
	a, err := sparse.NewCSR(2, 2, []int64{0, 1, 2}, []int32{0, 1}, []float64{2, 3})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := msrep.NewPlan(context.Background(), sys, sparse.Matrix[float64](a), msrep.PlanOptions{Storage: msrep.Storage{Format: sparse.FormatCSR}})
	if err != nil {
		log.Fatal(err)
	}
	y := make([]float64, 2)
	if err := plan.SpMV(context.Background(), msrep.NoTrans, 1, []float64{1, 1}, 0, y); err != nil {
		log.Fatal(err)
	}
	text, err := json.Marshal(&trace)
	if err != nil {
		log.Fatal(err)
	}
	kernels := 0
	for _, e := range trace.Events {
		if e.Name == "major-product" || e.Name == "major-product-packed" {
			kernels++
		}
	}
	fmt.Println(json.Valid(text), kernels, "kernels")
	// Output: true 2 kernels
}

// Keep a vector on the devices between products: the power method.
func ExampleVector() {
	ctx := context.Background()
	sys, err := msrep.Open(msrep.Config{Devices: "sim:2"})
	if err != nil {
		log.Fatal(err)
	}
	defer sys.Close() // closes the plan and the vectors as well
	a, err := sparse.NewCSR(2, 2, []int64{0, 2, 4}, []int32{0, 1, 0, 1}, []float64{2, 1, 1, 2})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := msrep.NewPlan(ctx, sys, sparse.Matrix[float64](a), msrep.PlanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	x, err := plan.ColumnVector()
	if err != nil {
		log.Fatal(err)
	}
	y, err := plan.RowVector()
	if err != nil {
		log.Fatal(err)
	}
	if err := x.Write([]float64{1, 0}); err != nil {
		log.Fatal(err)
	}
	var norm float64
	for range 20 {
		if err := plan.Apply(ctx, msrep.NoTrans, 1, x, 0, y); err != nil {
			log.Fatal(err)
		}
		if norm, err = y.Norm(); err != nil {
			log.Fatal(err)
		}
		if err := x.Axpby(1/norm, y, 0); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("%.6f\n", norm)
	// Output: 3.000000
}
