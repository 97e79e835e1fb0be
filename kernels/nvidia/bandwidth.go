//go:build cuda

package nvidia

import (
	"errors"
	"time"

	"gorgonia.org/cu"
)

const (
	bandwidthBytes  = 64 << 20 // of a copy, at least twice the L2 cache
	bandwidthCopies = 8
)

// MeasureBandwidth sets Info.Bandwidth, by the fastest of some copies in the memory of the
// GPU. It takes a few milliseconds and, for that time, up to an eighth of the free memory
// twice. No other call may be under way.
func (d *Device) MeasureBandwidth() error {
	bytes := min(max(bandwidthBytes, 2*d.gpu.info.L2), d.FreeMemory()/8)
	from, err := d.alloc(bytes, true)
	if err != nil {
		return err
	}
	to, err := d.alloc(bytes, true)
	if err != nil {
		return errors.Join(err, from.Free())
	}
	err = d.run("measure bandwidth", bytes, func() error {
		start, err := cu.MakeEvent(cu.DefaultEvent)
		if err != nil {
			return err
		}
		stop, err := cu.MakeEvent(cu.DefaultEvent)
		if err != nil {
			return freeAfter(err, cu.DestroyEvent(&start))
		}
		best := time.Duration(0)
		for range bandwidthCopies {
			took, err := d.timeCopy(to, from, start, stop)
			if err != nil {
				return errors.Join(err, cu.DestroyEvent(&start), cu.DestroyEvent(&stop))
			}
			if best == 0 || took < best {
				best = took
			}
		}
		if best > 0 {
			d.info.Bandwidth = 2 * float64(bytes) / best.Seconds()
		}
		return errors.Join(cu.DestroyEvent(&start), cu.DestroyEvent(&stop))
	})
	return errors.Join(err, to.Free(), from.Free())
}

// timeCopy times a copy of a buffer, on the thread of the device.
func (d *Device) timeCopy(to, from *buffer, start, stop cu.Event) (time.Duration, error) {
	err := start.Record(d.allocs)
	if err == nil {
		err = cu.MemcpyDtoDAsync(to.addr, from.addr, from.bytes, d.allocs)
	}
	if err == nil {
		err = stop.Record(d.allocs)
	}
	if err == nil {
		err = d.syncEvent(stop)
	}
	if err != nil {
		return 0, err
	}
	ms, err := start.Elapsed(stop)
	return time.Duration(ms * float64(time.Millisecond)), err
}
