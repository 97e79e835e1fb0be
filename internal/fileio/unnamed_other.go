//go:build !linux

package fileio

import (
	"errors"
	"io/fs"
	"os"
)

// createUnnamed fails: only Linux has files without a name.
func createUnnamed(string, fs.FileMode) (*os.File, error) { return nil, errors.ErrUnsupported }

func link(*os.File, string) error { return errors.ErrUnsupported }
