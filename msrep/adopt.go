package msrep

import (
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// AdoptVector makes a vector whose elements are all on one device, in memory that it
// takes over: Close gives that back.
func AdoptVector[V sparse.Value](sys *System, device int, a kernels.Array[V]) (v *Vector[V], err error) {
	defer rescue(&err)
	switch {
	case sys == nil:
		return nil, sparse.Inputf("system", "is nil")
	case device < 0 || device >= len(sys.devices) || a.Buf == nil || a.Buf.Device() != sys.devices[device]:
		return nil, sparse.Inputf("device", "%d: the array is not in memory of such a device", device)
	case a.Len < 0 || a.Len > sparse.MaxDim:
		return nil, sparse.Inputf("vector", "%d elements: use 0 to %d", a.Len, sparse.MaxDim)
	}
	l, err := sys.vectorStreams()
	if err != nil {
		return nil, err
	}
	v = &Vector[V]{sys: sys, streams: l, cuts: make([]int, len(sys.devices)+1), pieces: make([]kernels.Array[V], len(sys.devices))}
	for i := device + 1; i < len(v.cuts); i++ {
		v.cuts[i] = int(a.Len)
	}
	v.pieces[device] = a
	if sys.onHost() {
		if v.host, err = kernels.View(sys.devices[device].(kernels.HostMapper), a); err != nil {
			return nil, err
		}
	}
	if err := sys.enter(v); err != nil {
		return nil, err // the memory stays the caller's
	}
	return v, nil
}

// Wait waits for the operations on the vectors of the System that were called before.
func (v *Vector[V]) Wait() (err error) {
	defer rescue(&err)
	if v == nil {
		return sparse.Inputf("vector", "is nil")
	}
	return v.do(nil, func(l *vectorStreams) error { return l.sync() })
}
