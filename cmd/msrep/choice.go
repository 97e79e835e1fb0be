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

// checkChoice refuses --choice and --save-choice where they have no meaning, and files that the second would replace.
func (s *spmv) checkChoice() error {
	if s.team != nil && (s.choice != "" || s.saveChoice != "") {
		return sparse.Inputf("--choice", "and --save-choice are for one process: here each rank has rows of its own")
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

// choices reads the file of --choice into opt, and opens that of --save-choice, nil for none.
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

// readChoice reads what --save-choice wrote.
func readChoice(path string) (msrep.Choice, error) {
	f, err := fileio.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	const most = 1 << 20 // more than there are devices
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err == nil && strings.TrimSpace(string(text)) == "" {
		err = sparse.Inputf(path, "is empty: it must have the line that --save-choice writes")
	}
	return msrep.Choice(strings.TrimSpace(string(text))), err
}

// writeChoice writes the file of --save-choice, if there is one.
func writeChoice(save *fileio.Out, c msrep.Choice) error {
	if save == nil {
		return nil
	}
	if _, err := fmt.Fprintln(save, c); err != nil {
		return err
	}
	return save.Commit()
}
