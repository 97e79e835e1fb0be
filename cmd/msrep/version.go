package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/msrep"
)

var versionCommand = &command{
	name: "version", args: "",
	summary:   "print versions and processor features",
	example:   "msrep version --json",
	opensNone: true,
	apart:     true,
	setup: func(c *call) func(context.Context) error {
		return func(context.Context) error {
			if err := c.want(0); err != nil {
				return err
			}
			instructions, err := cpu.InstructionSet()
			if err != nil {
				return err
			}
			v := struct {
				Version  string        `json:"version"`
				Go       string        `json:"go"`
				Platform string        `json:"platform"`
				CPU      string        `json:"cpu"`
				Features []string      `json:"cpu_features"` // of the processor
				Kernels  string        `json:"cpu_kernels"`  // instruction set that the kernels use
				CUDA     nvidia.Status `json:"cuda"`
			}{msrep.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, cpuid.CPU.BrandName, cpuid.CPU.FeatureSet(),
				instructions, nvidia.Query()}
			if c.json {
				return c.printJSON(v)
			}
			_, err = fmt.Fprintf(c.stdout, "msrep %s, %s, %s\ncpu   %s\n      has %s\n      used by the kernels: %s (MSREP_CPU chooses generic, avx2 or avx512)\ncuda  %s\n",
				v.Version, v.Go, v.Platform, v.CPU, strings.Join(v.Features, " "), v.Kernels, describeCUDA(v.CUDA))
			return err
		}
	},
}
