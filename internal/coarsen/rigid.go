package coarsen

import "github.com/msrep-go/msrep/sparse"

// RigidBodyModes returns the rigid body modes of elasticity, which are its near null space: the dims translations, and one
// rotation in 2 dimensions or three in 3. Point i has the coordinates x[dims*i] to x[dims*i+dims-1] and the displacements
// with the same indices. Rotations are about the mean of the points.
//
// An *sparse.InputError reports dims other than 2 and 3, and a length of x that dims does not divide.
func RigidBodyModes(x []float64, dims int) ([][]float64, error) {
	if dims != 2 && dims != 3 {
		return nil, sparse.Inputf("dims", "%d: rigid body modes need 2 or 3 dimensions", dims)
	}
	if len(x)%dims != 0 {
		return nil, sparse.Inputf("coordinates", "%d numbers: %d dimensions do not divide them", len(x), dims)
	}
	var centre [3]float64
	for i, v := range x {
		centre[i%dims] += v / float64(len(x)/dims)
	}
	modes := constants(len(x), dims)
	for a := range dims {
		for b := a + 1; b < dims; b++ {
			mode := make([]float64, len(x))
			for i := 0; i < len(x); i += dims {
				mode[i+a] = centre[b] - x[i+b]
				mode[i+b] = x[i+a] - centre[a]
			}
			modes = append(modes, mode)
		}
	}
	return modes, nil
}
