//go:build !linux

package numa

import "errors"

// Pin is done on Linux only; here it gives ErrRefused.
func Pin(cpus []int) error { return refused("sched_setaffinity", errors.ErrUnsupported) }

// Affinity is known on Linux only; here it gives ErrRefused.
func Affinity() ([]int, error) { return nil, refused("sched_getaffinity", errors.ErrUnsupported) }

// Bind is done on Linux only; here it gives ErrRefused.
func Bind(mem []byte, node int) error { return refused("mbind", errors.ErrUnsupported) }

// Interleave is done on Linux only; here it gives ErrRefused.
func Interleave(mem []byte, nodes []int) error { return refused("mbind", errors.ErrUnsupported) }

// Prefer is done on Linux only; here it gives ErrRefused.
func Prefer(node int) error { return refused("set_mempolicy", errors.ErrUnsupported) }

// Pages is known on Linux only; here it gives ErrRefused.
func Pages(mem []byte) (PageCount, error) {
	return PageCount{}, refused("move_pages", errors.ErrUnsupported)
}
