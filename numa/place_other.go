//go:build !linux

package numa

import "errors"

// Pin returns an error that wraps ErrRefused: this system is not Linux.
func Pin(cpus []int) error { return refused("sched_setaffinity", errors.ErrUnsupported) }

// Affinity returns an error that wraps ErrRefused: this system is not Linux.
func Affinity() ([]int, error) { return nil, refused("sched_getaffinity", errors.ErrUnsupported) }

// Bind returns an error that wraps ErrRefused: this system is not Linux.
func Bind(mem []byte, node int) error { return refused("mbind", errors.ErrUnsupported) }

// Interleave returns an error that wraps ErrRefused: this system is not Linux.
func Interleave(mem []byte, nodes []int) error { return refused("mbind", errors.ErrUnsupported) }

// Prefer returns an error that wraps ErrRefused: this system is not Linux.
func Prefer(node int) error { return refused("set_mempolicy", errors.ErrUnsupported) }

// Pages returns an error that wraps ErrRefused: this system is not Linux.
func Pages(mem []byte) (PageCount, error) {
	return PageCount{}, refused("move_pages", errors.ErrUnsupported)
}
