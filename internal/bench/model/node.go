package model

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/sparse"
)

// Node is a machine with several equal GPUs, as far as products of vectors that stay on the GPUs depend on it. Times
// are in seconds, speeds in GB/s for one direction.
type Node struct {
	Name          string  `json:"name"`
	Title         string  `json:"title"`
	Platform      string  `json:"platform"` // the Platform with the same GPUs, or ""; it has the parameters that the file lacks
	GPUs          int     `json:"gpus"`
	GPUsPerLink   int     `json:"gpus_per_host_link"`
	GPUsPerSocket int     `json:"gpus_per_socket"`
	Order         []int   `json:"order"` // GPUs in an order in which neighbours have a link, as far as possible
	Links         [][]int `json:"links"` // number of direct links between two GPUs; nil if a switch connects all

	Link     Param `json:"link"`      // one direct link; unused with a switch
	Port     Param `json:"port"`      // into one GPU, and out of it, through the switch
	HostUp   Param `json:"host_up"`   // from the GPUs of one host link together
	HostDown Param `json:"host_down"` // to the GPUs of one host link together
	Cross    Param `json:"cross"`     // between the sockets; 0 for no limit

	Signal Param `json:"signal"` // from the end of work on a GPU to the start of work on another that waits for it
	Copy   Param `json:"copy"`   // fixed time of a copy between two GPUs with peer access
	Staged Param `json:"staged"` // fixed time of a copy through the host
	Launch Param `json:"launch"` // fixed time of a product
	Small  Param `json:"small"`  // a kernel with little work, with its launch
	Call   Param `json:"call"`   // host time of one call of the driver, on the thread of a GPU

	Stream    Param `json:"stream"`    // memory bandwidth of a product that streams
	Lookups   Param `json:"lookups"`   // pieces of 64 bytes that warps can ask of L2 in a ns; 0 if not measured
	Beside    Param `json:"beside"`    // streamed bytes of a product that lookups bound
	Scattered Param `json:"scattered"` // memory bandwidth of pieces of x that are not in L2
	Piece     Param `json:"piece"`     // bytes of such a piece
	L2        Param `json:"l2"`        // cache size of a GPU

	Products []Measured `json:"products"` // resident products that were measured on one such GPU
}

// Measured is a product in float64 with the fastest of our kernels. Slices are the only form that reads x in order.
type Measured struct {
	Matrix  string  `json:"matrix"` // as in bench/results
	Rows    int64   `json:"rows"`
	Entries int64   `json:"entries"`
	Form    string  `json:"form"`
	Bytes   int64   `json:"bytes"` // of the form
	Seconds float64 `json:"seconds"`
}

//go:embed nodes/*.json
var nodeFiles embed.FS

// NodeNames returns the names of the nodes.
func NodeNames() []string { return []string{"h100", "dgx1", "summit"} }

// LoadNode returns the node with a name. An unknown name is a *sparse.InputError.
func LoadNode(name string) (*Node, error) {
	if !slices.Contains(NodeNames(), name) {
		return nil, sparse.Inputf("node", "%q is not known: use %s", name, strings.Join(NodeNames(), ", "))
	}
	b, err := nodeFiles.ReadFile("nodes/" + name + ".json")
	if err != nil {
		return nil, err
	}
	n := &Node{}
	if err := json.Unmarshal(b, n); err != nil {
		return nil, fmt.Errorf("node %s: %w", name, err)
	}
	if n.Platform == "" {
		return n, nil
	}
	p, err := Load(n.Platform)
	if err != nil {
		return nil, err
	}
	n.HostUp, n.HostDown, n.Launch, n.Small, n.Stream, n.Scattered, n.L2 = p.HostBack, p.HostLink, p.Launch, p.Launch, p.HBM, p.HBM, p.L2
	if n.Cross = p.CrossMerge; n.Cross.Value == 0 { // what copies of results between the sockets reached, or could
		n.Cross = p.CrossLink
	}
	return n, nil
}

// Params returns the parameters with their names.
func (n *Node) Params() (names []string, params []*Param) {
	for _, e := range []struct {
		name string
		p    *Param
	}{
		{"link", &n.Link}, {"port", &n.Port}, {"host_up", &n.HostUp}, {"host_down", &n.HostDown}, {"cross", &n.Cross},
		{"signal", &n.Signal}, {"copy", &n.Copy}, {"staged", &n.Staged}, {"launch", &n.Launch}, {"small", &n.Small}, {"call", &n.Call},
		{"stream", &n.Stream}, {"lookups", &n.Lookups}, {"beside", &n.Beside}, {"scattered", &n.Scattered}, {"piece", &n.Piece}, {"l2", &n.L2},
	} {
		if e.p.Source != "" {
			names, params = append(names, e.name), append(params, e.p)
		}
	}
	return names, params
}

// Direct reports whether GPUs a and b are connected without the host.
func (n *Node) Direct(a, b int) bool {
	return n.Links == nil && n.Port.Value > 0 || n.Links != nil && n.Links[a][b] > 0
}

// WithoutPeers returns the node with all transfers between GPUs through the host.
func (n *Node) WithoutPeers() *Node {
	c := *n
	c.Links, c.Port = nil, Param{}
	return &c
}

// network is what limits transfers between the GPUs of a node, by number.
type network struct {
	node     *Node
	capacity []float64 // bytes per second
	link     map[[2]int]int
	in, out  []int // ports of the switch, by GPU
	up, down []int // host links, by GPU
	cross    [2]int
}

func (n *Node) network() *network {
	w := &network{node: n, link: map[[2]int]int{}}
	add := func(p Param, times float64) int {
		w.capacity = append(w.capacity, p.Value*times*giga)
		return len(w.capacity) - 1
	}
	for g := range n.GPUs {
		if n.Links == nil && n.Port.Value > 0 {
			w.in, w.out = append(w.in, add(n.Port, 1)), append(w.out, add(n.Port, 1))
		}
		if g%n.GPUsPerLink == 0 {
			w.up, w.down = append(w.up, add(n.HostUp, 1)), append(w.down, add(n.HostDown, 1))
		}
		for h := range n.GPUs {
			if n.Links != nil && n.Links[g][h] > 0 {
				w.link[[2]int{g, h}] = add(n.Link, float64(n.Links[g][h]))
			}
		}
	}
	if n.Cross.Value > 0 {
		w.cross = [2]int{add(n.Cross, 1), add(n.Cross, 1)}
	}
	return w
}

// route returns what a transfer from one GPU to another uses: the links between them, or else the host.
func (w *network) route(from, to int) []int {
	if !w.node.Direct(from, to) {
		return w.host(from, to)
	}
	if k, ok := w.link[[2]int{from, to}]; ok {
		return []int{k}
	}
	return []int{w.out[from], w.in[to]}
}

// host returns what a transfer through the host uses.
func (w *network) host(from, to int) []int {
	n := w.node
	uses := []int{w.up[from/n.GPUsPerLink], w.down[to/n.GPUsPerLink]}
	if a, b := from/n.GPUsPerSocket, to/n.GPUsPerSocket; a != b && n.Cross.Value > 0 {
		uses = append(uses, w.cross[min(a, 1)])
	}
	return uses
}
