package gonumop

import (
	"gonum.org/v1/gonum/mat"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// VecOf returns v as a vector of gonum that shares its elements: a change of one changes the other. VecOf first waits for
// operations on v. gonum does not wait: call v.Wait before it reads elements that later operations write. The result is
// invalid when v is closed.
//
// A nil v, one without elements, which gonum does not support, and one in the memory of GPUs give a *sparse.InputError.
func VecOf(v *msrep.Vector[float64]) (*mat.VecDense, error) {
	switch {
	case v == nil:
		return nil, sparse.Inputf("vector", "is nil")
	case v.Len() == 0:
		return nil, sparse.Inputf("vector", "has no elements: a vector of gonum has at least one")
	}
	if err := v.Wait(); err != nil {
		return nil, err
	}
	host := v.Host()
	if host == nil {
		return nil, sparse.Inputf("vector", "is not in host memory: copy it with Read")
	}
	return mat.NewVecDense(len(host), host), nil
}
