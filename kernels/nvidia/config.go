package nvidia

import "github.com/msrep-go/msrep/kernels"

// Status describes the GPU support of a machine and of this binary.
type Status struct {
	// Reason is why there are no GPUs; it is empty if there are some.
	Reason string `json:"reason,omitempty"`
	// Driver is the newest CUDA version that the driver supports, for example "13.0".
	Driver string `json:"driver,omitempty"`
	// Headers is the CUDA version that the binary was built for.
	Headers string `json:"headers,omitempty"`
	// CuSPARSE is the version of cuSPARSE, or the reason why it is missing.
	CuSPARSE string `json:"cusparse,omitempty"`
	// GPUs are those that devices can be opened on; Unusable are the others.
	GPUs     []GPU      `json:"gpus,omitempty"`
	Unusable []Unusable `json:"unusable,omitempty"`
}

// Unusable is a GPU that the kernels do not run on, and why.
type Unusable struct {
	Ordinal int    `json:"ordinal"`
	Why     string `json:"why"`
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
	Shared  int64  `json:"shared"` // bytes of shared memory that a block can have
}

// Config selects the device to open.
type Config struct {
	GPU  int // ordinal
	Copy int // 0, or the number of an additional device on the same GPU
	// OwnContext gives the device a context that it does not share with the other devices
	// of the GPU. Copies between such devices go from context to context, as between GPUs.
	// It serves tests on a machine with one GPU.
	OwnContext bool
	// Node is the NUMA node for pinned memory, -1 for any. CPUs are those on which the
	// thread of the device runs; none means all.
	Node int
	CPUs []int
	// OnRefused, unless nil, is called if the system refuses to place memory or the
	// thread as requested, and by Connect if copies from another GPU must go through the
	// host although the driver reports direct access.
	OnRefused func(error)
	// PTX, unless nil, returns the kernels to use for a family of kernels/internal/cuda, or ""
	// for the built-in ones. It serves experiments. The first open device on a GPU
	// decides for all devices there.
	PTX func(family string) string
	// L2Fetch is the number of bytes that the L2 cache reads from memory at a time: 32,
	// 64 or 128; 0 keeps the driver's setting. It applies to the context of the GPU,
	// which other libraries of the program share. The first open device on a GPU
	// decides.
	L2Fetch int
	// GroupsPerBlock is the largest number of consecutive groups of items that a block processes
	// if this may be better than more blocks; 0 means the measured best. It serves
	// experiments. The first open device on a GPU decides for all devices there.
	GroupsPerBlock int
}

// FormCuSPARSE is a part in CSR that cuSPARSE multiplies by.
const FormCuSPARSE kernels.Form = "cusparse"

// Link describes how data goes from one device to another.
type Link struct {
	From string   `json:"from"` // ID of the device whose memory is read
	To   string   `json:"to"`
	Kind LinkKind `json:"link"`
	// Rank is the driver's rank of the link; lower is faster. It compares links of one
	// machine.
	Rank   int    `json:"rank"`
	Copies Way    `json:"copies"`        // of copies that To makes from From
	Via    string `json:"via,omitempty"` // the GPU that forwards large copies, such as cuda:2
	Reads  bool   `json:"reads"`         // kernels of To read the memory of From
	Why    string `json:"why,omitempty"` // why copies are not direct, or kernels do not read
}

// LinkKind is what joins two devices.
type LinkKind string

// The kinds of links, the fastest first.
const (
	LinkSame   LinkKind = "same"   // one context of one GPU
	LinkNVLink LinkKind = "nvlink" // direct access with atomic operations, which PCIe lacks
	LinkPCIe   LinkKind = "pcie"   // direct access over PCIe
	LinkNone   LinkKind = "none"   // no direct access
)

// Way is how copies go.
type Way string

// The ways of copies.
const (
	WayDirect Way = "direct"
	WayDriver Way = "driver" // the driver chooses; it copies through the host without direct access
	WayHost   Way = "host"   // through pinned memory of the device
)
