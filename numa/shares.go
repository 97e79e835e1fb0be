package numa

// DevicePlace is a device and the node that it is on.
type DevicePlace struct {
	ID   string `json:"id"`
	Node int    `json:"node"` // ID of the node; an unknown one counts as the first node
}

// Share is the part of the work that a device takes: the interval
// [First/Den, (First+Num)/Den) of the whole. The fractions are exact and not
// reduced, so that those of all devices have one denominator.
type Share struct {
	Device int `json:"device"` // place in the devices given
	Node   int `json:"node"`   // ID of its node

	First int `json:"first"`
	Num   int `json:"num"`
	Den   int `json:"den"`

	// The share of the whole node, over the same denominator:
	// [NodeFirst/Den, (NodeFirst+NodeNum)/Den).
	NodeFirst int `json:"node_first"`
	NodeNum   int `json:"node_num"`
}

// Shares splits work in two levels: among the nodes in proportion to the number
// of their devices, then equally among the devices of each node. A node's
// share is one interval, so that its part of the matrix can lie in its memory.
//
// There is one share for each device: grouped by node in the order of t.Nodes,
// within a node in the order given. The intervals follow each other from 0 to 1
// without gaps. Nodes without devices get nothing.
func (t *Topology) Shares(devices []DevicePlace) []Share {
	byNode := make([][]int, max(len(t.Nodes), 1))
	for d, place := range devices {
		n := max(t.nodeIndex(place.Node), 0)
		byNode[n] = append(byNode[n], d)
	}
	shares := make([]Share, 0, len(devices))
	for n, members := range byNode {
		first := len(shares)
		for _, d := range members {
			s := Share{Device: d, First: len(shares), Num: 1, Den: len(devices), NodeFirst: first, NodeNum: len(members)}
			if n < len(t.Nodes) {
				s.Node = t.Nodes[n].ID
			}
			shares = append(shares, s)
		}
	}
	return shares
}
