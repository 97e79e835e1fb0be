package measure

import (
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/numa"
)

// Machine describes the machine and the program of a run. Fields that the system does not report are empty.
type Machine struct {
	CPU       string   `json:"cpu"`
	Kernels   string   `json:"cpu_kernels"` // instruction set of the kernels; MSREP_CPU selects it
	Cores     int      `json:"cores"`       // physical cores that this process may use
	Threads   int      `json:"threads"`     // GOMAXPROCS
	L2        int      `json:"l2_bytes"`
	L3        int      `json:"l3_bytes"`
	Memory    int64    `json:"memory_bytes"`
	NUMANodes int      `json:"numa_nodes"`
	Governor  string   `json:"governor"` // frequency governor of the first CPU
	GPUs      []string `json:"gpus"`     // PCI address, vendor and device
	Driver    string   `json:"driver"`   // NVIDIA driver
	// CUDA holds the versions and the GPUs' names, or the reason for their absence, as msrep version prints them.
	CUDA      nvidia.Status `json:"cuda"`
	OS        string        `json:"os"`
	Kernel    string        `json:"kernel"`
	Go        string        `json:"go"`
	Version   string        `json:"version"` // of this module
	Commit    string        `json:"commit"`  // commit of the program, followed by "+" if files were changed
	ClockCost float64       `json:"clock_cost_s"`
	Bandwidth float64       `json:"bandwidth"` // of pure reads on all threads, in bytes per second; 0 if not measured
}

// Describe describes this machine. version is the version of the program.
func Describe(version string) Machine {
	instructions, _ := cpu.InstructionSet()
	m := Machine{
		CPU: cpuid.CPU.BrandName, Kernels: instructions, Cores: cpuid.CPU.PhysicalCores, Threads: runtime.GOMAXPROCS(0),
		L2: max(cpuid.CPU.Cache.L2, 0), L3: max(cpuid.CPU.Cache.L3, 0),
		Governor: firstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
		Driver:   firstLine("/proc/driver/nvidia/version"),
		OS:       runtime.GOOS + "/" + runtime.GOARCH,
		Kernel:   firstLine("/proc/sys/kernel/osrelease"),
		GPUs:     []string{}, CUDA: nvidia.Query(),
		Go: runtime.Version(), Version: version, Commit: commit(), ClockCost: clockCost(),
	}
	t, err := numa.Discover("/")
	if err != nil {
		return m
	}
	m.NUMANodes, m.Cores = len(t.Nodes), 0
	for _, n := range t.Nodes {
		m.Memory += n.MemBytes
		m.Cores += len(n.Cores)
	}
	for _, g := range t.GPUs {
		m.GPUs = append(m.GPUs, strings.TrimSpace(g.PCI+" "+g.Vendor+" "+g.Device))
	}
	return m
}

func firstLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}

// commit returns the commit that the go command recorded in the program.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	find := func(key string) string {
		if i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key }); i >= 0 {
			return info.Settings[i].Value
		}
		return ""
	}
	revision := find("vcs.revision")
	if find("vcs.modified") == "true" {
		revision += "+"
	}
	return revision
}
