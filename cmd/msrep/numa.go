package main

import (
	"fmt"
	"io"

	"github.com/msrep-go/msrep/msrep"
)

const numaUsage = "`PLACEMENT` of threads and memory by NUMA node: auto (on with several nodes), on or off"

// checkNUMA checks the value of --numa.
func checkNUMA(placement string) error {
	return choice{"--numa", placement, []string{"auto", "on", "off"}}.check()
}

// numaReport is what a command prints about NUMA placement.
type numaReport struct {
	On      bool         `json:"on"`
	Refused string       `json:"refused,omitempty"` // first request that the system refused
	X       string       `json:"x,omitempty"`       // where a plan reads x: in place, replicated or interleaved
	Nodes   []nodeReport `json:"nodes"`
}

type nodeReport struct {
	Node        int   `json:"node"`          // -1 for devices without a NUMA node
	Devices     []int `json:"devices"`       // indices in the list of devices
	NNZ         int64 `json:"nnz"`           // nonzeros of the parts on the node; 0 without placement
	Bytes       int64 `json:"bytes"`         // held by the devices
	PagesOnNode int   `json:"pages_on_node"` // pages of the plan that the kernel reports on this node
	Pages       int   `json:"pages"`         // pages of the plan on any node; 0 where the system does not report them
}

// newNUMAReport reports the memory of the devices, and of the plan's nodes if nodes is not nil.
func newNUMAReport(sys *msrep.System, nodes []msrep.PlanNode) numaReport {
	p := sys.Placement()
	r := numaReport{On: p.On, Refused: p.Refused}
	for i, m := range p.Nodes {
		n := nodeReport{Node: m.Node, Devices: m.Devices, Bytes: m.Bytes}
		if i < len(nodes) {
			n.NNZ = nodes[i].NNZ
			n.PagesOnNode, n.Pages = nodes[i].Pages.Nodes[m.Node], nodes[i].Pages.Pages()
		}
		r.Nodes = append(r.Nodes, n)
	}
	return r
}

func (r numaReport) print(w io.Writer) {
	if !r.On {
		fmt.Fprintln(w, "NUMA placement is off")
		return
	}
	for _, n := range r.Nodes {
		fmt.Fprintf(w, "NUMA node %d: devices %v", n.Node, n.Devices)
		if n.Bytes > 0 { // only with a plan
			fmt.Fprintf(w, ", %d nonzeros, %d bytes", n.NNZ, n.Bytes)
		}
		if n.Pages > 0 {
			fmt.Fprintf(w, ", %.1f %% of %d pages on the node", 100*float64(n.PagesOnNode)/float64(n.Pages), n.Pages)
		}
		fmt.Fprintln(w)
	}
	if r.X != "" {
		fmt.Fprintf(w, "x is read %s\n", r.X)
	}
}
