// Package multigrid has multigrid cycles and their smoothers, for vectors of any kind: in host memory, on devices, or in
// pieces over processes. Level is the interface of the operations on them. It also has the rules by which solver/amg and
// cluster build levels. Package solver/amg describes the hierarchy.
package multigrid
