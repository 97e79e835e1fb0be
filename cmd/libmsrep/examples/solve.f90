! Solves a 1-D Laplacian system with GMRES, from Fortran.
program solve
  use, intrinsic :: iso_c_binding
  implicit none

  interface
    integer(c_int) function msrep_open(devices, threads, system) bind(c)
      import
      character(kind=c_char), intent(in) :: devices(*)
      integer(c_int), value :: threads
      integer(c_int64_t), intent(out) :: system
    end function
    integer(c_int) function msrep_plan_csr(system, rows, cols, nnz, row_ptr, col_idx, val, flags, plan) bind(c)
      import
      integer(c_int64_t), value :: system, rows, cols, nnz
      integer(c_int64_t), intent(in) :: row_ptr(*)
      integer(c_int32_t), intent(in) :: col_idx(*)
      real(c_double), intent(in) :: val(*)
      integer(c_int), value :: flags
      integer(c_int64_t), intent(out) :: plan
    end function
    integer(c_int) function msrep_solve(plan, method, precond, n, b, x, tol, max_iter, iterations, residual) bind(c)
      import
      integer(c_int64_t), value :: plan, n, max_iter
      integer(c_int), value :: method, precond
      real(c_double), intent(in) :: b(*)
      real(c_double), intent(inout) :: x(*)
      real(c_double), value :: tol
      integer(c_int64_t), intent(out) :: iterations
      real(c_double), intent(out) :: residual
    end function
    integer(c_int) function msrep_multiply(plan, transpose, alpha, nx, x, beta, ny, y) bind(c)
      import
      integer(c_int64_t), value :: plan, nx, ny
      integer(c_int), value :: transpose
      real(c_double), value :: alpha, beta
      real(c_double), intent(in) :: x(*)
      real(c_double), intent(inout) :: y(*)
    end function
    integer(c_int) function msrep_close(handle) bind(c)
      import
      integer(c_int64_t), value :: handle
    end function
  end interface

  integer, parameter :: n = 500
  integer(c_int), parameter :: gmres = 2, jacobi = 1
  integer(c_int64_t) :: system, plan, row_ptr(n + 1), iterations, nnz
  integer(c_int32_t) :: col_idx(3 * n)
  real(c_double) :: val(3 * n), b(n), x(n), y(n), residual
  integer :: i, j

  nnz = 0
  row_ptr(1) = 0
  do i = 1, n
    do j = max(i - 1, 1), min(i + 1, n)
      nnz = nnz + 1
      col_idx(nnz) = j - 1 ! msrep counts from 0
      val(nnz) = merge(2.1d0, -1d0, i == j)
    end do
    row_ptr(i + 1) = nnz
  end do
  b = 1
  x = 0

  call must(msrep_open("cpu:1" // c_null_char, 0, system), "open")
  call must(msrep_plan_csr(system, int(n, c_int64_t), int(n, c_int64_t), nnz, row_ptr, col_idx, val, 0, plan), "plan")
  call must(msrep_solve(plan, gmres, jacobi, int(n, c_int64_t), b, x, 1d-10, 0_c_int64_t, iterations, residual), "solve")
  y = b
  call must(msrep_multiply(plan, 0, 1d0, int(n, c_int64_t), x, -1d0, int(n, c_int64_t), y), "multiply") ! A x - b
  call must(msrep_close(plan), "close the plan")
  call must(msrep_close(system), "close the system")
  print '(a, i0, a, es8.1, a, es8.1)', "gmres: ", iterations, " iterations, residual ", residual, &
    ", largest error of a row ", maxval(abs(y))
  if (maxval(abs(y)) > 1d-7) stop 1

contains

  subroutine must(status, what)
    integer(c_int), intent(in) :: status
    character(*), intent(in) :: what
    if (status /= 0) then
      print '(a, a, i0)', what, ": status ", status
      stop 1
    end if
  end subroutine
end program
