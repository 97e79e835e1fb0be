package numa

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

const nvidia = "0x10de" // PCI vendor

// readGPUs lists the display and 3D controllers (PCI class 0x03....).
func (s *scan) readGPUs(usable []int) error {
	entries, err := fs.ReadDir(s.fsys, pciDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.notef("%s cannot be read: %v", s.tree.path(pciDir), withoutPath(err))
	}
	for _, e := range entries { // in the order of names
		dir := path.Join(pciDir, e.Name())
		class, err := s.hex(dir+"/class", 6)
		if err != nil {
			return err
		}
		if !strings.HasPrefix(class, "0x03") {
			continue
		}
		g := GPU{PCI: e.Name(), Class: class, Path: s.pciPath(dir)}
		if g.Vendor, err = s.hex(dir+"/vendor", 4); err != nil {
			return err
		}
		if g.Device, err = s.hex(dir+"/device", 4); err != nil {
			return err
		}
		g.NVIDIA = g.Vendor == nvidia
		if err := s.placeGPU(&g, dir, usable); err != nil {
			return err
		}
		s.topo.GPUs = append(s.topo.GPUs, g)
	}
	return nil
}

// hex reads a number written as 0x and digits. It returns "" if the file is missing.
func (s *scan) hex(name string, digits int) (string, error) {
	text, ok, err := s.tree.text(name)
	if !ok || err != nil {
		return "", err
	}
	num, prefixed := strings.CutPrefix(text, "0x")
	if _, err := strconv.ParseUint(num, 16, 32); err != nil || !prefixed || len(num) != digits {
		return "", s.tree.fault(name, "%s is not a PCI number; 0x and %d hexadecimal digits are needed", clip(text), digits)
	}
	return text, nil
}

// placeGPU finds the node of a GPU and the usable CPUs near it. Firmware that does not
// know the node leaves -1 in numa_node. Then placeGPU takes the node that holds all CPUs
// of local_cpulist, or the first node if that list spans several nodes or is missing.
func (s *scan) placeGPU(g *GPU, dir string, usable []int) error {
	local, known, err := s.tree.cpus(dir + "/local_cpulist")
	if err != nil {
		return err
	}
	at, err := s.numaNode(dir+"/numa_node", g.PCI)
	if err != nil {
		return err
	}
	if at < 0 && len(s.topo.Nodes) == 1 {
		at = 0 // machines with one node often leave -1
	}
	if at < 0 {
		at = s.nodeHolding(local)
		if at >= 0 {
			s.notef("GPU %s: sysfs gives no node: node %d of its local CPUs is taken", g.PCI, s.topo.Nodes[at].ID)
		} else {
			at = 0
			s.notef("GPU %s: sysfs gives no node: node %d is assumed", g.PCI, s.topo.Nodes[at].ID)
		}
	}
	g.Node = s.topo.Nodes[at].ID
	g.CPUs = intersect(usable, local)
	if !known {
		g.CPUs = slices.Clone(s.topo.Nodes[at].CPUs)
	}
	return nil
}

// numaNode reads a node number from a file and returns its index in Nodes. It returns -1
// if the file is missing or holds -1, or if there is no such node.
func (s *scan) numaNode(name, pci string) (int, error) {
	text, ok, err := s.tree.text(name)
	if !ok || err != nil {
		return -1, err
	}
	id, err := strconv.Atoi(text)
	if err != nil || id < -1 {
		return -1, s.tree.fault(name, "%s is not a node; a number from -1 is needed", clip(text))
	}
	at := s.topo.nodeIndex(id)
	if id >= 0 && at < 0 {
		s.notef("GPU %s: sysfs names node %d, which does not exist", pci, id)
	}
	return at, nil
}

// nodeHolding returns the index of the only node with CPUs of the list, or -1.
func (s *scan) nodeHolding(cpus []int) int {
	at := -1
	for i, own := range s.nodeCPUs {
		if len(intersect(own, cpus)) == 0 {
			continue
		}
		if at >= 0 {
			return -1
		}
		at = i
	}
	return at
}

// pciPath returns the target of a PCI device's link: the host bridge, the bridges below
// it, and the device, such as pci0000:00/0000:00:02.0/0000:06:00.0. It returns "" if
// there is no such link.
func (s *scan) pciPath(dir string) string {
	target, err := fs.ReadLink(s.fsys, dir)
	if err != nil {
		return ""
	}
	steps := strings.Split(strings.ReplaceAll(target, `\`, "/"), "/")
	for i, step := range steps {
		if strings.HasPrefix(step, "pci") && strings.Contains(step, ":") {
			return strings.Join(steps[i:], "/")
		}
	}
	return ""
}
