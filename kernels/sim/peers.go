package sim

import (
	"sync"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/ptx"
)

// ReadsPeer implements kernels.PeerReader: a simulated GPU reads every other one that is open, except where Config.Reads
// says otherwise.
func (d *Device) ReadsPeer(from kernels.Device) bool {
	f, ok := from.(*Device)
	switch {
	case !ok || f == nil || f.closed.Load():
		return false
	case f == d || d.config.Reads == nil:
		return true
	}
	return d.config.Reads(f)
}

// PeerReads counts the bytes that a device has read of another device's memory.
type PeerReads struct {
	Kernels int64 // loaded by its kernels, in whole sectors of 32 bytes
	Copies  int64 // copied to its memory by Stream.Copy, of any stream
}

// peerReads holds the PeerReads of a device, by source.
type peerReads struct {
	mu sync.Mutex
	of map[*Device]PeerReads
}

// PeerReads returns what the device has read of from since it was opened.
func (d *Device) PeerReads(from *Device) PeerReads {
	d.peers.mu.Lock()
	defer d.peers.mu.Unlock()
	return d.peers.of[from]
}

// notePeer adds to what the device has read of from.
func (d *Device) notePeer(from *Device, more PeerReads) {
	if from == d {
		return
	}
	d.peers.mu.Lock()
	defer d.peers.mu.Unlock()
	if d.peers.of == nil {
		d.peers.of = map[*Device]PeerReads{}
	}
	sum := d.peers.of[from]
	d.peers.of[from] = PeerReads{Kernels: sum.Kernels + more.Kernels, Copies: sum.Copies + more.Copies}
}

// notePeers adds what a kernel has read of the devices of Launch.Peers.
func (d *Device) notePeers(peers []*Device, c ptx.Counters) {
	for _, b := range c.Buffers {
		if b.Peer > 0 {
			d.notePeer(peers[b.Peer-1], PeerReads{Kernels: 32 * b.LoadSectors})
		}
	}
}

// memories returns the memories of devices.
func memories(of []*Device) (list []*ptx.Memory) {
	for _, d := range of {
		list = append(list, d.mem)
	}
	return list
}
