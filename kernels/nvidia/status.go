//go:build cuda

package nvidia

import (
	"fmt"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/kernels/nvidia/internal/cusparse"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
)

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
	for i := range n {
		g, err := query(i)
		if err != nil {
			s.Reason = fmt.Sprintf("GPU %d: %v", i, describe(err))
			return s
		}
		s.GPUs = append(s.GPUs, g)
	}
	if v, err := cusparse.Version(); err != nil {
		s.CuSPARSE = "none: " + err.Error()
	} else {
		s.CuSPARSE = v
	}
	return s
}

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
	var major, minor, l2 int
	for _, a := range []struct {
		name cu.DeviceAttribute
		to   *int
	}{{cu.ComputeCapabilityMajor, &major}, {cu.ComputeCapabilityMinor, &minor}, {cu.MultiprocessorCount, &g.SMs}, {cu.L2CacheSize, &l2}} {
		if *a.to, err = d.Attribute(a.name); err != nil {
			return g, err
		}
	}
	g.Compute, g.L2 = fmt.Sprintf("%d.%d", major, minor), int64(l2)
	return g, nil
}

// version formats 12040 as 12.4.
func version(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }
