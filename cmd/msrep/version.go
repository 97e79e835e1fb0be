package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/msrep"
)

var versionCommand = &command{
	name: "version", args: "",
	summary: "print versions and what the processor can do",
	example: "msrep version --json",
	setup: func(c *call) func(context.Context) error {
		return func(context.Context) error {
			if err := c.want(0); err != nil {
				return err
			}
			v := struct {
				Version  string        `json:"version"`
				Go       string        `json:"go"`
				Platform string        `json:"platform"`
				CPU      string        `json:"cpu"`
				Features []string      `json:"cpu_features"` // of the processor; the kernels of this version are plain Go
				CUDA     nvidia.Status `json:"cuda"`
			}{msrep.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, cpuid.CPU.BrandName, cpuid.CPU.FeatureSet(),
				nvidia.Query()}
			if c.json {
				return c.printJSON(v)
			}
			_, err := fmt.Fprintf(c.stdout, "msrep %s, %s, %s\ncpu   %s\n      has %s\n      used by the kernels: none of these, they are plain Go\ncuda  %s\n",
				v.Version, v.Go, v.Platform, v.CPU, strings.Join(v.Features, " "), describeCUDA(v.CUDA))
			return err
		}
	},
}
