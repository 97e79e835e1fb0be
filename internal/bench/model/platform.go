package model

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/msrep-go/msrep/sparse"
)

// Param is one parameter of a platform.
type Param struct {
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Source string  `json:"source"`
}

// Platform is a node with several equal GPUs. GPU g is on host link g/GPUsPerLink and on socket g/GPUsPerSocket.
type Platform struct {
	Name          string `json:"name"`
	Title         string `json:"title"`
	GPUs          int    `json:"gpus"`
	GPUsPerLink   int    `json:"gpus_per_host_link"`
	GPUsPerSocket int    `json:"gpus_per_socket"`

	HostLink    Param `json:"host_link"`      // to all GPUs of a link together
	HostBack    Param `json:"host_link_back"` // from all GPUs of a link together
	Apart       Param `json:"apart"`          // between the beginnings of copies over one host link, in CSR and CSC; 0 if no time shows it
	CrossCopy   Param `json:"cross_copy"`     // matrix and x between the sockets, without placement; 0 if no time shows a limit
	CrossMerge  Param `json:"cross_merge"`    // results between the sockets; 0 if no time shows a limit
	CrossLink   Param `json:"cross_link"`     // one direction of the link between the sockets
	HBM         Param `json:"hbm"`            // memory bandwidth of a kernel that streams
	PeerIn      Param `json:"peer_in"`        // into one GPU from the others, over NVLink
	L2          Param `json:"l2"`             // cache size of a GPU
	Launch      Param `json:"launch"`         // latency until a kernel runs
	PerGPU      Param `json:"merge_per_gpu"`  // of a merge, for each GPU, one after the other
	PlainCopy   Param `json:"plain_merge"`    // pass of the host over the results, without optimised merging
	Pointer     Param `json:"host_pointer"`   // host time for one local pointer
	Index       Param `json:"host_index"`     // host time for one local row index, for COO
	DeviceIndex Param `json:"device_index"`   // GPU time for one local pointer or row index
	Split       Param `json:"split"`          // time of an optimised split of any size
	SplitWait   Param `json:"split_wait"`     // extra time in CSR and CSC with several GPUs

	// Kernels are the authors' kernels by format and matrix.
	Kernels map[string]map[string]Kernel `json:"kernels"`
}

// Kernel holds the calibrated parameters of a kernel for a matrix.
type Kernel struct {
	Slowdown float64 `json:"slowdown"` // time over that of streaming the part from memory
	Fixed    float64 `json:"fixed_s"`  // seconds that more GPUs do not reduce
}

//go:embed platforms/*.json
var files embed.FS

// Names returns the names of the platforms.
func Names() []string { return []string{"dgx1", "summit"} }

// Load returns the platform with a name. An unknown name is a *sparse.InputError.
func Load(name string) (*Platform, error) {
	b, err := files.ReadFile("platforms/" + name + ".json")
	if err != nil || strings.ContainsAny(name, "/.") {
		return nil, sparse.Inputf("platform", "%q is not known: use %s", name, strings.Join(Names(), " or "))
	}
	p := &Platform{}
	if err := json.Unmarshal(b, p); err != nil {
		return nil, fmt.Errorf("platform %s: %w", name, err)
	}
	return p, nil
}

// Params returns the parameters with their names.
func (p *Platform) Params() (names []string, params []*Param) {
	for _, e := range []struct {
		name string
		p    *Param
	}{
		{"host_link", &p.HostLink}, {"host_link_back", &p.HostBack}, {"apart", &p.Apart}, {"cross_copy", &p.CrossCopy}, {"cross_merge", &p.CrossMerge},
		{"cross_link", &p.CrossLink}, {"hbm", &p.HBM}, {"peer_in", &p.PeerIn}, {"l2", &p.L2}, {"launch", &p.Launch}, {"merge_per_gpu", &p.PerGPU},
		{"plain_merge", &p.PlainCopy}, {"host_pointer", &p.Pointer}, {"host_index", &p.Index},
		{"device_index", &p.DeviceIndex}, {"split", &p.Split}, {"split_wait", &p.SplitWait},
	} {
		names, params = append(names, e.name), append(params, e.p)
	}
	return names, params
}
