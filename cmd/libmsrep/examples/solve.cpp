// Multiplies and solves with a matrix in vectors of C++, and shows an error.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <msrep.hpp>
#include <vector>

int main() {
	const int n = 1000;
	std::vector<int> row_ptr{0}, col_idx;
	std::vector<double> val;
	for (int i = 0; i < n; i++) {
		for (int j = std::max(i - 1, 0); j <= std::min(i + 1, n - 1); j++) {
			col_idx.push_back(j);
			val.push_back(i == j ? 2.01 : -1);
		}
		row_ptr.push_back(static_cast<int>(col_idx.size()));
	}
	msrep::system sys("cpu:1");
	const msrep_matrix a = msrep::csr(n, n, row_ptr, col_idx, val);
	std::vector<double> b(n, 1), x(n), y(n);
	const msrep_solve_result r = msrep::solve(sys, a, b, x);
	msrep::plan<double> plan(sys, a);
	plan.multiply(x, y);
	double worst = 0;
	for (int i = 0; i < n; i++)
		worst = std::max(worst, std::abs(y[i] - b[i]));
	std::cout << r.method << ": " << r.iterations << " iterations, largest error of a row " << worst << "\n";

	std::vector<float> single(val.begin(), val.end()), x1(n, 1), y1(n);
	msrep::plan<float> half(sys, msrep::csr(n, n, row_ptr, col_idx, single));
	for (float &v : single)
		v /= 2;
	half.update(single);
	half.multiply(x1, y1, 2.0f, 0.0f, true);
	msrep::plan<float> moved(std::move(half));
	try {
		x1.pop_back();
		moved.multiply(x1, y1);
		return 1;
	} catch (const msrep::error &e) {
		std::cout << "status " << e.status << ": " << e.what() << "\n";
	}
	return worst < 1e-6 && std::abs(y1[0] - 1.01f) < 1e-6f ? 0 : 1;
}
