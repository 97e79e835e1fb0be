package numa

// DevicePlace is a device and its node.
type DevicePlace struct {
	ID   string `json:"id"`
	Node int    `json:"node"` // ID of the node; an ID that is not in the Topology means its first node
	// Weight is the work of the device relative to the others; less than 1 means 1.
	Weight int `json:"weight,omitempty"`
}

// DeviceShare is a device's fraction of the work: the interval [First/Den, (First+Num)/Den) of
// the whole. The fractions are exact and not reduced, so all devices have the same
// denominator.
type DeviceShare struct {
	Device int `json:"device"` // index in the argument of DeviceShares
	Node   int `json:"node"`   // ID of its node

	First int `json:"first"`
	Num   int `json:"num"`
	Den   int `json:"den"`

	// The fraction of the whole node, over the same denominator: [NodeFirst/Den,
	// (NodeFirst+NodeNum)/Den).
	NodeFirst int `json:"node_first"`
	NodeNum   int `json:"node_num"`
}

// DeviceShares divides the work in two levels: among the nodes in proportion to the weights
// of their devices, then among the devices of each node in proportion to theirs. A node gets one interval, so
// its part of the matrix can be stored in its memory.
//
// DeviceShares returns one DeviceShare per device, grouped by node in the order of t.Nodes, and
// within a node in the order of the argument. The intervals cover 0 to 1 in order,
// without gaps. Nodes without devices get nothing.
func (t *Topology) DeviceShares(devices []DevicePlace) []DeviceShare {
	byNode := make([][]int, max(len(t.Nodes), 1))
	den := 0
	for d, place := range devices {
		n := max(t.nodeIndex(place.Node), 0)
		byNode[n] = append(byNode[n], d)
		den += max(place.Weight, 1)
	}
	shares := make([]DeviceShare, 0, len(devices))
	end := 0
	for n, members := range byNode {
		first, sum := end, 0
		for _, d := range members {
			sum += max(devices[d].Weight, 1)
		}
		for _, d := range members {
			s := DeviceShare{Device: d, First: end, Num: max(devices[d].Weight, 1), Den: den, NodeFirst: first, NodeNum: sum}
			end += s.Num
			if n < len(t.Nodes) {
				s.Node = t.Nodes[n].ID
			}
			shares = append(shares, s)
		}
	}
	return shares
}
