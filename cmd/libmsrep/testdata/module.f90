! Checks what examples/solve.f90 does not use of module msrep.
module callbacks
  use, intrinsic :: iso_c_binding
  implicit none
  integer, target :: seen(10000) = 0
contains
  subroutine visit(lo, hi, arg) bind(c)
    integer(c_int64_t), value :: lo, hi
    type(c_ptr), value :: arg
    integer, pointer :: items(:)
    call c_f_pointer(arg, items, [10000])
    items(lo + 1:hi) = items(lo + 1:hi) + 1
  end subroutine
  integer(c_int) function never(iteration, residual, arg) bind(c)
    integer(c_int64_t), value :: iteration
    real(c_double), value :: residual
    type(c_ptr), value :: arg
    never = merge(1, 0, iteration >= 0 .and. residual >= 0 .and. c_associated(arg))
  end function
end module

program module_test
  use, intrinsic :: iso_c_binding
  use msrep
  use callbacks
  implicit none
  integer(msrep_handle) :: system, plan, factors
  ! 4 0 1
  ! 0 5 0
  ! 2 0 6
  integer(c_int32_t), target :: row(5) = [3, 1, 2, 1, 3], col(5) = [1, 1, 2, 3, 3]
  integer(c_int32_t), target :: row_ptr(4) = [1, 3, 4, 6], col_idx(5) = [1, 3, 2, 1, 3]
  integer(c_int64_t), target :: col_ptr(4) = [0, 2, 3, 5]
  integer(c_int32_t), target :: row_idx(5) = [0, 2, 1, 0, 2]
  real(c_double), target :: val(5) = [2, 4, 5, 1, 6], by_col(5) = [4, 2, 5, 1, 6]
  real(c_float), target :: single(5) = [4, 2, 5, 1, 6]
  real(c_double) :: b(3) = [5, 5, 8], x(3), y(3)
  real(c_float) :: x4(3) = 1, y4(3), xs4(3, 2) = 1, ys4(3, 2)
  real(c_double), target :: symmetric(5) = [4, 1, 5, 1, 6]
  real(c_double) :: dense(3, 3) = reshape([4d0, 0d0, 1d0, 0d0, 5d0, 0d0, 1d0, 0d0, 6d0], [3, 3])
  real(c_double) :: values(2), vectors(3, 2), residuals(2)
  integer(c_int64_t) :: iterations
  real(c_double), allocatable :: big(:), zero(:)
  type(msrep_matrix) :: a, grid
  type(msrep_result) :: res
  integer :: status
  character(:), allocatable :: text, folder
  character(1000) :: argument

  call msrep_open(system, threads=1)
  a = msrep_coo(3, 3, row, col, val)
  call msrep_plan(system, a, plan, flags=msrep_deterministic, expected_products=10, format="csr")
  x = 1
  call msrep_multiply(plan, x, y)
  call check(all(y == b), "coo")
  text = msrep_describe(plan)
  call check(text(1:1) == "{" .and. text(len(text):) == "}" .and. index(text, '"nnz":5') > 0, "describe")
  call msrep_close(plan)
  call check(index(msrep_info(a), '"bandwidth":2') > 0, "info")

  call msrep_plan(system, msrep_csc(3, 3, col_ptr, row_idx, single, base=0), plan)
  call msrep_multiply(plan, x4, y4, alpha=2.0)
  call msrep_multiply(plan, xs4, ys4)
  call check(all(y4 == 2 * real(b)) .and. all(ys4(:, 2) == real(b)), "csc in float32")
  call msrep_update(plan, 2 * single)
  call msrep_multiply(plan, x4, y4)
  call check(all(y4 == 2 * real(b)), "update")
  call msrep_multiply(plan, xs4, ys4(:, 1:1), status=status)
  call check(status == msrep_bad_input, "different numbers of vectors")
  call msrep_for(plan, 10000_c_int64_t, 100_c_int64_t, visit, c_loc(seen))
  call check(all(seen == 1), "for")

  call msrep_factor(system, a, factors, kind="lu", order="amd")
  call msrep_factor_solve(factors, b, x)
  call check(maxval(abs(x - 1)) < 1d-14, "factors")
  call msrep_factor_update(factors, 2 * val)
  call msrep_factor_solve(factors, b, x)
  call check(maxval(abs(x - 0.5d0)) < 1d-14, "update of factors")
  x = 0
  call msrep_solve(system, msrep_csc(3, 3, col_ptr, row_idx, by_col, base=0), b, x, tol=1d-12, result=res)
  call check(maxval(abs(x - 1)) < 1d-11 .and. res%residual < 1.1d-12 .and. len(res%method) > 0, "solve")

  a = msrep_csr(3, 3, row_ptr, col_idx, symmetric)
  call msrep_eigs(system, a, values, vectors, residuals, which="smallest", tol=1d-12)
  y = matmul(dense, vectors(:, 1))
  call check(maxval(abs(y - values(1) * vectors(:, 1))) < 1d-10 .and. all(residuals < 1d-10), "eigenvalues")
  call msrep_svds(system, a, values, u=vectors, residuals=residuals)
  call check(abs(values(1) - (5 + sqrt(2d0))) < 1d-9, "singular values")
  call msrep_pagerank(system, a, y, damping=0.5d0, iterations=iterations)
  call check(abs(sum(y) - 1) < 1d-12 .and. maxval(y) - minval(y) < 1d-9 .and. iterations > 0, "pagerank")

  call get_command_argument(1, argument)
  folder = trim(argument)
  call msrep_write(folder // "/module.mtx", a)
  call msrep_read(folder // "/module.mtx", grid)
  call check(grid%nnz == 5 .and. grid%rows == 3, "files")
  call msrep_free(grid)
  call msrep_read("gen:stencil:n=300", grid)
  allocate (big(grid%rows), zero(grid%rows), source=1d0)
  zero = 0
  call msrep_solve(system, grid, big, zero, tol=1d-14, progress=never, arg=c_loc(seen), status=status)
  call check(status == msrep_is_stopped, "stop")
  call msrep_stop(system)
  call msrep_free(grid)
  call msrep_close(system)
  call msrep_close(system, status)
  call check(status == msrep_bad_handle .and. index(msrep_error(), "closed") > 0, "a closed handle")
  print '(a)', "module.f90: the Fortran module gives the known results"

contains

  subroutine check(ok, what)
    logical, intent(in) :: ok
    character(*), intent(in) :: what
    if (.not. ok) then
      print '(3a)', what, ": wrong: ", msrep_error()
      error stop
    end if
  end subroutine
end program
