package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

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
