package numa_test

import (
	"fmt"

	"github.com/msrep-go/msrep/numa"
)

// Two nodes with one and two devices: the second node gets two thirds of the work.
func ExampleTopology_DeviceShares() {
	machine := &numa.Topology{Nodes: []numa.Node{{ID: 0}, {ID: 1}}}
	for _, s := range machine.DeviceShares([]numa.DevicePlace{{ID: "cpu:0", Node: 0}, {ID: "cpu:1", Node: 1}, {ID: "cpu:2", Node: 1}}) {
		fmt.Printf("device %d on node %d: from %d/%d, %d/%d\n", s.Device, s.Node, s.First, s.Den, s.Num, s.Den)
	}
	// Output:
	// device 0 on node 0: from 0/3, 1/3
	// device 1 on node 1: from 1/3, 1/3
	// device 2 on node 1: from 2/3, 1/3
}
