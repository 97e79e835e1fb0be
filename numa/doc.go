// Package numa reads the topology of a machine from sysfs: its NUMA nodes with
// their CPUs, memory and distances, and its GPUs with the node and the PCI path
// that each hangs on. From these it tells which link joins two GPUs and which
// share of a matrix each device takes. It also puts threads and memory where they
// belong, and asks the kernel where they are.
//
// Discover reads from any root folder, so that the copied /sys tree of another
// machine can be looked at. It needs no privileges, and works in a container
// without /sys: there it gives one node with all CPUs and says so in
// Topology.Notes.
//
// Pin, Prefer, Bind, Interleave and Pages are thin: one system call each, on Linux. What the kernel or
// a container refuses is an error that wraps ErrRefused and changes nothing;
// elsewhere they always give it. Who calls them decides whether to go on.
//
// Words used here:
//
//	node        a NUMA node: CPUs, memory, or both, at one distance from all others
//	CPU         a hardware thread, by its Linux number
//	core        the CPUs that share one physical core
//	core group  the usable CPUs of one node: what one CPU device runs on
//
// NVLink cannot be seen in sysfs. Link names the PCI path only, also for GPUs
// that NVLink joins.
package numa
