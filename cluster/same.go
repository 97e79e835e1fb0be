package cluster

import (
	"fmt"
	"hash/crc32"
	"io"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/sparse"
)

// Same checks that all ranks pass the same string, such as a version. The error is a *sparse.InputError, the same on
// all ranks, that names the first rank that differs from rank 0. All ranks call it.
func (s *System) Same(what, own string) error {
	if s.none() {
		return errNoSystem
	}
	all, err := s.comm.Share([]byte(own))
	if err != nil {
		return err
	}
	for r, b := range all {
		if string(b) != string(all[0]) {
			return &agreed{sparse.Inputf(what, "%s has %s, %s has %s: it must be the same on all ranks", s.Name(0), all[0], s.Name(r), b)}
		}
	}
	return nil
}

// sameFile checks that all ranks see the same file at path: the same length, and the same bytes at both ends. All
// ranks call it.
func (s *System) sameFile(path string) error {
	print, err := fingerprint(path)
	if err := s.Agree(err); err != nil {
		return err
	}
	return s.Same(path, print)
}

// printed is the number of bytes at each end of a file that fingerprint reads.
const printed = 1 << 16

func fingerprint(path string) (string, error) {
	f, err := fileio.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	st, err := f.OS().Stat()
	if err != nil {
		return "", &sparse.InputError{Err: err}
	}
	if !st.Mode().IsRegular() {
		return "", sparse.Inputf(path, "is not a regular file: ranks can't read it together")
	}
	h := crc32.NewIEEE()
	for _, at := range []int64{0, max(st.Size()-printed, 0)} {
		if _, err := io.Copy(h, io.NewSectionReader(f.OS(), at, printed)); err != nil {
			return "", sparse.Inputf(path, "cannot be read: %v", err)
		}
	}
	return fmt.Sprintf("%d bytes with checksum %08x at its ends", st.Size(), h.Sum32()), nil
}
