// Command msrep multiplies sparse matrices by vectors on all devices of a node. It also solves systems, ranks graphs,
// and describes, converts and generates matrices. "msrep help" lists its commands.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/internal/ended"
	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/msrep"
)

// grace is the time that an interrupted command has to end by itself.
const grace = 700 * time.Millisecond

func main() {
	if most, limited := mem.MostThreads(); limited {
		runtime.GOMAXPROCS(min(runtime.GOMAXPROCS(0), most))
		debug.SetTraceback("none") // the runtime prints one or two lines when it runs out of memory; a trace adds nothing
	}
	ctx, stop := ended.BySignals(context.Background())
	defer stop()
	go func() {
		<-ctx.Done()
		fileio.RemovePending()
		time.Sleep(grace)
		if printsMessages() && !failureReported.Load() {
			eraseLastLine()
			os.Stderr.WriteString("msrep: interrupted\n")
		}
		os.Exit(exitFailed)
	}()
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	fileio.RemovePending()
	os.Exit(code)
}

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
			_, err = fmt.Fprintf(c.stdout, "msrep %s, %s, %s\ncpu   %s\n      has %s\n      used by the kernels: %s (MSREP_CPU chooses %s)\ncuda  %s\n",
				v.Version, v.Go, v.Platform, v.CPU, strings.Join(v.Features, " "), v.Kernels, cpu.InstructionSets(), describeCUDA(v.CUDA))
			return err
		}
	},
}
