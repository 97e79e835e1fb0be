// msrep.hpp - msrep.h for C++17: handles that close themselves, and exceptions.
//
//     msrep::system sys("cpu:2");
//     msrep::plan<double> a(sys, msrep::csr(rows, cols, row_ptr, col_idx, val));
//     a.multiply(x, y);
//
// msrep.h has the meaning of all arguments. Its functions take handles by get(). Vectors are any containers with data()
// and size(), such as std::vector and std::span.
#ifndef MSREP_HPP
#define MSREP_HPP

#include "msrep.h"

#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace msrep {

// error has the status of a failed call and its message.
class error : public std::runtime_error {
public:
	explicit error(msrep_status s) : std::runtime_error(msrep_last_error()), status(s) {}
	const msrep_status status;
};

inline void check(msrep_status status) {
	if (status != MSREP_OK)
		throw error(status);
}

// handle closes a system, a plan or factors. It can be moved, not copied.
class handle {
public:
	handle() = default;
	explicit handle(std::uint64_t h) : h_(h) {}
	handle(handle &&other) noexcept : h_(std::exchange(other.h_, 0)) {}
	handle &operator=(handle &&other) noexcept {
		std::swap(h_, other.h_);
		return *this;
	}
	~handle() {
		if (h_ != 0)
			msrep_close(h_); // BAD_HANDLE where its system was closed before
	}
	std::uint64_t get() const { return h_; }

protected:
	std::uint64_t h_ = 0;
};

class system : public handle {
public:
	explicit system(const char *devices = nullptr, int threads = 0) { check(msrep_open(devices, threads, &h_)); }
};

// matrix describes a matrix in arrays of the caller, whose types give the fields of the struct.
template <class Pointers, class Indices, class Values>
msrep_matrix matrix(int layout, std::int64_t rows, std::int64_t cols, const Pointers &p, const Indices &i, const Values &v, int base = 0) {
	const auto bits = [](const auto *e) { return static_cast<int>(8 * sizeof *e); };
	static_assert(std::is_floating_point_v<std::remove_reference_t<decltype(*v.data())>>, "values are float or double");
	const std::size_t n = layout == MSREP_CSR ? static_cast<std::size_t>(rows) + 1 : layout == MSREP_CSC ? static_cast<std::size_t>(cols) + 1 : i.size();
	if (rows < 0 || cols < 0 || p.size() != n || i.size() != v.size())
		throw std::invalid_argument("msrep::matrix: the arrays have wrong sizes");
	if (layout == MSREP_COO && sizeof *p.data() != sizeof *i.data())
		throw std::invalid_argument("msrep::matrix: indices of rows and columns have different types");
	return {sizeof(msrep_matrix), rows, cols, static_cast<std::int64_t>(i.size()), layout, bits(p.data()), bits(i.data()), bits(v.data()), base, p.data(), i.data(), v.data()};
}

template <class P, class I, class V> msrep_matrix csr(std::int64_t rows, std::int64_t cols, const P &row_ptr, const I &col_idx, const V &val, int base = 0) {
	return matrix(MSREP_CSR, rows, cols, row_ptr, col_idx, val, base);
}

template <class V> class plan : public handle { // V is float or double
	static_assert(std::is_same_v<V, double> || std::is_same_v<V, float>, "V is float or double");

public:
	plan(const system &s, const msrep_matrix &a, const msrep_plan_options &o = MSREP_PLAN_OPTIONS_INIT) {
		if (a.value_bits != 8 * static_cast<int>(sizeof(V)) && (a.value_bits != 0 || sizeof(V) != 8))
			throw std::invalid_argument("msrep::plan: the matrix has values of another type");
		check(msrep_plan_matrix(s.get(), &a, &o, &h_));
	}
	// y = alpha*op(A)*x + beta*y
	template <class X, class Y> void multiply(const X &x, Y &&y, V alpha = 1, V beta = 0, bool transpose = false) {
		const auto nx = static_cast<std::int64_t>(x.size()), ny = static_cast<std::int64_t>(y.size());
		if constexpr (sizeof(V) == 8)
			check(msrep_multiply(h_, transpose, alpha, nx, x.data(), beta, ny, y.data()));
		else
			check(msrep_multiply_single(h_, transpose, alpha, nx, x.data(), beta, ny, y.data()));
	}
	template <class Values> void update(const Values &val) {
		if constexpr (sizeof(V) == 8)
			check(msrep_update(h_, static_cast<std::int64_t>(val.size()), val.data()));
		else
			check(msrep_update_single(h_, static_cast<std::int64_t>(val.size()), val.data()));
	}
};

// solve solves A x = b and returns what the library did.
template <class B, class X> msrep_solve_result solve(const system &s, const msrep_matrix &a, const B &b, X &&x, const msrep_solve_options &o = MSREP_SOLVE_OPTIONS_INIT) {
	msrep_solve_result r = MSREP_SOLVE_RESULT_INIT;
	check(msrep_solve_with(s.get(), &a, static_cast<std::int64_t>(b.size()), b.data(), static_cast<std::int64_t>(x.size()), x.data(), &o, &r));
	return r;
}

} // namespace msrep
#endif
