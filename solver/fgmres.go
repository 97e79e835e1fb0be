package solver

import "context"

// FGMRES solves A x = b by the flexible generalised minimal residual method (Saad, "A flexible inner-outer
// preconditioned GMRES algorithm", SIAM J. Sci. Comput. 14, 1993), restarted every Options.Restart iterations. It is
// GMRES with a preconditioner that may be another one in each iteration, for example a solve of its own or one in
// float32:
//
//	A Z = Q H, z_j = M_j q_j,  x = x + Z y with y that minimises |b - A x|
//
// The matrix may be any square matrix. x is the first guess, and FGMRES overwrites it with the solution. Errors are
// those of CG. Over several processes the preconditioner must not wait for other processes: it is not called in a
// process that has failed.
//
// An iteration takes one product and one preconditioned vector, and is orthogonalised as in GMRES. FGMRES stores 2*Restart+1
// vectors in addition to b and x; without a preconditioner it is GMRES and stores Restart+2. A Restart whose vectors do not
// fit in memory is a *sparse.InputError before the first product.
func FGMRES(ctx context.Context, a Operator, b, x []float64, opt Options) (*Result, error) {
	if opt.Precond == nil {
		return solve(ctx, method{name: "fgmres", iterate: linear(gmres), vectors: 3, bases: 1}, a, b, x, opt)
	}
	return solve(ctx, method{name: "fgmres", iterate: linear(fgmres), vectors: 3, bases: 2}, a, b, x, opt)
}

func fgmres(t *task) error { return (&krylov{task: t, flexible: true}).solve() }
