package model

import (
	"fmt"
	"math/bits"
)

// Workload is a matrix whose products are modelled.
type Workload struct {
	Name          string
	Rows, Entries int64
	// Local is a pattern that is counted in full. Otherwise Spec names a generated matrix that resembles the matrix and
	// has at most about the given number of entries, or is the matrix.
	Local *Local
	Spec  func(entries int64) string
}

// Workloads lists the matrices of the tables: regular ones in slices of random float64 values, and irregular ones in CSR.
func Workloads() []Workload {
	local := func(name string, l Local) Workload { return Workload{Name: name, Rows: l.Rows, Local: &l} }
	four := Stencil(27, 224)
	four.RowBytes = 1290537472.0 / 11239424 // bench/results/2026-11-26-h100: the values fit 4 bytes
	return []Workload{
		local("27-point stencil, 224 a side", Stencil(27, 224)),
		local("the same, values in 4 bytes", four),
		local("27-point stencil, 150 a side", Stencil(27, 150)),
		local("7-point stencil, 224 a side", Stencil(7, 224)),
		local("5-point stencil, 4500 a side", Stencil(5, 4500)),
		local("band of 59, 5 M rows", Band(5e6, 29)),
		random("random, 10 M rows, 150 M entries", 10e6, 150e6),
		rmat("rmat, 8 M nodes, 131 M entries", 23, 131161103),
	}
}

func random(name string, rows, entries int64) Workload {
	return Workload{Name: name, Rows: rows, Entries: entries, Spec: func(n int64) string {
		n = min(n, entries)
		return fmt.Sprintf("random:rows=%d,nnz=%d", max(n*rows/entries, 1), n)
	}}
}

func powerlaw(name string, rows, entries int64) Workload {
	return Workload{Name: name, Rows: rows, Entries: entries, Spec: func(n int64) string {
		n = min(n, entries)
		return fmt.Sprintf("powerlaw:rows=%d,nnz=%d", max(n*rows/entries, 1), n)
	}}
}

// rmatEdges is the number of edges that are drawn for a node.
const rmatEdges = 16

func rmat(name string, scale int, entries int64) Workload {
	return Workload{Name: name, Rows: 1 << scale, Entries: entries, Spec: func(n int64) string {
		// Of the edges that are drawn, up to a tenth are repeated and dropped.
		return fmt.Sprintf("rmat:scale=%d,edges=%d", min(scale, max(bits.Len64(uint64(n*11/10/rmatEdges)), 2)-1), rmatEdges)
	}}
}

// Workload returns the matrix of a measured product.
func (m Measured) Workload() Workload {
	var n, k int64
	scan := func(format string, to ...any) bool {
		got, err := fmt.Sscanf(m.Matrix, format, to...)
		return err == nil && got == len(to)
	}
	switch {
	case m.Form == "slices":
		return Workload{Name: m.Matrix, Rows: m.Rows, Entries: m.Entries}
	case scan("rmat-scale-%d-edges-16", &n):
		return rmat(m.Matrix, int(n), m.Entries)
	case scan("random-rows-%dM-nnz-%dM", &n, &k):
		return random(m.Matrix, m.Rows, m.Entries)
	}
	return powerlaw(m.Matrix, m.Rows, m.Entries)
}

// Predict returns the modelled time of a measured product. counted is the structure of its Workload on one GPU; slices
// need none.
func (n *Node) Predict(m Measured, counted Structure) float64 {
	if m.Form == "slices" {
		return n.Product(PartCount{Rows: m.Rows, Bytes: float64(m.Bytes), Streams: true}, 0)
	}
	c := counted.Resized(m.Rows, m.Entries).Parts[0]
	c.Bytes = float64(m.Bytes)
	return n.Product(c, 0)
}

// Within counts the held-out runs of a version of the authors' program whose phase is modelled within a relative error.
func (p *Platform) Within(points []Point, version, phase string, limit float64) (within, all int) {
	for _, pt := range points {
		if pt.Kind != version || !pt.held() || phase == "partition" && !pt.splitKnown() {
			continue
		}
		all++
		if e := p.phase(pt, phase)/pt.phase(phase) - 1; e >= -limit && e <= limit {
			within++
		}
	}
	return within, all
}
