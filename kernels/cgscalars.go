package kernels

// A device that runs iterations of CG without the host keeps the scalars of CG in an Array of float64, its state. These are
// the indices of the scalars. The state has room for one or more squared residuals from CGResiduals on: iteration k writes
// its own to place k modulo their number.
const (
	CGStateAlpha   = iota // a of CGStep; 0 in a stopped solve
	CGStateBeta           // b of CGDirection; 0 in a stopped solve
	CGStateRZ             // r'z, with z as in CGStep
	CGStatePQ             // p'q of the last iteration that began
	CGStateStopped        // 1 after an iteration that reached the tolerance, left the range of float64 or broke down, else 0
	CGStateSteps          // the number of iterations that have ended
	CGResiduals
)

// CGAlpha computes a of CGStep on the device, unless the solve has stopped:
//
//	a = r'z / p'q
//
// The solve stops, and a is 0, where r'z or p'q is not both positive and finite.
type CGAlpha struct {
	PQ    Array[float64] // 1: p'q
	State Array[float64] // more than CGResiduals
}

// CGBeta ends an iteration of CG on the device, unless the solve has stopped: it stores r'r and computes b of CGDirection:
//
//	b = r'z / the previous r'z
//
// The solve stops, and b is 0, where sqrt(r'r)/Norm is at most Tol or not finite.
type CGBeta struct {
	Sums      Array[float64] // r'r, then r'z; 1 where z is r
	Norm, Tol float64        // the length of the right-hand side; the relative residual to reach
	State     Array[float64] // as in CGAlpha
}

// Name returns the name of the operation.
func (*CGAlpha) Name() string { return "cg-alpha" }

// Name returns the name of the operation.
func (*CGBeta) Name() string { return "cg-beta" }
