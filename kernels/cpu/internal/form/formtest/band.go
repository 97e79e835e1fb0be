package formtest

import (
	"math/rand/v2"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
)

// BandPart is rows of 9 entries near the diagonal, with n rows.
func BandPart(n int) *kernels.Packing[float64] {
	p := &kernels.Packing[float64]{Part: partition.Part{EndMajor: n - 1, OwnEnd: n}, Ptr: []int64{0}, Minors: n, InPlace: true}
	rng := rand.New(rand.NewPCG(1, 2))
	for r := range n {
		for c := max(r-4, 0); c <= min(r+4, n-1); c++ {
			p.Idx, p.Val = append(p.Idx, int32(c)), append(p.Val, rng.Float64()-0.5)
		}
		p.Ptr = append(p.Ptr, int64(len(p.Idx)))
	}
	p.Part.EndIdx = int64(len(p.Idx)) - 1
	return p
}
