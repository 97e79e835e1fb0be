package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/internal/fileio"
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

// checkChoice refuses --choice and --save-choice on several ranks, and a --save-choice that would replace the output
// or the matrix.
func (s *spmv) checkChoice() error {
	if s.team != nil && (s.choice != "" || s.saveChoice != "") {
		return sparse.Inputf("--choice", "and --save-choice work with one process only; leave them out under MPI")
	}
	if s.saveChoice == "" {
		return nil
	}
	if s.saveChoice == s.out {
		return sparse.Inputf("--save-choice", "%s: is the file of --out, too", s.saveChoice)
	}
	if file, err := os.Stat(s.saveChoice); err == nil {
		if matrix, err := os.Stat(s.args[0]); err == nil && os.SameFile(file, matrix) {
			return sparse.Inputf("--save-choice", "%s: is the matrix: name another file", s.saveChoice)
		}
	}
	return nil
}

// choices reads the file of --choice into opt and creates the file of --save-choice. save is nil without
// --save-choice.
func (s *spmv) choices(opt *msrep.PlanOptions) (save *fileio.Out, err error) {
	if s.choice != "" {
		if opt.Storage.Choice, err = readChoice(s.choice); err != nil {
			return nil, err
		}
	}
	if s.saveChoice == "" {
		return nil, nil
	}
	if save, err = fileio.Create(s.saveChoice); err != nil {
		return nil, &sparse.InputError{Err: err}
	}
	return save, nil
}

// readChoice reads a file that --save-choice wrote.
func readChoice(path string) (msrep.Choice, error) {
	f, err := fileio.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	const most = 1 << 20 // enough for the forms of all devices
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err == nil && strings.TrimSpace(string(text)) == "" {
		err = sparse.Inputf(path, "is empty: it must contain the line that --save-choice writes")
	}
	return msrep.Choice(strings.TrimSpace(string(text))), err
}

// writeChoice writes the file of --save-choice; a nil save writes nothing.
func writeChoice(save *fileio.Out, c msrep.Choice) error {
	if save == nil {
		return nil
	}
	if _, err := fmt.Fprintln(save, c); err != nil {
		return err
	}
	return save.Commit()
}
