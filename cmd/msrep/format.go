package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// formats lists the values of --format by the devices that support them: all devices, CPU devices only, GPUs only.
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

// formatHelp returns the list of formats in the help text.
func formatHelp() string {
	all, cpu, gpu := formats()
	return fmt.Sprintf(`formats (docs/formats.md):
  any device   %s
  CPU devices  %s
  GPUs         %s, also on simulated GPUs: CSR split by merge path; copied from host memory
               in each product; with one thread per row; with 16 threads per row
`, strings.Join(all, ", "), strings.Join(cpu, ", "), strings.Join(gpu, ", "))
}

// checkFormat refuses a name that no device supports. The plan checks whether the opened devices support it.
func checkFormat(f string) error {
	all, cpu, gpu := formats()
	if slices.Contains(slices.Concat(all, cpu, gpu), f) {
		return nil
	}
	return sparse.Inputf("--format", "%q is not known: use one of %s; on CPU devices also %s; on GPUs also %s",
		f, strings.Join(all, ", "), strings.Join(cpu, ", "), strings.Join(gpu, ", "))
}

// unsuited rewords the error of a plan whose matrix does not suit the named format: it names --format and the file.
func (s *spmv) unsuited(err error) error {
	var bad *sparse.InputError
	if errors.As(err, &bad) && (bad.Subject == "matrix" || bad.Subject == "blocks") && s.format != string(msrep.FormatAuto) {
		bad.Subject, bad.Msg = "--format", fmt.Sprintf("%s does not suit %s: %s", s.format, s.args[0], bad.Msg)
	}
	return err
}
