package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/sparse"
)

var topoCommand = &command{
	name: "topo", args: "",
	summary: "show NUMA nodes, CPUs, GPUs, the links between them, and each device's fraction of a matrix",
	example: "msrep topo --devices cpu:4",
	setup: func(c *call) func(context.Context) error {
		sysfs := c.flags.String("sysfs", "/", "read the copied sys/ tree of another machine below `DIR`")
		placement := c.flags.String("numa", string(msrep.NUMAAuto), numaUsage)
		return func(context.Context) error {
			if err := c.want(0); err != nil {
				return err
			}
			if err := checkNUMA(*placement); err != nil {
				return err
			}
			t, err := numa.Discover(*sysfs)
			if err != nil {
				return err
			}
			r := topology{Topology: t, Links: [][]string{}}
			places, err := c.devicePlaces(t, *sysfs == "/", msrep.NUMA(*placement), &r)
			if err != nil {
				return err
			}
			r.addShares(places)
			for a := range t.GPUs {
				var row []string
				for b := range t.GPUs {
					row = append(row, t.Link(a, b))
				}
				r.Links = append(r.Links, row)
			}
			if len(t.GPUs) > 0 {
				r.Notes = append(r.Notes, "links follow the PCI tree; sysfs does not show NVLink")
			}
			if *sysfs == "/" {
				cuda := nvidia.Query()
				r.CUDA = &cuda
			}
			if c.json {
				return c.printJSON(r)
			}
			return r.print(c.stdout)
		}
	},
}

// topology is what msrep topo prints.
type topology struct {
	*numa.Topology
	Links   [][]string       `json:"links"` // between GPUs: X, PIX, PXB, PHB, NODE, SYS
	Devices []deviceShare    `json:"devices"`
	NUMA    *numaReport      `json:"numa,omitempty"`  // this machine only
	Peers   []msrep.PeerLink `json:"peers,omitempty"` // between the open GPUs; this machine only
	CUDA    *nvidia.Status   `json:"cuda,omitempty"`  // this machine only

	bandwidth map[string]float64 // by device; see kernels.Info
}

type deviceShare struct {
	ID     string           `json:"id"`
	Node   int              `json:"node"`
	Share  string           `json:"share"` // fraction of the nonzeros
	Detail numa.DeviceShare `json:"detail"`
	// Bandwidth of the memory in bytes/s; only if the devices differ, and so get other shares
	Bandwidth float64 `json:"bandwidth,omitempty"`
}

// addShares adds the shares of the devices.
func (t *topology) addShares(places []numa.DevicePlace) {
	for _, s := range t.DeviceShares(places) {
		id := places[s.Device].ID
		t.Devices = append(t.Devices, deviceShare{ID: id, Node: s.Node, Share: fmt.Sprintf("%d/%d", s.Num, s.Den), Detail: s, Bandwidth: t.bandwidth[id]})
	}
}

// devicePlaces returns this machine's devices. For a copied tree it returns the tree's NVIDIA GPUs, or one CPU device
// for each core group.
func (c *call) devicePlaces(t *numa.Topology, live bool, placement msrep.NUMA, r *topology) (places []numa.DevicePlace, err error) {
	if live {
		sys, err := msrep.Open(msrep.Config{Devices: c.devices, Threads: c.threads, NUMA: placement, Warn: c.warn})
		if err != nil {
			return nil, err
		}
		n := newNUMAReport(sys, nil)
		r.NUMA = &n
		p := sys.Placement()
		r.Notes = append(r.Notes, p.Notes...)
		r.bandwidth = map[string]float64{}
		for i, d := range sys.Devices() {
			place := numa.DevicePlace{ID: d.ID, Node: d.NUMANode}
			if p.Weights != nil {
				place.Weight = p.Weights[i]
			}
			places, r.bandwidth[d.ID] = append(places, place), d.Bandwidth
		}
		r.Peers = sys.Peers()
		return places, sys.Close()
	}
	if c.devices != "auto" {
		return nil, sparse.Inputf("--devices", "%q: with --sysfs the copied tree names the devices; leave it out", c.devices)
	}
	for _, g := range t.GPUs {
		if g.NVIDIA {
			places = append(places, numa.DevicePlace{ID: fmt.Sprintf("cuda:%d", len(places)), Node: g.Node})
		}
	}
	if len(places) > 0 {
		return places, nil
	}
	for i, g := range t.CoreGroups() {
		places = append(places, numa.DevicePlace{ID: fmt.Sprintf("cpu:%d", i), Node: g.Node})
	}
	return places, nil
}

func (t topology) print(w io.Writer) error {
	for _, n := range t.Nodes {
		fmt.Fprintf(w, "node %d  CPUs %s (%d cores)  memory %.1f GiB  distances %v\n", n.ID, orNone(numa.FormatCPUList(n.CPUs)), len(n.Cores), float64(n.MemBytes)/(1<<30), n.Distance)
	}
	for i, g := range t.GPUs {
		fmt.Fprintf(w, "gpu %d  %s  %s:%s  node %d  CPUs %s  links %s\n", i, g.PCI, g.Vendor, g.Device, g.Node, orNone(numa.FormatCPUList(g.CPUs)), strings.Join(t.Links[i], " "))
	}
	if len(t.GPUs) == 0 {
		fmt.Fprintln(w, "no GPUs found")
	}
	for _, d := range t.Devices {
		fmt.Fprintf(w, "device %-7s node %d  share %s of the nonzeros", d.ID, d.Node, d.Share)
		if d.Bandwidth > 0 {
			fmt.Fprintf(w, ", memory %.0f GB/s", d.Bandwidth/1e9)
		}
		fmt.Fprintln(w)
	}
	if t.NUMA != nil {
		t.NUMA.print(w)
	}
	printPeers(w, t.Peers)
	if t.CUDA != nil {
		fmt.Fprintf(w, "cuda  %s\n", describeCUDA(*t.CUDA))
		for _, g := range t.CUDA.GPUs {
			fmt.Fprintf(w, "cuda:%d  %s  %s  compute %s  %d multiprocessors  %.1f GiB  L2 %.0f MiB\n",
				g.Ordinal, g.PCI, g.Name, g.Compute, g.SMs, float64(g.Memory)/(1<<30), float64(g.L2)/(1<<20))
		}
		for _, g := range t.CUDA.Unusable {
			fmt.Fprintf(w, "cuda:%d  cannot be used: %s\n", g.Ordinal, g.Why)
		}
	}
	var err error
	for _, n := range t.Notes {
		_, err = fmt.Fprintf(w, "note: %s\n", n)
	}
	return err
}

// printPeers prints a matrix of the pairs of GPUs, and why pairs have no direct access.
func printPeers(w io.Writer, peers []msrep.PeerLink) {
	if len(peers) == 0 {
		return
	}
	var ids []string
	cells, why := map[[2]string]string{}, map[string][]string{}
	for _, p := range peers { // by To, and then by From
		if !slices.Contains(ids, p.To) {
			ids = append(ids, p.To)
		}
		cells[[2]string{p.To, p.From}] = peerCell(p)
		if p.Why != "" {
			why[p.To+": "+p.Why] = append(why[p.To+": "+p.Why], p.From)
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "peers\tfrom %s\n", strings.Join(ids, "\t"))
	for _, to := range ids {
		fmt.Fprintf(t, "to %s", to)
		for _, from := range ids {
			fmt.Fprintf(t, "\t%s", cmp.Or(cells[[2]string{to, from}], "-"))
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush() // the last line reports errors of w
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		fmt.Fprintf(w, "to %s (from %s)\n", reason, strings.Join(why[reason], ", "))
	}
}

// peerCell returns the link of a pair with the driver's rank, and how it copies.
func peerCell(p msrep.PeerLink) string {
	link := string(p.Kind)
	if p.Kind == nvidia.LinkNVLink || p.Kind == nvidia.LinkPCIe {
		link = fmt.Sprintf("%s(%d)", p.Kind, p.Rank)
	}
	way := string(p.Copies)
	if p.Copies == nvidia.WayDirect && !p.Reads {
		way = "copies only"
	}
	if p.Via != "" {
		way += " or via " + p.Via
	}
	return link + " " + way
}

// describeCUDA describes the state of CUDA in one line.
func describeCUDA(s nvidia.Status) string {
	if s.Reason != "" {
		return "no GPUs: " + s.Reason
	}
	return fmt.Sprintf("driver %s, built for %s, cuSPARSE %s", s.Driver, s.Headers, s.CuSPARSE)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

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
