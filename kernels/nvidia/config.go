package nvidia

import "github.com/msrep-go/msrep/kernels"

// Status is what a machine and this binary have for GPUs.
type Status struct {
	// Reason says why there are no GPUs; "" when there are some.
	Reason string `json:"reason,omitempty"`
	// Driver is the newest version of CUDA that the driver knows, such as "13.0".
	Driver string `json:"driver,omitempty"`
	// Headers is the version of CUDA that the binary was built for.
	Headers string `json:"headers,omitempty"`
	// CuSPARSE is the version of cuSPARSE, or why there is none.
	CuSPARSE string `json:"cusparse,omitempty"`
	GPUs     []GPU  `json:"gpus,omitempty"`
}

// GPU describes a GPU of this machine.
type GPU struct {
	Ordinal int    `json:"ordinal"` // as in cuda:0
	Name    string `json:"name"`
	PCI     string `json:"pci"`     // address as in sysfs
	Compute string `json:"compute"` // capability, such as "9.0"
	Memory  int64  `json:"memory"`  // bytes
	L2      int64  `json:"l2"`      // bytes
	SMs     int    `json:"multiprocessors"`
}

// Config says which device to open.
type Config struct {
	GPU  int // ordinal
	Copy int // 0, or the number of a further device on the same GPU
	// Node is the NUMA node that pinned memory comes from, -1 for any. CPUs is where
	// the thread of the device runs, none for anywhere.
	Node int
	CPUs []int
	// OnRefused, unless nil, is called where the system does not place memory or the thread
	// so, and where copies from another GPU must go through the host because one of the two
	// refused.
	OnRefused func(error)
	// PTX, unless nil, gives other kernels for a family of kernels/cuda, to try them, or ""
	// for ours. That of the device which is the first to be open on a GPU counts for all
	// devices there.
	PTX func(family string) string
	// L2Fetch is the bytes that the L2 cache reads from memory at a time, 32, 64 or 128; 0
	// leaves that to the driver. It is for the context of the GPU, which other libraries in
	// the program share; that of the device which is the first to be open there counts.
	L2Fetch int
	// Turns is how many turns a block takes at most where several, on neighbours, may be
	// better than more blocks, to try them; 0 is what was measured to be best. That of the
	// device which is the first to be open on a GPU counts for all devices there.
	Turns int
}

// FormCuSPARSE is a part multiplied by cuSPARSE.
const FormCuSPARSE kernels.Form = "cusparse"
