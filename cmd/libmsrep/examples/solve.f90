! Solves a 1-D Laplacian system, shows its progress, then multiplies with several vectors and changes the values.
module callbacks
  use, intrinsic :: iso_c_binding
  implicit none
contains

  integer(c_int) function show(iteration, residual, arg) bind(c)
    integer(c_int64_t), value :: iteration
    real(c_double), value :: residual
    type(c_ptr), value :: arg
    if (mod(iteration, 25_c_int64_t) == 0 .and. .not. c_associated(arg)) &
      print '(a, i0, a, es8.1)', "iteration ", iteration, ", residual ", residual
    show = 0
  end function
end module

program solve
  use, intrinsic :: iso_c_binding
  use msrep
  use callbacks
  implicit none

  integer, parameter :: n = 500
  integer(msrep_handle) :: system, plan
  integer(c_int), target :: row_ptr(n + 1), col_idx(3 * n)
  real(c_double), target :: val(3 * n)
  real(c_double) :: b(n), x(n), y(n), xs(n, 2), ys(n, 2), worst
  type(msrep_matrix) :: a
  type(msrep_result) :: res
  integer :: i, j, nnz, status

  nnz = 0
  row_ptr(1) = 1 ! arrays count from 1, as is usual in Fortran
  do i = 1, n
    do j = max(i - 1, 1), min(i + 1, n)
      nnz = nnz + 1
      col_idx(nnz) = j
      val(nnz) = merge(2.1d0, -1d0, i == j)
    end do
    row_ptr(i + 1) = nnz + 1
  end do
  a = msrep_csr(n, n, row_ptr, col_idx(1:nnz), val(1:nnz))
  b = 1
  x = 0

  call msrep_open(system, devices="cpu:1")
  call msrep_plan(system, a, plan)
  call msrep_plan_solve(plan, b, x, method="gmres", precond="jacobi", tol=1d-10, progress=show, result=res)
  print '(5a, i0, a, es8.1)', "msrep ", msrep_version(), ": ", res%method, ", ", res%iterations, &
    " iterations, residual ", res%residual
  y = b
  call msrep_multiply(plan, x, y, beta=-1d0) ! A x - b
  worst = maxval(abs(y))

  xs(:, 1) = x
  xs(:, 2) = 2 * x
  call msrep_multiply(plan, xs, ys)
  worst = max(worst, maxval(abs(ys(:, 1) - b)), maxval(abs(ys(:, 2) - 2 * b)))

  call msrep_update(plan, 3 * val(1:nnz))
  call msrep_multiply(plan, x, y, alpha=1 / 3d0, transpose=.true.)
  worst = max(worst, maxval(abs(y - b)))

  call msrep_multiply(plan, x(1:3), y, status=status) ! a wrong call, whose error the program handles
  print '(2a)', "a wrong length: ", msrep_error()
  if (status /= msrep_bad_input .or. worst > 1d-7) error stop "wrong results"
  call msrep_close(system) ! closes the plan too
end program
