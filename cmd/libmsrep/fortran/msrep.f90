! Module msrep: the C library msrep for Fortran. msrep.h has the meaning of all arguments.
!
! Every subroutine has an optional last argument status, an integer that is MSREP_OK (0) after success. Without it an
! error prints one line and ends the program with error stop. msrep_error() returns the line.
!
! Arrays of a matrix must have the attribute target and stay as they are during the calls that use the matrix. Vectors
! must be contiguous.
module msrep
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private

  integer, parameter, public :: msrep_ok = 0, msrep_bad_input = 1, msrep_bad_handle = 2, msrep_device_error = 3, &
    msrep_not_converged = 4, msrep_failed = 5, msrep_is_stopped = 6, msrep_forked = 7
  integer, parameter, public :: msrep_deterministic = 1, msrep_borrow = 2
  integer, parameter, public :: msrep_handle = c_int64_t ! the kind of systems, plans and factors

  ! A matrix in arrays of the caller, made by msrep_csr, msrep_csc, msrep_coo or msrep_read.
  type, bind(c), public :: msrep_matrix
    integer(c_size_t) :: size = 80
    integer(c_int64_t) :: rows = 0, cols = 0, nnz = 0
    integer(c_int) :: layout = 0, pointer_bits = 0, index_bits = 0, value_bits = 0, base = 0
    type(c_ptr) :: pointers = c_null_ptr, indices = c_null_ptr, values = c_null_ptr
  end type

  ! What a solve has done.
  type, public :: msrep_result
    integer(c_int64_t) :: iterations = 0
    real(c_double) :: residual = 0, seconds = 0
    character(:), allocatable :: method, precond, order
    logical :: least_squares = .false. ! no x satisfies all equations, and x minimises |b - A x|
  end type

  abstract interface
    ! Called by a solve; another result than 0 stops it. arg is the argument of the same name of the solve.
    integer(c_int) function msrep_progress(iteration, residual, arg) bind(c)
      import
      integer(c_int64_t), value :: iteration
      real(c_double), value :: residual
      type(c_ptr), value :: arg
    end function
    ! Called by msrep_for for the items lo+1 to hi of an array that begins with 1.
    subroutine msrep_range(lo, hi, arg) bind(c)
      import
      integer(c_int64_t), value :: lo, hi
      type(c_ptr), value :: arg
    end subroutine
  end interface

  public :: msrep_progress, msrep_range, msrep_version, msrep_error, msrep_open, msrep_csr, msrep_csc, msrep_coo, &
    msrep_plan, msrep_update, msrep_multiply, msrep_describe, msrep_solve, msrep_plan_solve, msrep_stop, msrep_factor, &
    msrep_factor_solve, msrep_factor_update, msrep_eigs, msrep_svds, msrep_pagerank, msrep_for, &
    msrep_read, msrep_write, msrep_free, msrep_info, msrep_close

  ! msrep_csr(rows, cols, row_ptr, col_idx, val, base) returns a matrix of compressed rows. Pointers and indices are
  ! integers of 32 or 64 bits that count from base, which is 1 if it is absent; val has 32 or 64 bits. msrep_csc is the
  ! same for compressed columns, and msrep_coo takes the row and the column of each entry.
  interface msrep_csr
    procedure csr_i4_r4, csr_i8_r4, csr_i4_r8, csr_i8_r8
  end interface
  interface msrep_csc
    procedure csc_i4_r4, csc_i8_r4, csc_i4_r8, csc_i8_r8
  end interface
  interface msrep_coo
    procedure coo_r4, coo_r8
  end interface

  ! msrep_multiply(plan, x, y, alpha, beta, transpose): y = alpha*op(A)*x + beta*y for vectors, or for matrices whose
  ! columns are the vectors. alpha is 1, beta 0 and transpose .false. if they are absent.
  interface msrep_multiply
    procedure multiply_r4, multiply_r8, multiply_many_r4, multiply_many_r8
  end interface
  interface msrep_update
    procedure update_r4, update_r8
  end interface

  type, bind(c) :: open_options
    integer(c_size_t) :: size = 24
    type(c_ptr) :: devices = c_null_ptr
    integer(c_int) :: threads = 0, flags = 0
  end type
  type, bind(c) :: plan_options
    integer(c_size_t) :: size = 48
    integer(c_int) :: flags = 0
    integer(c_int64_t) :: expected_products = 0, expected_transposed = 0
    type(c_ptr) :: format = c_null_ptr, form = c_null_ptr
  end type
  type, bind(c) :: solve_options
    integer(c_size_t) :: size = 96
    type(c_ptr) :: method = c_null_ptr, precond = c_null_ptr, order = c_null_ptr
    real(c_double) :: tol = 0
    integer(c_int64_t) :: max_iter = 0, restart = 0
    real(c_double) :: seconds = 0
    integer(c_int64_t) :: max_bytes = 0
    integer(c_int) :: flags = 0
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: arg = c_null_ptr
  end type
  type, bind(c) :: solve_result
    integer(c_size_t) :: size = 136
    integer(c_int64_t) :: iterations = 0
    real(c_double) :: residual = 0, seconds = 0
    character(kind=c_char) :: method(32) = c_null_char, precond(32) = c_null_char, order(32) = c_null_char
    integer(c_int) :: least_squares = 0
  end type

  type, bind(c) :: eigs_options
    integer(c_size_t) :: size = 96
    type(c_ptr) :: which = c_null_ptr
    real(c_double) :: sigma = 0, tol = 0
    integer(c_int64_t) :: max_iter = 0, basis = 0
    type(c_ptr) :: start = c_null_ptr
    integer(c_int64_t) :: seed = 0
    type(c_ptr) :: method = c_null_ptr
    integer(c_int) :: flags = 0
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: arg = c_null_ptr
  end type
  type, bind(c) :: eigs_result
    integer(c_size_t) :: size = 48
    integer(c_int64_t) :: count = 0, iterations = 0, products = 0
    real(c_double) :: norm = 0, seconds = 0
  end type
  type, bind(c) :: pagerank_options
    integer(c_size_t) :: size = 80
    real(c_double) :: damping = 0, tol = 0
    integer(c_int64_t) :: max_iter = 0
    type(c_ptr) :: teleport = c_null_ptr, start = c_null_ptr, dangling = c_null_ptr
    integer(c_int) :: weighted = 0, flags = 0
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: arg = c_null_ptr
  end type
  type, bind(c) :: pagerank_result
    integer(c_size_t) :: size = 40
    integer(c_int64_t) :: iterations = 0
    real(c_double) :: residual = 0
    integer(c_int64_t) :: dangling = 0
    real(c_double) :: seconds = 0
  end type

  interface
    function c_version() bind(c, name="msrep_version")
      import
      type(c_ptr) :: c_version
    end function
    function c_last_error() bind(c, name="msrep_last_error")
      import
      type(c_ptr) :: c_last_error
    end function
    integer(c_int) function c_open(options, system) bind(c, name="msrep_open_with")
      import
      type(open_options), intent(in) :: options
      integer(c_int64_t), intent(out) :: system
    end function
    integer(c_int) function c_plan(system, matrix, options, plan) bind(c, name="msrep_plan_matrix")
      import
      integer(c_int64_t), value :: system
      type(msrep_matrix), intent(in) :: matrix
      type(plan_options), intent(in) :: options
      integer(c_int64_t), intent(out) :: plan
    end function
    integer(c_int) function c_update(plan, nnz, val) bind(c, name="msrep_update")
      import
      integer(c_int64_t), value :: plan, nnz
      real(c_double), intent(in) :: val(*)
    end function
    integer(c_int) function c_update_single(plan, nnz, val) bind(c, name="msrep_update_single")
      import
      integer(c_int64_t), value :: plan, nnz
      real(c_float), intent(in) :: val(*)
    end function
    integer(c_int) function c_multiply(plan, transpose, alpha, nx, x, beta, ny, y) bind(c, name="msrep_multiply")
      import
      integer(c_int64_t), value :: plan, nx, ny
      integer(c_int), value :: transpose
      real(c_double), value :: alpha, beta
      real(c_double), intent(in) :: x(*)
      real(c_double), intent(inout) :: y(*)
    end function
    integer(c_int) function c_multiply_single(plan, transpose, alpha, nx, x, beta, ny, y) &
      bind(c, name="msrep_multiply_single")
      import
      integer(c_int64_t), value :: plan, nx, ny
      integer(c_int), value :: transpose
      real(c_float), value :: alpha, beta
      real(c_float), intent(in) :: x(*)
      real(c_float), intent(inout) :: y(*)
    end function
    integer(c_int) function c_multiply_many(plan, transpose, count, alpha, nx, x, x_stride, beta, ny, y, y_stride, &
      by_column) bind(c, name="msrep_multiply_many")
      import
      integer(c_int64_t), value :: plan, count, nx, x_stride, ny, y_stride
      integer(c_int), value :: transpose, by_column
      real(c_double), value :: alpha, beta
      real(c_double), intent(in) :: x(*)
      real(c_double), intent(inout) :: y(*)
    end function
    integer(c_int) function c_multiply_many_single(plan, transpose, count, alpha, nx, x, x_stride, beta, ny, y, &
      y_stride, by_column) bind(c, name="msrep_multiply_many_single")
      import
      integer(c_int64_t), value :: plan, count, nx, x_stride, ny, y_stride
      integer(c_int), value :: transpose, by_column
      real(c_float), value :: alpha, beta
      real(c_float), intent(in) :: x(*)
      real(c_float), intent(inout) :: y(*)
    end function
    integer(c_int) function c_describe(plan, text, capacity, length) bind(c, name="msrep_describe")
      import
      integer(c_int64_t), value :: plan
      type(c_ptr), value :: text
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(out) :: length
    end function
    integer(c_int) function c_info(matrix, text, capacity, length) bind(c, name="msrep_info")
      import
      type(msrep_matrix), intent(in) :: matrix
      type(c_ptr), value :: text
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(out) :: length
    end function
    integer(c_int) function c_solve(system, matrix, m, b, n, x, options, res) bind(c, name="msrep_solve_with")
      import
      integer(c_int64_t), value :: system, m, n
      type(msrep_matrix), intent(in) :: matrix
      real(c_double), intent(in) :: b(*)
      real(c_double), intent(inout) :: x(*)
      type(solve_options), intent(in) :: options
      type(solve_result), intent(inout) :: res
    end function
    integer(c_int) function c_plan_solve(plan, m, b, n, x, options, res) bind(c, name="msrep_plan_solve")
      import
      integer(c_int64_t), value :: plan, m, n
      real(c_double), intent(in) :: b(*)
      real(c_double), intent(inout) :: x(*)
      type(solve_options), intent(in) :: options
      type(solve_result), intent(inout) :: res
    end function
    integer(c_int) function c_stop(handle) bind(c, name="msrep_stop")
      import
      integer(c_int64_t), value :: handle
    end function
    integer(c_int) function c_factor(system, matrix, kind, order, factors) bind(c, name="msrep_factor")
      import
      integer(c_int64_t), value :: system
      type(msrep_matrix), intent(in) :: matrix
      type(c_ptr), value :: kind, order
      integer(c_int64_t), intent(out) :: factors
    end function
    integer(c_int) function c_factor_solve(factors, n, b, x) bind(c, name="msrep_factor_solve")
      import
      integer(c_int64_t), value :: factors, n
      real(c_double), intent(in) :: b(*)
      real(c_double), intent(inout) :: x(*)
    end function
    integer(c_int) function c_factor_update(factors, nnz, val) bind(c, name="msrep_factor_update")
      import
      integer(c_int64_t), value :: factors, nnz
      real(c_double), intent(in) :: val(*)
    end function
    integer(c_int) function c_eigs(system, matrix, k, options, values, vectors, residuals, res) bind(c, name="msrep_eigs")
      import
      integer(c_int64_t), value :: system, k
      type(msrep_matrix), intent(in) :: matrix
      type(eigs_options), intent(in) :: options
      real(c_double), intent(inout) :: values(*)
      type(c_ptr), value :: vectors, residuals
      type(eigs_result), intent(inout) :: res
    end function
    integer(c_int) function c_svds(system, matrix, k, options, values, u, v, residuals, res) bind(c, name="msrep_svds")
      import
      integer(c_int64_t), value :: system, k
      type(msrep_matrix), intent(in) :: matrix
      type(eigs_options), intent(in) :: options
      real(c_double), intent(inout) :: values(*)
      type(c_ptr), value :: u, v, residuals
      type(eigs_result), intent(inout) :: res
    end function
    integer(c_int) function c_pagerank(system, matrix, n, ranks, options, res) bind(c, name="msrep_pagerank")
      import
      integer(c_int64_t), value :: system, n
      type(msrep_matrix), intent(in) :: matrix
      real(c_double), intent(inout) :: ranks(*)
      type(pagerank_options), intent(in) :: options
      type(pagerank_result), intent(inout) :: res
    end function
    integer(c_int) function c_for(plan, n, grain, f, arg) bind(c, name="msrep_for")
      import
      integer(c_int64_t), value :: plan, n, grain
      type(c_funptr), value :: f
      type(c_ptr), value :: arg
    end function
    integer(c_int) function c_read(path, matrix) bind(c, name="msrep_read")
      import
      character(kind=c_char), intent(in) :: path(*)
      type(msrep_matrix), intent(inout) :: matrix
    end function
    integer(c_int) function c_write(path, matrix) bind(c, name="msrep_write")
      import
      character(kind=c_char), intent(in) :: path(*)
      type(msrep_matrix), intent(in) :: matrix
    end function
    integer(c_int) function c_free(matrix) bind(c, name="msrep_matrix_free")
      import
      type(msrep_matrix), intent(inout) :: matrix
    end function
    integer(c_int) function c_close(handle) bind(c, name="msrep_close")
      import
      integer(c_int64_t), value :: handle
    end function
    integer(c_size_t) function c_strlen(s) bind(c, name="strlen")
      import
      type(c_ptr), value :: s
    end function
  end interface

contains

  ! The version of the library.
  function msrep_version() result(text)
    character(:), allocatable :: text
    text = string_at(c_version())
  end function

  ! The error message of the last call in this thread that failed.
  function msrep_error() result(text)
    character(:), allocatable :: text
    text = string_at(c_last_error())
  end function

  subroutine msrep_open(system, devices, threads, flags, status)
    integer(msrep_handle), intent(out) :: system
    character(*), intent(in), optional :: devices
    integer, intent(in), optional :: threads, flags
    integer, intent(out), optional :: status
    type(open_options) :: o
    character(kind=c_char, len=:), allocatable, target :: name
    if (present(devices)) then
      name = devices // c_null_char
      o%devices = c_loc(name)
    end if
    if (present(threads)) o%threads = int(threads, c_int)
    if (present(flags)) o%flags = int(flags, c_int)
    call report(c_open(o, system), "msrep_open", status)
  end subroutine

  subroutine msrep_plan(system, matrix, plan, flags, expected_products, expected_transposed, format, form, status)
    integer(msrep_handle), intent(in) :: system
    type(msrep_matrix), intent(in) :: matrix
    integer(msrep_handle), intent(out) :: plan
    integer, intent(in), optional :: flags, expected_products, expected_transposed
    character(*), intent(in), optional :: format, form
    integer, intent(out), optional :: status
    type(plan_options) :: o
    character(kind=c_char, len=:), allocatable, target :: format_name, form_name
    if (present(flags)) o%flags = int(flags, c_int)
    if (present(expected_products)) o%expected_products = expected_products
    if (present(expected_transposed)) o%expected_transposed = expected_transposed
    if (present(format)) then
      format_name = format // c_null_char
      o%format = c_loc(format_name)
    end if
    if (present(form)) then
      form_name = form // c_null_char
      o%form = c_loc(form_name)
    end if
    call report(c_plan(system, matrix, o, plan), "msrep_plan", status)
  end subroutine

  subroutine update_r4(plan, val, status)
    integer(msrep_handle), intent(in) :: plan
    real(c_float), intent(in), contiguous :: val(:)
    integer, intent(out), optional :: status
    call report(c_update_single(plan, size(val, kind=c_int64_t), val), "msrep_update", status)
  end subroutine

  subroutine update_r8(plan, val, status)
    integer(msrep_handle), intent(in) :: plan
    real(c_double), intent(in), contiguous :: val(:)
    integer, intent(out), optional :: status
    call report(c_update(plan, size(val, kind=c_int64_t), val), "msrep_update", status)
  end subroutine

  subroutine multiply_r4(plan, x, y, alpha, beta, transpose, status)
    integer(msrep_handle), intent(in) :: plan
    real(c_float), intent(in), contiguous :: x(:)
    real(c_float), intent(inout), contiguous :: y(:)
    real(c_float), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: transpose
    integer, intent(out), optional :: status
    call report(c_multiply_single(plan, flag(transpose), or_r4(alpha, 1.0), size(x, kind=c_int64_t), x, &
      or_r4(beta, 0.0), size(y, kind=c_int64_t), y), "msrep_multiply", status)
  end subroutine

  subroutine multiply_r8(plan, x, y, alpha, beta, transpose, status)
    integer(msrep_handle), intent(in) :: plan
    real(c_double), intent(in), contiguous :: x(:)
    real(c_double), intent(inout), contiguous :: y(:)
    real(c_double), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: transpose
    integer, intent(out), optional :: status
    call report(c_multiply(plan, flag(transpose), or_r8(alpha, 1d0), size(x, kind=c_int64_t), x, or_r8(beta, 0d0), &
      size(y, kind=c_int64_t), y), "msrep_multiply", status)
  end subroutine

  subroutine multiply_many_r4(plan, x, y, alpha, beta, transpose, status)
    integer(msrep_handle), intent(in) :: plan
    real(c_float), intent(in), contiguous :: x(:, :)
    real(c_float), intent(inout), contiguous :: y(:, :)
    real(c_float), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: transpose
    integer, intent(out), optional :: status
    integer(c_int64_t) :: nx, ny
    nx = size(x, 1)
    ny = size(y, 1)
    call report(c_multiply_many_single(plan, flag(transpose), columns(size(x, 2), size(y, 2)), or_r4(alpha, 1.0), nx, &
      x, nx, or_r4(beta, 0.0), ny, y, ny, 1_c_int), "msrep_multiply", status)
  end subroutine

  subroutine multiply_many_r8(plan, x, y, alpha, beta, transpose, status)
    integer(msrep_handle), intent(in) :: plan
    real(c_double), intent(in), contiguous :: x(:, :)
    real(c_double), intent(inout), contiguous :: y(:, :)
    real(c_double), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: transpose
    integer, intent(out), optional :: status
    integer(c_int64_t) :: nx, ny
    nx = size(x, 1)
    ny = size(y, 1)
    call report(c_multiply_many(plan, flag(transpose), columns(size(x, 2), size(y, 2)), or_r8(alpha, 1d0), nx, x, nx, &
      or_r8(beta, 0d0), ny, y, ny, 1_c_int), "msrep_multiply", status)
  end subroutine

  ! The description of a plan, as JSON.
  function msrep_describe(plan) result(text)
    integer(msrep_handle), intent(in) :: plan
    character(:), allocatable :: text
    character(kind=c_char, len=:), allocatable, target :: buffer
    integer(c_size_t) :: length, room
    call report(c_describe(plan, c_null_ptr, 0_c_size_t, length), "msrep_describe")
    room = length + 4096 ! the plan may change meanwhile
    allocate (character(kind=c_char, len=room) :: buffer)
    call report(c_describe(plan, c_loc(buffer), room, length), "msrep_describe")
    text = buffer(1:length - 1)
  end function

  ! Figures of a matrix, as JSON.
  function msrep_info(matrix) result(text)
    type(msrep_matrix), intent(in) :: matrix
    character(:), allocatable :: text
    character(kind=c_char, len=:), allocatable, target :: buffer
    integer(c_size_t) :: length, room
    call report(c_info(matrix, c_null_ptr, 0_c_size_t, room), "msrep_info")
    allocate (character(kind=c_char, len=room) :: buffer)
    call report(c_info(matrix, c_loc(buffer), room, length), "msrep_info")
    text = buffer(1:length - 1)
  end function

  ! Solves A x = b by the method that the library chooses, or that the arguments name.
  subroutine msrep_solve(system, matrix, b, x, method, precond, order, tol, max_iter, restart, seconds, flags, &
    progress, arg, result, status)
    integer(msrep_handle), intent(in) :: system
    type(msrep_matrix), intent(in) :: matrix
    real(c_double), intent(in), contiguous :: b(:)
    real(c_double), intent(inout), contiguous :: x(:)
    character(*), intent(in), optional :: method, precond, order
    real(c_double), intent(in), optional :: tol, seconds
    integer, intent(in), optional :: max_iter, restart, flags
    procedure(msrep_progress), optional :: progress
    type(c_ptr), intent(in), optional :: arg
    type(msrep_result), intent(out), optional :: result
    integer, intent(out), optional :: status
    character(kind=c_char, len=:), allocatable, target :: names
    type(solve_options) :: o
    type(solve_result) :: r
    integer :: s
    call fill_options(o, names, method, precond, order, tol, max_iter, restart, seconds, flags, progress, arg)
    s = c_solve(system, matrix, size(b, kind=c_int64_t), b, size(x, kind=c_int64_t), x, o, r)
    call fill_result(r, result)
    call report(s, "msrep_solve", status)
  end subroutine

  ! Solves A x = b by one iterative method with the products of a plan.
  subroutine msrep_plan_solve(plan, b, x, method, precond, order, tol, max_iter, restart, seconds, flags, progress, &
    arg, result, status)
    integer(msrep_handle), intent(in) :: plan
    real(c_double), intent(in), contiguous :: b(:)
    real(c_double), intent(inout), contiguous :: x(:)
    character(*), intent(in), optional :: method, precond, order
    real(c_double), intent(in), optional :: tol, seconds
    integer, intent(in), optional :: max_iter, restart, flags
    procedure(msrep_progress), optional :: progress
    type(c_ptr), intent(in), optional :: arg
    type(msrep_result), intent(out), optional :: result
    integer, intent(out), optional :: status
    character(kind=c_char, len=:), allocatable, target :: names
    type(solve_options) :: o
    type(solve_result) :: r
    integer :: s
    call fill_options(o, names, method, precond, order, tol, max_iter, restart, seconds, flags, progress, arg)
    s = c_plan_solve(plan, size(b, kind=c_int64_t), b, size(x, kind=c_int64_t), x, o, r)
    call fill_result(r, result)
    call report(s, "msrep_plan_solve", status)
  end subroutine

  subroutine msrep_stop(handle, status)
    integer(msrep_handle), intent(in) :: handle
    integer, intent(out), optional :: status
    call report(c_stop(handle), "msrep_stop", status)
  end subroutine

  subroutine msrep_factor(system, matrix, factors, kind, order, status)
    integer(msrep_handle), intent(in) :: system
    type(msrep_matrix), intent(in) :: matrix
    integer(msrep_handle), intent(out) :: factors
    character(*), intent(in), optional :: kind, order
    integer, intent(out), optional :: status
    character(kind=c_char, len=:), allocatable, target :: kind_name, order_name
    kind_name = or_text(kind, "lu")
    order_name = or_text(order, "auto")
    call report(c_factor(system, matrix, c_loc(kind_name), c_loc(order_name), factors), "msrep_factor", status)
  end subroutine

  subroutine msrep_factor_solve(factors, b, x, status)
    integer(msrep_handle), intent(in) :: factors
    real(c_double), intent(in), contiguous :: b(:)
    real(c_double), intent(inout), contiguous :: x(:)
    integer, intent(out), optional :: status
    if (size(x) /= size(b)) error stop "msrep_factor_solve: b and x have different sizes"
    call report(c_factor_solve(factors, size(b, kind=c_int64_t), b, x), "msrep_factor_solve", status)
  end subroutine

  subroutine msrep_factor_update(factors, val, status)
    integer(msrep_handle), intent(in) :: factors
    real(c_double), intent(in), contiguous :: val(:)
    integer, intent(out), optional :: status
    call report(c_factor_update(factors, size(val, kind=c_int64_t), val), "msrep_factor_update", status)
  end subroutine

  ! Finds size(values) eigenvalues of a symmetric matrix. Column j of vectors gets the eigenvector of values(j).
  subroutine msrep_eigs(system, matrix, values, vectors, residuals, which, sigma, tol, max_iter, basis, seed, method, &
    flags, progress, arg, status)
    integer(msrep_handle), intent(in) :: system
    type(msrep_matrix), intent(in) :: matrix
    real(c_double), intent(inout), contiguous :: values(:)
    real(c_double), intent(inout), contiguous, target, optional :: vectors(:, :), residuals(:)
    character(*), intent(in), optional :: which, method
    real(c_double), intent(in), optional :: sigma, tol
    integer, intent(in), optional :: max_iter, basis, seed, flags
    procedure(msrep_progress), optional :: progress
    type(c_ptr), intent(in), optional :: arg
    integer, intent(out), optional :: status
    character(kind=c_char, len=:), allocatable, target :: names
    type(eigs_options) :: o
    type(eigs_result) :: r
    call fill_eigs(o, names, which, tol, max_iter, basis, seed, method, flags, progress, arg)
    if (present(sigma)) o%sigma = sigma
    call report(c_eigs(system, matrix, size(values, kind=c_int64_t), o, values, &
      columns_at(vectors, matrix%rows, size(values)), array_at(residuals, size(values)), r), "msrep_eigs", status)
  end subroutine

  ! Finds size(values) singular values of a matrix. Column j of u and v get the singular vectors of values(j).
  subroutine msrep_svds(system, matrix, values, u, v, residuals, which, tol, max_iter, basis, seed, flags, progress, &
    arg, status)
    integer(msrep_handle), intent(in) :: system
    type(msrep_matrix), intent(in) :: matrix
    real(c_double), intent(inout), contiguous :: values(:)
    real(c_double), intent(inout), contiguous, target, optional :: u(:, :), v(:, :), residuals(:)
    character(*), intent(in), optional :: which
    real(c_double), intent(in), optional :: tol
    integer, intent(in), optional :: max_iter, basis, seed, flags
    procedure(msrep_progress), optional :: progress
    type(c_ptr), intent(in), optional :: arg
    integer, intent(out), optional :: status
    character(kind=c_char, len=:), allocatable, target :: names
    type(eigs_options) :: o
    type(eigs_result) :: r
    call fill_eigs(o, names, which, tol, max_iter, basis, seed, flags=flags, progress=progress, arg=arg)
    call report(c_svds(system, matrix, size(values, kind=c_int64_t), o, values, &
      columns_at(u, matrix%rows, size(values)), columns_at(v, matrix%cols, size(values)), &
      array_at(residuals, size(values)), r), "msrep_svds", status)
  end subroutine

  ! Ranks the nodes of a directed graph, in which entry (i, j) is a link from node i to node j.
  subroutine msrep_pagerank(system, matrix, ranks, damping, tol, max_iter, teleport, start, dangling, weighted, &
    progress, arg, iterations, status)
    integer(msrep_handle), intent(in) :: system
    type(msrep_matrix), intent(in) :: matrix
    real(c_double), intent(inout), contiguous :: ranks(:)
    real(c_double), intent(in), optional :: damping, tol
    integer, intent(in), optional :: max_iter
    real(c_double), intent(in), contiguous, target, optional :: teleport(:), start(:)
    character(*), intent(in), optional :: dangling
    logical, intent(in), optional :: weighted
    procedure(msrep_progress), optional :: progress
    type(c_ptr), intent(in), optional :: arg
    integer(c_int64_t), intent(out), optional :: iterations
    integer, intent(out), optional :: status
    character(kind=c_char, len=:), allocatable, target :: name
    type(pagerank_options) :: o
    type(pagerank_result) :: r
    integer :: s
    if (present(damping)) o%damping = damping
    if (present(tol)) o%tol = tol
    if (present(max_iter)) o%max_iter = max_iter
    o%teleport = array_at(teleport, size(ranks))
    o%start = array_at(start, size(ranks))
    if (present(dangling)) then
      name = dangling // c_null_char
      o%dangling = c_loc(name)
    end if
    o%weighted = flag(weighted)
    if (present(progress)) o%progress = c_funloc(progress)
    if (present(arg)) o%arg = arg
    s = c_pagerank(system, matrix, size(ranks, kind=c_int64_t), ranks, o, r)
    if (present(iterations)) iterations = r%iterations
    call report(s, "msrep_pagerank", status)
  end subroutine

  ! Calls f for all of n items on the workers of the plan's device.
  subroutine msrep_for(plan, n, grain, f, arg, status)
    integer(msrep_handle), intent(in) :: plan
    integer(c_int64_t), intent(in) :: n, grain
    procedure(msrep_range) :: f
    type(c_ptr), intent(in) :: arg
    integer, intent(out), optional :: status
    call report(c_for(plan, n, grain, c_funloc(f), arg), "msrep_for", status)
  end subroutine

  ! Reads a matrix from a file; msrep_free frees its arrays.
  subroutine msrep_read(path, matrix, status)
    character(*), intent(in) :: path
    type(msrep_matrix), intent(out) :: matrix
    integer, intent(out), optional :: status
    call report(c_read(path // c_null_char, matrix), "msrep_read", status)
  end subroutine

  subroutine msrep_write(path, matrix, status)
    character(*), intent(in) :: path
    type(msrep_matrix), intent(in) :: matrix
    integer, intent(out), optional :: status
    call report(c_write(path // c_null_char, matrix), "msrep_write", status)
  end subroutine

  subroutine msrep_free(matrix, status)
    type(msrep_matrix), intent(inout) :: matrix
    integer, intent(out), optional :: status
    call report(c_free(matrix), "msrep_free", status)
  end subroutine

  ! Releases a system with all that was made on it, or a plan, or factors.
  subroutine msrep_close(handle, status)
    integer(msrep_handle), intent(in) :: handle
    integer, intent(out), optional :: status
    call report(c_close(handle), "msrep_close", status)
  end subroutine

  function matrix_of(layout, rows, cols, nnz, bits, value_bits, pointers, indices, values, base) result(a)
    integer, intent(in) :: layout, rows, cols, bits, value_bits
    integer(c_int64_t), intent(in) :: nnz
    type(c_ptr), intent(in) :: pointers, indices, values
    integer, intent(in), optional :: base
    type(msrep_matrix) :: a
    a%layout = int(layout, c_int)
    a%rows = rows
    a%cols = cols
    a%nnz = nnz
    a%pointer_bits = int(bits, c_int)
    a%index_bits = 32
    a%value_bits = int(value_bits, c_int)
    a%base = 1
    if (present(base)) a%base = int(base, c_int)
    a%pointers = pointers
    a%indices = indices
    a%values = values
  end function

  function csr_i4_r4(rows, cols, row_ptr, col_idx, val, base) result(a)
    integer, intent(in) :: rows, cols
    integer(c_int32_t), intent(in), contiguous, target :: row_ptr(:)
    integer(c_int32_t), intent(in), contiguous, target :: col_idx(:)
    real(c_float), intent(in), contiguous, target :: val(:)
    integer, intent(in), optional :: base
    type(msrep_matrix) :: a
    a = matrix_of(0, rows, cols, entries(size(col_idx), size(val), size(row_ptr), rows), 32, 32, &
      c_loc(row_ptr), c_loc(col_idx), c_loc(val), base)
  end function

  function csr_i4_r8(rows, cols, row_ptr, col_idx, val, base) result(a)
    integer, intent(in) :: rows, cols
    integer(c_int32_t), intent(in), contiguous, target :: row_ptr(:)
    integer(c_int32_t), intent(in), contiguous, target :: col_idx(:)
    real(c_double), intent(in), contiguous, target :: val(:)
    integer, intent(in), optional :: base
    type(msrep_matrix) :: a
    a = matrix_of(0, rows, cols, entries(size(col_idx), size(val), size(row_ptr), rows), 32, 64, &
      c_loc(row_ptr), c_loc(col_idx), c_loc(val), base)
  end function

  function csr_i8_r4(rows, cols, row_ptr, col_idx, val, base) result(a)
    integer, intent(in) :: rows, cols
    integer(c_int64_t), intent(in), contiguous, target :: row_ptr(:)
    integer(c_int32_t), intent(in), contiguous, target :: col_idx(:)
    real(c_float), intent(in), contiguous, target :: val(:)
    integer, intent(in), optional :: base
    type(msrep_matrix) :: a
    a = matrix_of(0, rows, cols, entries(size(col_idx), size(val), size(row_ptr), rows), 64, 32, &
      c_loc(row_ptr), c_loc(col_idx), c_loc(val), base)
  end function

  function csr_i8_r8(rows, cols, row_ptr, col_idx, val, base) result(a)
    integer, intent(in) :: rows, cols
    integer(c_int64_t), intent(in), contiguous, target :: row_ptr(:)
    integer(c_int32_t), intent(in), contiguous, target :: col_idx(:)
    real(c_double), intent(in), contiguous, target :: val(:)
    integer, intent(in), optional :: base
    type(msrep_matrix) :: a
    a = matrix_of(0, rows, cols, entries(size(col_idx), size(val), size(row_ptr), rows), 64, 64, &
      c_loc(row_ptr), c_loc(col_idx), c_loc(val), base)
  end function

  function csc_i4_r4(rows, cols, col_ptr, row_idx, val, base) result(a)
    integer, intent(in) :: rows, cols
    integer(c_int32_t), intent(in), contiguous, target :: col_ptr(:)
    integer(c_int32_t), intent(in), contiguous, target :: row_idx(:)
    real(c_float), intent(in), contiguous, target :: val(:)
    integer, intent(in), optional :: base
    type(msrep_matrix) :: a
    a = matrix_of(1, rows, cols, entries(size(row_idx), size(val), size(col_ptr), cols), 32, 32, &
      c_loc(col_ptr), c_loc(row_idx), c_loc(val), base)
  end function

  function csc_i4_r8(rows, cols, col_ptr, row_idx, val, base) result(a)
    integer, intent(in) :: rows, cols
    integer(c_int32_t), intent(in), contiguous, target :: col_ptr(:)
    integer(c_int32_t), intent(in), contiguous, target :: row_idx(:)
    real(c_double), intent(in), contiguous, target :: val(:)
    integer, intent(in), optional :: base
    type(msrep_matrix) :: a
    a = matrix_of(1, rows, cols, entries(size(row_idx), size(val), size(col_ptr), cols), 32, 64, &
      c_loc(col_ptr), c_loc(row_idx), c_loc(val), base)
  end function

  function csc_i8_r4(rows, cols, col_ptr, row_idx, val, base) result(a)
    integer, intent(in) :: rows, cols
    integer(c_int64_t), intent(in), contiguous, target :: col_ptr(:)
    integer(c_int32_t), intent(in), contiguous, target :: row_idx(:)
    real(c_float), intent(in), contiguous, target :: val(:)
    integer, intent(in), optional :: base
    type(msrep_matrix) :: a
    a = matrix_of(1, rows, cols, entries(size(row_idx), size(val), size(col_ptr), cols), 64, 32, &
      c_loc(col_ptr), c_loc(row_idx), c_loc(val), base)
  end function

  function csc_i8_r8(rows, cols, col_ptr, row_idx, val, base) result(a)
    integer, intent(in) :: rows, cols
    integer(c_int64_t), intent(in), contiguous, target :: col_ptr(:)
    integer(c_int32_t), intent(in), contiguous, target :: row_idx(:)
    real(c_double), intent(in), contiguous, target :: val(:)
    integer, intent(in), optional :: base
    type(msrep_matrix) :: a
    a = matrix_of(1, rows, cols, entries(size(row_idx), size(val), size(col_ptr), cols), 64, 64, &
      c_loc(col_ptr), c_loc(row_idx), c_loc(val), base)
  end function

  function coo_r4(rows, cols, row, col, val, base) result(a)
    integer, intent(in) :: rows, cols
    integer(c_int32_t), intent(in), contiguous, target :: row(:), col(:)
    real(c_float), intent(in), contiguous, target :: val(:)
    integer, intent(in), optional :: base
    type(msrep_matrix) :: a
    if (size(row) /= size(col)) error stop "msrep_coo: the arrays have different sizes"
    a = matrix_of(2, rows, cols, entries(size(col), size(val), 1, 0), 0, 32, c_loc(row), c_loc(col), c_loc(val), base)
  end function

  function coo_r8(rows, cols, row, col, val, base) result(a)
    integer, intent(in) :: rows, cols
    integer(c_int32_t), intent(in), contiguous, target :: row(:), col(:)
    real(c_double), intent(in), contiguous, target :: val(:)
    integer, intent(in), optional :: base
    type(msrep_matrix) :: a
    if (size(row) /= size(col)) error stop "msrep_coo: the arrays have different sizes"
    a = matrix_of(2, rows, cols, entries(size(col), size(val), 1, 0), 0, 64, c_loc(row), c_loc(col), c_loc(val), base)
  end function

  ! The number of entries, if the arrays of a matrix have the sizes that belong together.
  integer(c_int64_t) function entries(indices, values, pointers, majors)
    integer, intent(in) :: indices, values, pointers, majors
    if (indices /= values .or. pointers /= majors + 1) error stop "msrep: the arrays of the matrix have sizes that differ"
    entries = indices
  end function

  ! The number of columns of x and y; -1, which the library refuses, where they differ.
  integer(c_int64_t) function columns(of_x, of_y)
    integer, intent(in) :: of_x, of_y
    columns = merge(of_x, -1, of_x == of_y)
  end function

  subroutine fill_options(o, names, method, precond, order, tol, max_iter, restart, seconds, flags, progress, arg)
    type(solve_options), intent(inout) :: o
    character(kind=c_char, len=:), allocatable, target, intent(out) :: names
    character(*), intent(in), optional :: method, precond, order
    real(c_double), intent(in), optional :: tol, seconds
    integer, intent(in), optional :: max_iter, restart, flags
    procedure(msrep_progress), optional :: progress
    type(c_ptr), intent(in), optional :: arg
    integer :: at_precond, at_order
    names = or_text(method, "auto")
    at_precond = len(names) + 1
    names = names // or_text(precond, "auto")
    at_order = len(names) + 1
    names = names // or_text(order, "auto")
    o%method = c_loc(names(1:1))
    o%precond = c_loc(names(at_precond:at_precond))
    o%order = c_loc(names(at_order:at_order))
    if (present(tol)) o%tol = tol
    if (present(max_iter)) o%max_iter = max_iter
    if (present(restart)) o%restart = restart
    if (present(seconds)) o%seconds = seconds
    if (present(flags)) o%flags = int(flags, c_int)
    if (present(progress)) o%progress = c_funloc(progress)
    if (present(arg)) o%arg = arg
  end subroutine

  subroutine fill_eigs(o, names, which, tol, max_iter, basis, seed, method, flags, progress, arg)
    type(eigs_options), intent(inout) :: o
    character(kind=c_char, len=:), allocatable, target, intent(out) :: names
    character(*), intent(in), optional :: which, method
    real(c_double), intent(in), optional :: tol
    integer, intent(in), optional :: max_iter, basis, seed, flags
    procedure(msrep_progress), optional :: progress
    type(c_ptr), intent(in), optional :: arg
    integer :: at_method
    names = or_text(which, "largest")
    at_method = len(names) + 1
    names = names // or_text(method, "auto")
    o%which = c_loc(names(1:1))
    o%method = c_loc(names(at_method:at_method))
    if (present(tol)) o%tol = tol
    if (present(max_iter)) o%max_iter = max_iter
    if (present(basis)) o%basis = basis
    if (present(seed)) o%seed = seed
    if (present(flags)) o%flags = int(flags, c_int)
    if (present(progress)) o%progress = c_funloc(progress)
    if (present(arg)) o%arg = arg
  end subroutine

  ! The address of an array of n elements; null if it is absent.
  function array_at(v, n) result(p)
    real(c_double), intent(in), contiguous, target, optional :: v(:)
    integer, intent(in) :: n
    type(c_ptr) :: p
    p = c_null_ptr
    if (.not. present(v)) return
    if (size(v) /= n) error stop "msrep: an array has the wrong size"
    p = c_loc(v)
  end function

  ! The address of n columns; null if they are absent.
  function columns_at(v, rows, n) result(p)
    real(c_double), intent(in), contiguous, target, optional :: v(:, :)
    integer(c_int64_t), intent(in) :: rows
    integer, intent(in) :: n
    type(c_ptr) :: p
    p = c_null_ptr
    if (.not. present(v)) return
    if (size(v, 1, c_int64_t) /= rows .or. size(v, 2) /= n) error stop "msrep: an array of vectors has the wrong shape"
    p = c_loc(v)
  end function

  subroutine fill_result(r, result)
    type(solve_result), intent(in) :: r
    type(msrep_result), intent(out), optional :: result
    if (.not. present(result)) return
    result%iterations = r%iterations
    result%residual = r%residual
    result%seconds = r%seconds
    result%method = joined(r%method)
    result%precond = joined(r%precond)
    result%order = joined(r%order)
    result%least_squares = r%least_squares /= 0
  end subroutine

  function joined(chars) result(text)
    character(kind=c_char), intent(in) :: chars(:)
    character(:), allocatable :: text
    integer :: i
    text = ""
    do i = 1, size(chars)
      if (chars(i) == c_null_char) exit
      text = text // chars(i)
    end do
  end function

  ! Stores status in the caller's argument, or ends the program after an error if there is none.
  subroutine report(s, what, status)
    integer(c_int), intent(in) :: s
    character(*), intent(in) :: what
    integer, intent(out), optional :: status
    if (present(status)) then
      status = s
    else if (s /= msrep_ok) then
      write (error_unit, '(3a)') what, ": ", msrep_error()
      error stop
    end if
  end subroutine

  function string_at(p) result(text)
    type(c_ptr), intent(in) :: p
    character(:), allocatable :: text
    character(kind=c_char), pointer :: chars(:)
    call c_f_pointer(p, chars, [c_strlen(p) + 1])
    text = joined(chars)
  end function

  pure integer(c_int) function flag(yes)
    logical, intent(in), optional :: yes
    flag = 0
    if (present(yes)) flag = merge(1_c_int, 0_c_int, yes)
  end function

  pure real(c_float) function or_r4(value, default)
    real(c_float), intent(in), optional :: value
    real(c_float), intent(in) :: default
    or_r4 = default
    if (present(value)) or_r4 = value
  end function

  pure real(c_double) function or_r8(value, default)
    real(c_double), intent(in), optional :: value
    real(c_double), intent(in) :: default
    or_r8 = default
    if (present(value)) or_r8 = value
  end function

  pure function or_text(value, default) result(text)
    character(*), intent(in), optional :: value
    character(*), intent(in) :: default
    character(kind=c_char, len=:), allocatable :: text
    if (present(value)) then
      text = value // c_null_char
    else
      text = default // c_null_char
    end if
  end function
end module
