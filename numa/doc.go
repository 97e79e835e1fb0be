// Package numa reads the topology of a machine from sysfs: its NUMA nodes with their
// CPUs, memory and distances, and its GPUs with their nodes and PCI paths. From these it
// finds the link between two GPUs and each device's fraction of a matrix. It also binds
// threads and memory to nodes, and asks the kernel which nodes they are on.
//
// Discover reads from any root folder, so it can inspect a copy of another machine's /sys
// tree. It needs no privileges. In a container without /sys it returns one node with all
// CPUs and states this in Topology.Notes.
//
// Pin, Prefer, Bind, Interleave and Pages make one system call each, on Linux. If the
// kernel or a container refuses the call, the error wraps ErrRefused and nothing has
// changed. On other systems they always return such an error. The caller decides whether
// to continue.
//
// Words used here:
//
//	node        a NUMA node: CPUs, memory, or both; the kernel gives its distance to each other node
//	CPU         a hardware thread, by its Linux number
//	core        the CPUs that share one physical core
//	core group  the usable CPUs of one node, on which one CPU device runs
//
// sysfs does not show NVLink. Link returns the name of the PCI path even for GPUs that
// NVLink joins.
package numa
