package multigrid

// Term has the numbers of one step of a smoother: d = A*d + C * D^-1 r. A of the first step is 0.
type Term struct{ A, C float64 }

// Smoother returns the steps of the smoother of a level: FourthKind if its matrix A is symmetric, else Jacobi. rho bounds the
// absolute eigenvalues of D^-1 A.
func Smoother(degree int, rho float64, symmetric bool) []Term {
	if symmetric {
		return FourthKind(degree, rho)
	}
	return Jacobi(degree, rho)
}

// FourthKind returns the steps of a Chebyshev polynomial of the fourth kind in D^-1 A (Lottes, Numer. Linear Algebra Appl. 30
// (2023) e2518). This polynomial gives the best bound of the error after a cycle. It needs only an upper bound high of the
// eigenvalues of D^-1 A.
func FourthKind(degree int, high float64) []Term {
	var t []Term
	for i := range degree {
		k := float64(i + 1)
		t = append(t, Term{(2*k - 3) / (2*k + 1), (8*k - 4) / (2*k + 1) / high})
	}
	t[0].A = 0
	return t
}

// Jacobi returns damped Jacobi steps: each multiplies the error by I - 4/(3*high) D^-1 A. No eigenvalue of that matrix has an
// absolute value above 1 if those of D^-1 A lie in the disc of radius high/2 around high/2, as for an unsymmetric M-matrix
// with high = 2. Polynomials of higher degree may amplify errors that belong to complex eigenvalues.
func Jacobi(steps int, high float64) []Term {
	var t []Term
	for range steps {
		t = append(t, Term{0, 4 / (3 * high)})
	}
	return t
}
