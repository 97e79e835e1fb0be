package numa

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/sparse"
)

// Folders of sysfs below the root.
const (
	nodeDir = "sys/devices/system/node"
	cpuDir  = "sys/devices/system/cpu"
	pciDir  = "sys/bus/pci/devices"
)

// Discover reads the topology of this machine (root "/" or ""), or of another machine
// from a copy of its /sys tree: root is the folder that holds sys. A copy must keep the
// symbolic links of sys/bus/pci/devices. Discover does not follow links that lead out of
// root.
//
// On this machine Discover returns only the CPUs that the process may run on. Where a
// container hides files, it guesses and says so in Topology.Notes: in the worst case it
// returns one node with runtime.NumCPU CPUs.
//
// Errors are *sparse.InputError: root is not such a tree, or one of its files is malformed.
func Discover(root string) (*Topology, error) {
	if root == "" {
		root = "/"
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, &sparse.InputError{Subject: root, Msg: "a folder that holds a sys tree is needed", Err: withoutPath(err)}
	}
	defer r.Close()
	s := scan{root: root, fsys: r.FS()}
	if filepath.Clean(root) == "/" { // no link leads out of "/"
		s.fsys = os.DirFS(root)
		s.live, s.numCPU = true, runtime.NumCPU()
		s.allowed, _ = allowedCPUs()
	}
	return s.topology()
}

// scan is the state of one call of Discover.
type scan struct {
	root string
	fsys fs.FS

	live    bool  // the tree belongs to this machine
	numCPU  int   // CPUs of this machine, used if sysfs lists none
	allowed []int // CPUs that this process may run on; empty if unknown

	tree     tree
	topo     Topology
	nodeCPUs [][]int // CPUs that each node lists, including offline and forbidden ones
}

func (s *scan) topology() (*Topology, error) {
	s.tree = tree{fsys: s.fsys, root: s.root, note: s.notef}
	s.topo = Topology{Nodes: []Node{}, GPUs: []GPU{}}
	if err := s.checkTree(); err != nil {
		return nil, err
	}
	nodes, err := s.readNodes()
	if err != nil {
		return nil, err
	}
	usable, err := s.usableCPUs(nodes)
	if err != nil {
		return nil, err
	}
	if len(nodes) == 0 {
		mem, err := s.tree.memTotal("proc/meminfo")
		if err != nil {
			return nil, err
		}
		nodes = []Node{{CPUs: usable, MemBytes: mem, Distance: []int{10}}}
		s.notef("no NUMA nodes in %s: one node with all CPUs is assumed", s.tree.path(nodeDir))
	}
	if err := s.limit(nodes, usable); err != nil {
		return nil, err
	}
	s.topo.Nodes = nodes
	for i := range nodes {
		if err := s.readCores(&nodes[i]); err != nil {
			return nil, err
		}
	}
	if err := s.readGPUs(usable); err != nil {
		return nil, err
	}
	return &s.topo, nil
}

// notef adds a note unless there is an equal one.
func (s *scan) notef(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(s.topo.Notes, n) {
		s.topo.Notes = append(s.topo.Notes, n)
	}
}

// checkTree refuses a copied tree that holds nothing to read.
func (s *scan) checkTree() error {
	if s.live {
		return nil
	}
	for _, dir := range []string{cpuDir, nodeDir} {
		if st, err := fs.Stat(s.fsys, dir); err == nil && st.IsDir() {
			return nil
		}
	}
	return sparse.Inputf(s.root, "holds neither %s nor %s; the folder that holds a copied sys is needed", cpuDir, nodeDir)
}

// readNodes reads the folders node0, node1, ... with the CPUs that they list.
func (s *scan) readNodes() ([]Node, error) {
	entries, err := fs.ReadDir(s.fsys, nodeDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.notef("%s cannot be read: %v", s.tree.path(nodeDir), withoutPath(err))
	}
	var nodes []Node
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), "node")
		id, err := strconv.Atoi(digits)
		if !ok || err != nil || id < 0 || strconv.Itoa(id) != digits {
			continue // has_cpu, online, ...
		}
		nodes = append(nodes, Node{ID: id})
	}
	slices.SortFunc(nodes, func(a, b Node) int { return a.ID - b.ID })
	for i := range nodes {
		if err := s.readNode(&nodes[i], len(nodes)); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

func (s *scan) readNode(n *Node, nodes int) (err error) {
	dir := fmt.Sprintf("%s/node%d/", nodeDir, n.ID)
	if n.CPUs, _, err = s.tree.cpus(dir + "cpulist"); err != nil {
		return err
	}
	if n.MemBytes, err = s.tree.memTotal(dir + "meminfo"); err != nil {
		return err
	}
	n.Distance, err = s.readDistance(dir+"distance", nodes)
	return err
}

// readDistance reads the distances from one node to all nodes, in the order of node
// numbers.
func (s *scan) readDistance(name string, nodes int) ([]int, error) {
	text, ok, err := s.tree.text(name)
	if !ok || err != nil {
		return nil, err
	}
	var dist []int
	for _, word := range strings.Fields(text) {
		d, err := strconv.ParseUint(word, 10, 31)
		if err != nil {
			return nil, s.tree.fault(name, "%s is not a distance; numbers such as 10 21 are needed", clip(word))
		}
		dist = append(dist, int(d))
	}
	if len(dist) != nodes {
		s.notef("%s gives %d distances for %d nodes: they are left out", s.tree.path(name), len(dist), nodes)
		return nil, nil
	}
	return dist, nil
}
