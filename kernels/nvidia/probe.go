//go:build cuda

package nvidia

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/kernels/internal/cuda"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
)

const (
	probeBytes = 64 << 10 // of each copy
	probeRead  = 16 << 10 // of each read by a kernel
	// A probe takes two rounds with different patterns, because the first read of an address
	// may be right and a later one return old data.
	probeRounds = 2
)

// probeWays are the accesses that a probe makes, in the order of its results.
var probeWays = []struct {
	name  string
	bytes int
}{{"copies", probeBytes}, {"copies by the source", probeBytes}, {"reads by kernels", probeRead}}

// prober is what one device has for probes: memory from cuMemAlloc, and from the pool if the
// GPU has one. Each begins with a pattern of probeBytes; the results of probeWays follow.
type prober struct {
	d      *Device
	memory []cu.DevicePtr
	read   cuda.Kernel
	reads  bool // its kernels read other devices
}

const proberBytes = 4 * probeBytes // of each memory, with room for all probeWays

// probeAll probes each pair, and corrects what is found wrong.
func probeAll(pairs [][2]*Device, found []*peer) (err error) {
	if len(pairs) == 0 {
		return nil
	}
	first := pairs[0][1]
	var host []byte
	if err := first.worker.call(func() (err error) {
		host, err = driver.HostAlloc((1 + 2*len(probeWays)) * probeBytes)
		return err
	}); fatal[code(err)] {
		return first.fail("connect", 0, err)
	} else if err != nil {
		distrust(pairs, found, err)
		return nil
	}
	probers := map[*Device]*prober{}
	for i, pair := range pairs {
		for _, d := range pair {
			if probers[d] == nil {
				probers[d] = &prober{d: d}
			}
		}
		probers[pair[1]].reads = probers[pair[1]].reads || found[i].reads
	}
	defer func() {
		for _, p := range probers {
			err = errors.Join(err, p.d.fail("connect", 0, p.d.worker.call(p.release)))
		}
		err = errors.Join(err, first.fail("connect", 0, first.worker.call(func() error { return driver.HostFree(host) })))
	}()
	if err := prepareAll(probers); fatal[code(err)] {
		return err
	} else if err != nil {
		distrust(pairs, found, err)
		return nil
	}
	for i, pair := range pairs {
		if err := probe(probers[pair[0]], probers[pair[1]], found[i], host); err != nil {
			return err
		}
	}
	return nil
}

// prepareAll prepares side by side, because the driver may take a second to compile the kernel.
func prepareAll(probers map[*Device]*prober) error {
	errs := make(chan error, len(probers))
	for _, p := range probers {
		go func() { errs <- p.d.fail("connect", 0, p.d.worker.call(p.prepare)) }()
	}
	var first error
	for range probers {
		if err := <-errs; first == nil || fatal[code(err)] {
			first = err
		}
	}
	return first
}

// distrust switches direct access of pairs off that could not be probed.
func distrust(pairs [][2]*Device, found []*peer, err error) {
	for i, p := range found {
		if p.copies == WayDirect {
			p.copies, p.reads, p.why = WayHost, false, fmt.Sprintf("not checked: %v", describe(err))
			pairs[i][1].refused(fmt.Errorf("no direct copies from %s: %s", pairs[i][0].info.ID, p.why))
		}
	}
}

// prepare allocates the memory and loads the kernel, on the thread of the device.
func (p *prober) prepare() (err error) {
	if p.read, err = cuda.Lookup("msrep_axpby_f64"); err != nil {
		return err
	}
	for _, pool := range []bool{false, true}[:1+truth(p.d.gpu.pools)] {
		var at cu.DevicePtr
		if pool {
			at, err = driver.AllocAsync(proberBytes, p.d.allocs)
		} else {
			at, err = cu.MemAlloc(proberBytes)
		}
		if err != nil {
			return err
		}
		p.memory = append(p.memory, at)
	}
	if p.reads {
		if _, err := p.d.gpu.function(p.read); err != nil {
			return err
		}
	}
	return p.d.sync(p.d.allocs)
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (p *prober) release() error {
	var errs []error
	if p.d.dead.Load() != nil {
		return nil
	}
	for i, at := range p.memory {
		if i == 1 {
			errs = append(errs, driver.FreeAsync(at, p.d.allocs))
		} else {
			errs = append(errs, cu.MemFree(at))
		}
	}
	return errors.Join(append(errs, p.d.sync(p.d.allocs))...)
}

// probe checks the access of one device to the memory of another, twice with different
// patterns of 64 KB: random bits that make finite numbers of float64, from the pair and the
// round. The host writes the pattern to the memory of from, and zeros to that of to. Then to
// copies the pattern, from copies it, and, if the link has direct access, a kernel of to
// reads 16 KB of it; each from memory of cuMemAlloc and of the pool. Last, the host compares all.
// That is 8 waits on the host and about 1 MB over the links, less than a millisecond on a GPU. What fails is
// switched off in found. An error means that a GPU was lost.
func probe(from, to *prober, found *peer, host []byte) error {
	kinds := min(len(from.memory), len(to.memory))
	pattern, got := host[:probeBytes], host[probeBytes:]
	wrong := func(way int, format string, args ...any) {
		what := fmt.Sprintf("%s from %s ", probeWays[way].name, from.d.info.ID) + fmt.Sprintf(format, args...)
		if way == 2 {
			found.reads = false
		} else if found.copies != WayHost {
			found.copies = WayHost
		} else {
			return // the first reason suffices
		}
		if found.why != "" && found.kind != LinkNone {
			found.why += "; " + what
		} else {
			found.why = what
		}
		to.d.refused(fmt.Errorf("%s: %s", what, []string{"they go through the host", "they go through the host", "kernels do not read it"}[way]))
	}
	for round := range probeRounds {
		fillPattern(pattern, uint64(from.d.gpu.key.ordinal)<<32|uint64(to.d.gpu.key.ordinal)<<16|uint64(from.d.gpu.key.own)<<8|uint64(to.d.gpu.key.own)<<1|uint64(round))
		failed := make([]bool, len(probeWays)) // without comparing
		step := func(p *prober, way int, f func(kind int) error) error {
			if way >= 0 && (failed[way] || way == 2 && !found.reads) {
				return nil
			}
			err := p.d.worker.call(func() error {
				for kind := range kinds {
					if err := f(kind); err != nil {
						return errors.Join(err, p.d.sync(p.d.allocs))
					}
				}
				return p.d.sync(p.d.allocs)
			})
			switch {
			case err == nil:
			case fatal[code(err)]:
				return p.d.fail(fmt.Sprintf("access to %s (MSREP_P2P=0 avoids it)", from.d.info.ID), 0, err)
			case way >= 0:
				failed[way] = true
				wrong(way, "fail: %v", describe(err))
			default: // neither pattern nor results
				for w := range failed {
					failed[w] = true
					if w < 2 || found.reads {
						wrong(w, "cannot be checked: %v", describe(err))
					}
				}
			}
			return nil
		}
		result := func(p *prober, kind, way int) cu.DevicePtr { return p.memory[kind] + cu.DevicePtr((1+way)*probeBytes) }
		copyTo := func(s cu.Stream, kind, way int) error {
			return cu.MemcpyPeerAsync(result(to, kind, way), to.d.gpu.ctx, from.memory[kind], from.d.gpu.ctx, probeBytes, s)
		}
		err := step(from, -1, func(kind int) error {
			return cu.MemcpyHtoDAsync(from.memory[kind], unsafe.Pointer(&pattern[0]), probeBytes, from.d.allocs)
		})
		if err == nil {
			err = step(to, -1, func(kind int) error {
				return cu.MemsetD8Async(result(to, kind, 0), 0, int64(len(probeWays)*probeBytes), to.d.allocs)
			})
		}
		if err == nil {
			err = step(to, 0, func(kind int) error { return copyTo(to.d.allocs, kind, 0) })
		}
		if err == nil {
			err = step(from, 1, func(kind int) error { return copyTo(from.d.allocs, kind, 1) })
		}
		if err == nil {
			err = step(to, 2, func(kind int) error { return to.readBy(from.memory[kind], result(to, kind, 2)) })
		}
		if err == nil {
			err = step(to, -1, func(kind int) error {
				return cu.MemcpyDtoHAsync(unsafe.Pointer(&got[kind*len(probeWays)*probeBytes]), result(to, kind, 0), int64(len(probeWays)*probeBytes), to.d.allocs)
			})
		}
		if err != nil {
			return err
		}
		for way, w := range probeWays {
			for kind := range kinds {
				at := (kind*len(probeWays) + way) * probeBytes
				if !failed[way] && (way < 2 || found.reads) && !bytes.Equal(got[at:at+w.bytes], pattern[:w.bytes]) {
					failed[way] = true
					wrong(way, "lose data%s", []string{"", " of the pool"}[kind])
				}
			}
		}
	}
	return nil
}

// readBy launches a kernel of the device that reads memory of another, on its thread.
func (p *prober) readBy(x, y cu.DevicePtr) error {
	s := &stream{dev: p.d, s: p.d.allocs}
	n := int64(probeRead / 8)
	return s.call(launch.Call{Kernel: p.read, Blocks: p.read.Blocks(n), Args: []any{launch.Addr(x), launch.Addr(y), n, 1.0, 0.0}})
}

// fillPattern fills p with finite numbers of float64 that depend on the seed.
func fillPattern(p []byte, seed uint64) {
	for i := 0; i < len(p); i += 8 {
		// The steps of SplitMix64, with the exponent of 1.
		z := (seed<<20 + uint64(i)) * 0x9e3779b97f4a7c15
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		binary.LittleEndian.PutUint64(p[i:], (z^z>>31)>>12|0x3ff<<52)
	}
}
