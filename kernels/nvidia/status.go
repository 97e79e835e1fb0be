//go:build cuda

package nvidia

import (
	"fmt"
	"strings"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/cusparse"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
)

// leastCompute is the compute capability that the kernels are compiled for.
const leastCompute = 7.0

// Query returns the GPUs, or why there are none.
func Query() Status {
	s := Status{Headers: version(driver.HeaderVersion)}
	if err := driver.Ready(); err != nil {
		s.Reason = err.Error()
		return s
	}
	s.Driver = version(cu.Version())
	n, err := cu.NumDevices()
	if err != nil {
		s.Reason = describe(err).Error()
		return s
	}
	if n == 0 {
		s.Reason = "the driver sees no GPU"
		return s
	}
	var why []string
	for i := range n {
		g, err := query(i)
		if err != nil {
			why = append(why, fmt.Sprintf("GPU %d: %v", i, describe(err)))
			s.Unusable = append(s.Unusable, Unusable{i, describe(err).Error()})
			continue
		}
		s.GPUs = append(s.GPUs, g)
	}
	if len(s.GPUs) == 0 {
		s.Reason = strings.Join(why, "; ")
	}
	if v, err := cusparse.Version(); err != nil {
		s.CuSPARSE = "none: " + err.Error()
	} else {
		s.CuSPARSE = v
	}
	return s
}

// sharedMost is CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN.
const sharedMost cu.DeviceAttribute = 97

// query describes a GPU. It fails for a GPU that the kernels do not run on.
func query(i int) (GPU, error) {
	g := GPU{Ordinal: i}
	d, err := cu.GetDevice(i)
	if err != nil {
		return g, err
	}
	if g.Name, err = d.Name(); err != nil {
		return g, err
	}
	if g.PCI, err = driver.PCI(d); err != nil {
		return g, err
	}
	if g.Memory, err = d.TotalMem(); err != nil {
		return g, err
	}
	var major, minor, l2, mode, shared int
	for _, a := range []struct {
		name cu.DeviceAttribute
		to   *int
	}{{cu.ComputeCapabilityMajor, &major}, {cu.ComputeCapabilityMinor, &minor}, {cu.MultiprocessorCount, &g.SMs}, {cu.L2CacheSize, &l2}, {cu.ComputeMode, &mode}, {sharedMost, &shared}} {
		if *a.to, err = d.Attribute(a.name); err != nil {
			return g, err
		}
	}
	g.Compute, g.L2 = fmt.Sprintf("%d.%d", major, minor), int64(l2)
	g.Shared = int64(shared)
	switch {
	case float64(major)+float64(minor)/10 < leastCompute:
		return g, fmt.Errorf("%w: compute capability %s: the kernels need %.1f", kernels.ErrNotSupported, g.Compute, leastCompute)
	case mode == computeProhibited:
		return g, fmt.Errorf("%w: the compute mode of the GPU is \"prohibited\"", kernels.ErrNotSupported)
	}
	return g, nil
}

// computeProhibited is CU_COMPUTEMODE_PROHIBITED.
const computeProhibited = 2

// version formats 12040 as 12.4.
func version(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }
