package msrep

import (
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// AdoptVector returns a vector that has all its elements on one device, in the array a. The vector takes over the
// memory of a: Close frees it. After an error the memory still belongs to the caller.
func AdoptVector[V sparse.Value](sys *System, device int, a kernels.Array[V]) (v *Vector[V], err error) {
	defer rescue(&err)
	switch {
	case sys == nil:
		return nil, sparse.Inputf("system", "is nil")
	case device < 0 || device >= len(sys.devices) || a.Buf == nil || a.Buf.Device() != sys.devices[device]:
		return nil, sparse.Inputf("device", "%d: the array is not in the memory of this device", device)
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
	if err := sys.register(v); err != nil {
		return nil, err
	}
	return v, nil
}

// Wait blocks until all earlier operations on vectors of the System are done.
func (v *Vector[V]) Wait() (err error) {
	defer rescue(&err)
	if v == nil {
		return sparse.Inputf("vector", "is nil")
	}
	return v.withStreams(nil, func(l *vectorStreams) error { return l.sync() })
}
