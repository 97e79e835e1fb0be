package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// formats is what --format may be, by the devices that have it.
func formats() (all, cpu, gpu []string) {
	ofCPU, ofGPU := msrep.Forms("cpu"), msrep.Forms("cuda")
	for _, f := range []sparse.Format{msrep.FormatAuto, sparse.FormatCSR, sparse.FormatCSC, sparse.FormatCOO} {
		all = append(all, string(f))
	}
	for _, f := range msrep.Forms("") {
		switch {
		case !slices.Contains(ofGPU, f):
			cpu = append(cpu, string(f))
		case !slices.Contains(ofCPU, f):
			gpu = append(gpu, string(f))
		default:
			all = append(all, string(f))
		}
	}
	return all, cpu, gpu
}

// formatHelp lists them.
func formatHelp() string {
	all, cpu, gpu := formats()
	return fmt.Sprintf(`formats (docs/formats.md):
  any device   %s
  CPU devices  %s
  GPUs         %s (also simulated ones): CSR by merge path,
               from host memory piece by piece, with a thread and with half a warp for each row
`, strings.Join(all, ", "), strings.Join(cpu, ", "), strings.Join(gpu, ", "))
}

// checkFormat refuses a name that no device knows. What a device lacks is found by the
// plan.
func checkFormat(f string) error {
	all, cpu, gpu := formats()
	if slices.Contains(slices.Concat(all, cpu, gpu), f) {
		return nil
	}
	return sparse.Inputf("--format", "%q is not known: use one of %s; on CPU devices also %s; on GPUs also %s",
		f, strings.Join(all, ", "), strings.Join(cpu, ", "), strings.Join(gpu, ", "))
}

// unsuited names the flag and the file in the error of a plan whose matrix, or a rank's
// part of it, does not suit the format that was named.
func (s *spmv) unsuited(err error) error {
	var bad *sparse.InputError
	if errors.As(err, &bad) && (bad.Subject == "matrix" || bad.Subject == "blocks") && s.format != string(msrep.FormatAuto) {
		bad.Subject, bad.Msg = "--format", fmt.Sprintf("%s does not suit %s: %s", s.format, s.args[0], bad.Msg)
	}
	return err
}
