//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
)

// peer is how a context reaches the memory of another.
type peer struct {
	kind   LinkKind
	rank   int
	copies Way
	reads  bool
	via    *gpu   // forwards large copies, unless nil
	why    string // why copies are not direct, or kernels do not read
}

// connecting lets one Connect run at a time.
var connecting sync.Mutex

// Connect gives the devices access to the memory of each other where the driver has it, and
// then checks each ordered pair, because behind an active IOMMU or with ACS the driver reports
// direct access and copies lose data without an error. A pair that fails copies through
// pinned host memory, and Config.OnRefused of the device that reads is called. Connect returns
// a Link for each ordered pair of devices; see probe for the check. Pairs that an
// earlier call has checked are not checked again while both GPUs are open.
//
// Devices that are not connected copy as the driver chooses, and their kernels read only
// memory of their own GPU. MSREP_P2P=0 in the environment switches direct access off: all copies
// go through pinned host memory.
//
// An error means that a GPU was lost. All devices must be open.
func Connect(devices []kernels.Device) ([]Link, error) {
	connecting.Lock()
	defer connecting.Unlock()
	var all []*Device
	var first []*Device // a device of each context
	for _, d := range devices {
		d, ok := d.(*Device)
		if !ok {
			return nil, &kernels.DeviceError{Device: "cuda", Call: "connect", Err: fmt.Errorf("%w: a device of another kind", kernels.ErrArgument)}
		}
		all = append(all, d)
		if !slices.ContainsFunc(first, func(f *Device) bool { return f.gpu == d.gpu }) {
			first = append(first, d)
		}
	}
	var fresh [][2]*Device // from, to
	for _, to := range first {
		for _, from := range first {
			if to.gpu != from.gpu && to.gpu.peer(from.gpu) == nil {
				fresh = append(fresh, [2]*Device{from, to})
			}
		}
	}
	if err := connect(fresh); err != nil {
		return nil, err
	}
	for _, p := range fresh {
		chooseForwarder(p[1].gpu, p[0].gpu, first)
	}
	return links(all), nil
}

// connect finds how the second device of each pair reaches the memory of the first.
func connect(pairs [][2]*Device) error {
	if os.Getenv("MSREP_P2P") == "0" {
		for _, p := range pairs {
			kind, rank := between(p[1].gpu, p[0].gpu)
			p[1].gpu.setPeer(p[0].gpu, &peer{kind: kind, rank: rank, copies: WayHost, why: "MSREP_P2P=0"})
		}
		return nil
	}
	found := make([]*peer, len(pairs))
	for i, p := range pairs { // before the first copy, because a copy may go either way
		from, to := p[0], p[1]
		kind, rank := between(to.gpu, from.gpu)
		found[i] = &peer{kind: kind, rank: rank, copies: WayDriver, why: "no direct access: the driver copies through the host"}
		if from.gpu.dev == to.gpu.dev {
			found[i].why = "another context of the same GPU: the driver copies"
		}
		if kind == LinkNone {
			continue
		}
		err := to.worker.call(func() error { return to.gpu.enable(from.gpu) })
		switch {
		case fatal[code(err)]:
			return to.fail("connect", 0, err)
		case err != nil:
			found[i].why = fmt.Sprintf("no direct access from %s: %v", from.info.ID, describe(err))
			to.refused(errors.New(found[i].why))
		default:
			found[i].copies, found[i].reads, found[i].why = WayDirect, true, ""
		}
	}
	if err := probeAll(pairs, found); err != nil {
		return err
	}
	for i, p := range pairs {
		p[1].gpu.setPeer(p[0].gpu, found[i])
	}
	return nil
}

// enable lets the context of g, which is current on the calling thread, access the memory
// of from.
func (g *gpu) enable(from *gpu) error {
	err := from.ctx.EnablePeerAccess(0)
	if code(err) == codePeerEnabled {
		err = nil
	}
	if err == nil && from.pools && g.dev != from.dev {
		err = driver.SharePool(from.dev, g.dev)
	}
	return err
}

// between returns the link by which a context accesses another.
func between(to, from *gpu) (LinkKind, int) { return Between(from.info.Ordinal, to.info.Ordinal) }

// Between returns the link by which GPU to accesses the memory of GPU from, and the driver's
// rank of it. The GPUs need not be open.
func Between(from, to int) (LinkKind, int) {
	a, err := cu.GetDevice(from)
	if err != nil {
		return LinkNone, 0
	}
	b, err := cu.GetDevice(to)
	if err != nil {
		return LinkNone, 0
	}
	can, err := b.CanAccessPeer(a)
	if err != nil || can == 0 {
		return LinkNone, 0
	}
	rank, err := b.P2PAttribute(cu.PerformanceRank, a)
	if err != nil {
		rank = 0
	}
	atomics, err := b.P2PAttribute(cu.P2PNativeAomicSupported, a)
	if err != nil || atomics == 0 {
		return LinkPCIe, rank
	}
	return LinkNVLink, rank
}

func (g *gpu) peer(from *gpu) *peer {
	g.peersMu.RLock()
	defer g.peersMu.RUnlock()
	return g.peers[from]
}

// setPeer sets how g reaches the memory of from; nil forgets it.
func (g *gpu) setPeer(from *gpu, p *peer) {
	g.peersMu.Lock()
	defer g.peersMu.Unlock()
	if p == nil {
		delete(g.peers, from)
		return
	}
	g.peers[from] = p
}

// ReadsPeer implements kernels.PeerReader.
func (d *Device) ReadsPeer(from kernels.Device) bool {
	f, ok := from.(*Device)
	if !ok {
		return false
	}
	if f.gpu == d.gpu {
		return true
	}
	p := d.gpu.peer(f.gpu)
	return p != nil && p.reads
}

// way returns how the device copies from one context to another, and the context that
// forwards large copies, if one does. A device copies directly only to or from its own
// context, which Connect has checked.
func (d *Device) way(to, from *gpu) (Way, *gpu) {
	p := to.peer(from)
	if p == nil {
		if os.Getenv("MSREP_P2P") == "0" {
			return WayHost, nil
		}
		return WayDriver, nil
	}
	switch {
	case to == d.gpu:
		return p.copies, p.via
	case from == d.gpu:
		return p.copies, nil
	}
	return WayHost, nil
}

// chooseForwarder chooses the GPU that forwards large copies of a pair without direct
// access: one with NVLink to both. Pairs choose different ones where there are several.
func chooseForwarder(to, from *gpu, devices []*Device) {
	p := to.peer(from)
	if p.copies == WayDirect || to.dev == from.dev || os.Getenv("MSREP_P2P") == "0" {
		return
	}
	nvlink := func(p *peer) bool { return p != nil && p.kind == LinkNVLink && p.copies == WayDirect }
	var able []*gpu
	for _, d := range devices {
		if nvlink(d.gpu.peer(from)) && nvlink(to.peer(d.gpu)) {
			able = append(able, d.gpu)
		}
	}
	if len(able) > 0 {
		forwarded := *p
		forwarded.via = able[(from.info.Ordinal+to.info.Ordinal)%len(able)]
		to.setPeer(from, &forwarded)
	}
}

// Links returns what Connect has found for each ordered pair of devices, or nil if it has
// not connected all of them.
func Links(devices []kernels.Device) []Link {
	var all []*Device
	for _, d := range devices {
		d, ok := d.(*Device)
		if !ok {
			return nil
		}
		all = append(all, d)
	}
	return links(all)
}

// links describes each ordered pair of the devices.
func links(devices []*Device) (out []Link) {
	for _, to := range devices {
		for _, from := range devices {
			if to == from {
				continue
			}
			l := Link{From: from.info.ID, To: to.info.ID, Kind: LinkSame, Copies: WayDirect, Reads: true}
			if p := to.gpu.peer(from.gpu); to.gpu != from.gpu {
				if p == nil {
					return nil
				}
				l.Kind, l.Rank, l.Copies, l.Reads, l.Why = p.kind, p.rank, p.copies, p.reads, p.why
				if p.via != nil {
					l.Via = p.via.id()
				}
			}
			out = append(out, l)
		}
	}
	return out
}
