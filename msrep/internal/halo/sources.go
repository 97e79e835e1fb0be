package halo

import (
	"errors"
	"slices"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// Sources brings the elements of vectors with certain pieces to the devices that need them. A device reads the pieces of
// those devices whose memory its kernels can read, all in one operation (kernels.Pull). From the other devices it copies:
// a stretch directly; listed elements from a buffer in which their owner has gathered them (Take).
type Sources[V sparse.Value] struct {
	cuts []int
	to   []incoming[V] // by device
	from []outgoing[V] // by device
}

// incoming is what one device gets.
type incoming[V sparse.Value] struct {
	runs []source[V]
	idx  kernels.Array[int32] // the indices of the pulled runs
}

// source is a run and how the device gets it.
type source[V sparse.Value] struct {
	Run
	pulled bool
	idx    kernels.Array[int32] // its indices, if it is pulled and has some
	sent   kernels.Array[V]     // its elements in the buffer of the owner, if it is copied and has indices
}

// outgoing is what one device gathers for those that cannot read its memory.
type outgoing[V sparse.Value] struct {
	idx kernels.Array[int64]
	buf kernels.Array[V]
}

// NewSources prepares the exchange of vectors with the given pieces. The streams belong to the devices and are idle
// afterwards. With copies, devices copy in all cases. After an error, Close frees what was allocated.
func NewSources[V sparse.Value](maps []*Map, cuts []int, devices []kernels.Device, streams []kernels.Stream, copies bool) (*Sources[V], error) {
	n := len(devices)
	s := &Sources[V]{cuts: slices.Clone(cuts), to: make([]incoming[V], n), from: make([]outgoing[V], n)}
	gathered := make([][]int64, n)
	for i, m := range maps {
		t := &s.to[i]
		for _, r := range m.Runs(cuts) {
			from := source[V]{Run: r, pulled: !copies && kernels.ReadsPeer(devices[i], devices[r.From])}
			if !from.pulled && r.Idx != nil {
				all := &gathered[r.From]
				from.sent = kernels.Array[V]{Off: int64(len(*all)) * mem.Size[V](), Len: int64(r.N)} // Buf follows
				for _, j := range r.Idx {
					*all = append(*all, int64(j))
				}
			}
			t.runs = append(t.runs, from)
		}
	}
	err := devvec.InParallel(n, func(i int) error {
		return errors.Join(s.to[i].upload(devices[i], streams[i]), s.from[i].open(devices[i], streams[i], gathered[i]))
	})
	for i := range s.to {
		for k := range s.to[i].runs {
			if r := &s.to[i].runs[k]; r.sent.Len > 0 {
				r.sent.Buf = s.from[r.From].buf.Buf
			}
			s.to[i].runs[k].Idx = nil // only its copy on a device is needed
		}
	}
	return s, err
}

// upload copies the indices of the pulled runs to the device.
func (t *incoming[V]) upload(d kernels.Device, s kernels.Stream) (err error) {
	var all []int32
	for _, r := range t.runs {
		if r.pulled {
			all = append(all, r.Idx...)
		}
	}
	if len(all) == 0 {
		return nil
	}
	if t.idx, err = kernels.NewArray[int32](d, int64(len(all))); err != nil {
		return err
	}
	at := int64(0)
	for k := range t.runs {
		if r := &t.runs[k]; r.pulled && r.Idx != nil {
			r.idx = t.idx.Sub(at, at+int64(r.N))
			at += int64(r.N)
		}
	}
	return errors.Join(t.idx.Write(s, all), s.Sync())
}

// open allocates the buffer for gathered elements and copies their indices to the device.
func (f *outgoing[V]) open(d kernels.Device, s kernels.Stream, idx []int64) (err error) {
	if len(idx) == 0 {
		return nil
	}
	if f.idx, err = kernels.NewArray[int64](d, int64(len(idx))); err != nil {
		return err
	}
	if f.buf, err = kernels.NewArray[V](d, int64(len(idx))); err != nil {
		return err
	}
	return errors.Join(f.idx.Write(s, idx), s.Sync())
}

// Cuts returns the bounds of the pieces of the vectors.
func (s *Sources[V]) Cuts() []int { return s.cuts }

// Reads reports whether device i reads memory of device j.
func (s *Sources[V]) Reads(i, j int) bool {
	return slices.ContainsFunc(s.to[i].runs, func(r source[V]) bool { return r.From == j })
}

// Gathers reports whether some device gathers elements.
func (s *Sources[V]) Gathers() bool {
	return slices.ContainsFunc(s.from, func(f outgoing[V]) bool { return f.buf.Len > 0 })
}

// Gather queues the gathering of elements of x, the piece of device i, for devices that cannot read them. These devices must
// have copied the elements of the product before.
func (s *Sources[V]) Gather(i int, stream kernels.Stream, x kernels.Array[V]) error {
	if f := s.from[i]; f.buf.Len > 0 {
		return stream.Launch(&kernels.Take[V]{Idx: f.idx, X: x, Y: f.buf})
	}
	return nil
}

// Fill queues the copies of the elements of x that device i needs to their places in local. The stream must wait for the
// owners before. With inPlace, the own piece is already there: then x must have the pieces of the Map.
func (s *Sources[V]) Fill(i int, stream kernels.Stream, local kernels.Array[V], x []kernels.Array[V], inPlace bool) error {
	var pull kernels.Pull[V]
	size := mem.Size[V]()
	for _, r := range s.to[i].runs {
		n := int64(r.N)
		from := x[r.From].Sub(int64(r.At), int64(r.At)+n)
		switch {
		case r.From == i && inPlace:
			continue
		case r.pulled && r.idx.Len > 0:
			pull.Sources = append(pull.Sources, kernels.PullSource[V]{X: x[r.From], Idx: r.idx, First: r.Local, N: n})
			continue
		case r.pulled:
			pull.Sources = append(pull.Sources, kernels.PullSource[V]{X: from, First: r.Local, N: n})
			continue
		case r.sent.Len > 0:
			from = r.sent
		}
		if err := stream.Copy(local.Buf, local.Off+r.Local*size, from.Buf, from.Off, n*size); err != nil {
			return err
		}
	}
	if len(pull.Sources) == 0 {
		return nil
	}
	pull.Y = local
	return stream.Launch(&pull)
}

// Buffers returns the memory on device i; elements may be nil.
func (s *Sources[V]) Buffers(i int) []kernels.Buffer {
	return []kernels.Buffer{s.to[i].idx.Buf, s.from[i].idx.Buf, s.from[i].buf.Buf}
}

// Close frees the memory. Products that use it must be done.
func (s *Sources[V]) Close() error {
	var errs []error
	for i := range s.to {
		errs = append(errs, s.to[i].idx.Free(), s.from[i].idx.Free(), s.from[i].buf.Free())
	}
	return errors.Join(errs...)
}
