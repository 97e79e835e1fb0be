package bench

import (
	"context"
	"errors"

	"github.com/msrep-go/msrep/internal/bench/gpuruns"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// GPUProducts times products on the GPU that devices names, as in msrep.Config: with our kernels by vectors and by
// merge path, with cuSPARSE, and with the form that a plan chooses. It returns the seconds of the kernels in each of
// several alternating rounds, by the names of package gpuruns. A way that the device lacks is missing from the map.
func GPUProducts(ctx context.Context, devices string, a *sparse.CSR[float64]) (seconds map[string][]float64, err error) {
	sys, err := msrep.Open(msrep.Config{Devices: devices})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sys.Close()) }()
	ways := []string{gpuruns.Vector, gpuruns.Merge, gpuruns.CuSPARSE, gpuruns.Auto}
	times, err := formatTimer{sys: sys, kernels: true}.time(ctx, a, []sparse.Format{sparse.FormatCSR, sparse.Format(kernels.FormMerge), formatCuCSR, msrep.FormatAuto})
	if err != nil {
		return nil, err
	}
	seconds = map[string][]float64{}
	for i, t := range times {
		if samples := known(t.Rounds); len(samples) > 0 {
			seconds[ways[i]] = samples
		}
	}
	return seconds, nil
}
